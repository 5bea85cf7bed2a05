#!/usr/bin/env bash
# The steps of the Makefile that take more than a line: tools/run.sh STEP [ARGUMENT...]
# The Makefile sets up what a step needs, and R_LIBS.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh

copy_source() { # $1: where to; what git and build/ hold stays behind
  rm -rf "$1"
  mkdir -p "$1"
  tar --exclude-vcs --exclude=./build --exclude=./demo --exclude=./coverage --exclude='*.o' --exclude='*.so' -cf - . |
    tar -xf - -C "$1"
}

build_tarball() { # $1: the file to write, $2...: options of R CMD build. Without a version in its name: make knows it.
  local file=$1 folder
  shift
  folder=build/source-$(basename "$file" .tar.gz)
  copy_source "$folder/multicause"
  (cd "$folder" && quietly env -u NOT_CRAN -u MULTICAUSE_DATA R CMD build --no-manual "$@" multicause)
  mv "$folder"/multicause_*.tar.gz "$file"
}

# The source tarball for tests: no vignette built.
step_tarball() { build_tarball "$1" --no-build-vignettes; }

# The source tarball for users.
step_package() {
  echo "Building the vignettes: takes some minutes"
  build_tarball "$1"
}

step_install() { # $1: tarball, $2: library
  mkdir -p "$2"
  quietly R CMD INSTALL --no-docs --no-test-load --library="$2" "$1"
  touch "$2/multicause/DESCRIPTION"
}

step_test_r() { NOT_CRAN=true Rscript tools/test.R; }

step_prose() { NOT_CRAN=true Rscript tools/test.R prose; }

step_test_long() { NOT_CRAN=true Rscript tools/test.R long; }

step_test_c() { tools/test_c.sh plain; }

step_test_serial_c() { tools/test_c.sh serial; }

step_test_san_c() { tools/test_c.sh sanitized; }

# R itself is not built with the sanitizers: it needs their runtime first, and leaks on purpose.
step_test_san_r() {
  local runtime
  nm -D build/lib-san/multicause/libs/multicause.so | grep __asan >/dev/null || {
    echo "build/lib-san was not built with the sanitizers" >&2
    return 1
  }
  runtime="$(cc -print-file-name=libasan.so):$(cc -print-file-name=libubsan.so)"
  R_LIBS="$PWD/build/lib-san${R_LIBS:+:$R_LIBS}" NOT_CRAN=true MULTICAUSE_SANITIZED=true LD_PRELOAD="$runtime" \
    ASAN_OPTIONS=detect_leaks=0:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1 Rscript tools/test.R
}

step_valgrind_c() { tools/test_c.sh valgrind; }

step_valgrind_r() {
  MULTICAUSE_TORTURE=false R --vanilla --no-echo \
    -d "valgrind --quiet --error-exitcode=9 --leak-check=no --suppressions=tools/valgrind.supp" -f tests/torture.R
}

# Writes the output of each script of a folder to build/bench; new results are copied to its page in bench/ by hand.
each_script() {
  local script name
  export OPENBLAS_NUM_THREADS=1 # rivals, too, on one thread
  mkdir -p build/bench
  for script in "$1"/*.R; do
    name=$(basename "$script" .R)
    echo "== $name, $(date +%F)"
    Rscript "$script" | tee "build/bench/$name.txt"
  done
}

step_bench() { each_script bench; }

step_validate() { each_script tests/validate; }

# Runs the named steps one after another, whatever the earlier ones reported, and ends with the sum of their counts.
step_sum() {
  local name status=0 logs=()
  mkdir -p build/log
  for name in "$@"; do
    logs+=("build/log/$name.log")
    "$0" "$name" 2>&1 </dev/null | tee "build/log/$name.log" || status=1
  done
  sum_counts "${logs[@]}"
  return "$status"
}

step=$1
shift
"step_${step//-/_}" "$@"
