#!/usr/bin/env bash
# R CMD check --as-cran --no-manual of the tarball for users, without checks that need the internet.
# tools/check.R judges the log and the installed package.
#
# Usage: tools/check.sh all|alone TARBALL; all: with the suggested packages; alone: with none but testthat and those
# that build vignettes, which R lets through. With all of them, tests and vignettes have run already: by `make test`,
# which skips none of what CRAN skips, and when the tarball was built. So they run only in the second check.
set -euo pipefail
cd "$(dirname "$0")/.."

unset NOT_CRAN MULTICAUSE_DATA R_TESTS
# The incoming checks stay on, except those that ask CRAN's servers (is the name free? do all addresses answer?).
export _R_CHECK_CRAN_INCOMING_=true _R_CHECK_CRAN_INCOMING_REMOTE_=false
export _R_CHECK_CRAN_INCOMING_CHECK_FILE_URIS_=true
export _R_CHECK_CRAN_INCOMING_USE_ASPELL_=true
export _R_CHECK_SYSTEM_CLOCK_=false   # asks a clock server
export _R_CHECK_FORCE_SUGGESTS_=false # a suggested package may be absent
# An example may take 5 s by the clock of a machine that does nothing else: here another gate runs beside it.
export _R_CHECK_EXAMPLE_TIMING_THRESHOLD_=10
# CRAN's limits (5 MB each of data and of documents, 10 MB of the tarball) are for what users get: without the debugging
# symbols that Debian's flags add to libs/. R's own note begins at 5 MB in all; here are 6.3, of which 3.4 are R code
# with its byte code, 1.0 vignettes, 0.7 help and 0.7 libs/, where the symbols add 2.0.
export _R_CHECK_PKG_SIZES_THRESHOLD_=6.4
export R_MAKEVARS_USER="$PWD/tools/Makevars.check"
# The flags that Debian builds R with, not ours.
export _R_CHECK_COMPILATION_FLAGS_KNOWN_="-Wformat -Wdate-time -Werror=format-security"

options=(--as-cran --no-manual)
case $1 in
all) options+=(--no-tests --no-vignettes) ;;
# What does not depend on other packages is left to the first check.
alone) export _R_CHECK_DEPENDS_ONLY_=true _R_CHECK_USE_CODETOOLS_=false _R_CHECK_DONTTEST_EXAMPLES_=false ;;
*)
  echo "usage: tools/check.sh all|alone TARBALL" >&2
  exit 2
  ;;
esac
folder=build/check-$1
version=$(sed -n 's/^Version: *//p' DESCRIPTION)
rm -rf "$folder"
mkdir -p "$folder"
cp "$2" "$folder/multicause_$version.tar.gz"
# R looks up whether an absent package is orphaned in CRAN's list of packages; an empty list replaces it here.
mkdir -p "$folder/cran/web/packages"
Rscript -e 'saveRDS(data.frame(Package = character(), Maintainer = character()), commandArgs(TRUE))' \
  "$folder/cran/web/packages/packages.rds"
export R_CRAN_WEB="file://$PWD/$folder/cran"
(cd "$folder" && R CMD check "${options[@]}" "multicause_$version.tar.gz") || true # judged next
Rscript tools/check.R "$folder/multicause.Rcheck" tools/allowed-notes.txt
