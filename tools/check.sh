#!/usr/bin/env bash
# R CMD build with the vignettes, then R CMD check --as-cran --no-manual as CRAN would see it, less what only
# a machine on the internet can do. tools/check.R judges the log.
set -euo pipefail
cd "$(dirname "$0")/.."

unset NOT_CRAN MULTICAUSE_DATA R_TESTS
export _R_CHECK_CRAN_INCOMING_=false        # asks CRAN's servers
export _R_CHECK_SYSTEM_CLOCK_=false         # asks a clock server
export _R_CHECK_FORCE_SUGGESTS_=false       # a suggested package may be absent
# The flags that Debian builds R with, not ours.
export _R_CHECK_COMPILATION_FLAGS_KNOWN_="-Wformat -Wdate-time -Werror=format-security"

rm -rf build/check
mkdir -p build/check
tools/run.sh copy build/check/multicause
cd build/check
R CMD build multicause
R CMD check --as-cran --no-manual multicause_*.tar.gz || true # judged next
Rscript ../../tools/check.R multicause.Rcheck ../../tools/allowed-notes.txt
