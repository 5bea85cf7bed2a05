#!/usr/bin/env bash
# Builds the kernels and numerics (all folders of src/ but the glue) without R, and runs tests/c on them.
#
# Usage: tools/test_c.sh plain|serial|sanitized|valgrind; serial is without OpenMP, as clang of macOS is
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/lib.sh

variant=$1
out=build/c-$variant
flags=(-std=c11 -g -Wall -Wextra -Isrc -Itests/c)
[ "$variant" = serial ] || flags+=(-fopenmp)
libraries=(-llapack -lblas -lm)
runner=()
case $variant in
plain | serial) flags+=(-O2) ;;
sanitized) flags+=(-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all) ;;
valgrind)
  flags+=(-O1)
  runner=(valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite)
  ;;
esac
# The standalone Rmath where it is installed (its header goes before R's own), else R itself.
if echo '#include <Rmath.h>' | cc -E - >/dev/null 2>&1; then
  flags+=(-DMATHLIB_STANDALONE)
  libraries+=(-lRmath)
else
  libraries+=(-L"$(R RHOME)/lib" -Wl,-rpath,"$(R RHOME)/lib" -lR)
fi
flags+=(-idirafter "$(R RHOME)/include" -idirafter /usr/share/R/include)
export OPENBLAS_NUM_THREADS=1

rm -rf "$out"
mkdir -p "$out"
# Names repeat from folder to folder: em.c of one model, em.c of another.
find src -mindepth 2 -name '*.c' ! -path 'src/glue/*' -print0 |
  xargs -0 -P 2 -I{} sh -c 'out=$1 file=$2; shift 2; cc "$@" -c "$file" -o "$out/$(echo "${file%.c}" | tr / -).o"' \
    cc "$out" {} "${flags[@]}"

status=0
logs=()
for test in tests/c/test_*.c; do
  [ -f "$test" ] || continue
  name=$(basename "$test" .c)
  logs+=("$out/$name.log")
  if ! cc "${flags[@]}" "$test" "$out"/*.o -o "$out/$name" "${libraries[@]}"; then
    status=1
    echo "FAILED  $name, which does not compile"
    echo '= 0 passed, 1 failed, 0 skipped' >"$out/$name.log"
    continue
  fi
  if "${runner[@]}" "$out/$name" >"$out/$name.log" 2>&1; then
    echo "ok      $name"
  else
    status=1
    echo "FAILED  $name"
    grep -v '^= ' "$out/$name.log" || true
    # A crash counts, too: it has reported nothing.
    grep -q '^= .* [1-9][0-9]* failed' "$out/$name.log" || echo '= 0 passed, 1 failed, 0 skipped' >>"$out/$name.log"
  fi
done
echo "= $(sum_counts "${logs[@]}")"
exit "$status"
