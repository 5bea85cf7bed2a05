#!/usr/bin/env bash
# Static checks of the C code: strict gcc with its analyzer, clang-tidy (.clang-tidy), cppcheck. All
# findings are errors; all tools run, whatever the earlier ones reported.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

mapfile -t files < <(find src tests/c tests/entries -name '*.c' | sort)
includes=(-Isrc -Itests/c -isystem "$(R RHOME)/include" -isystem /usr/share/R/include)
status=0

# Without: casts to DL_FUNC in the registration table, which R asks for; and signs, since R's extents are
# int and C's are size_t.
strict=(-std=c11 -O2 -fopenmp -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Wundef -Wno-cast-function-type
  -Wno-sign-conversion -Werror)
echo "gcc: ${#files[@]} files"
printf '%s\n' "${files[@]}" |
  xargs -P 2 -I{} gcc "${strict[@]}" "${includes[@]}" -c {} -o /dev/null || status=1

# Compiles without OpenMP, also without warnings.
echo "gcc without OpenMP: ${#files[@]} files"
printf '%s\n' "${files[@]}" |
  xargs -P 2 -I{} gcc "${strict[@]}" -fno-openmp "${includes[@]}" -c {} -o /dev/null || status=1

# The analyzer does not follow OpenMP: a reduction looks uninitialised to it. It reads the plain loops.
echo "gcc -fanalyzer: ${#files[@]} files"
printf '%s\n' "${files[@]}" |
  xargs -P 2 -I{} gcc -std=c11 -O2 -fno-openmp -fanalyzer -Werror "${includes[@]}" -c {} -o /dev/null ||
  status=1

echo "clang-tidy: ${#files[@]} files"
printf '%s\n' "${files[@]}" |
  xargs -P 2 -I{} clang-tidy --quiet --warnings-as-errors='*' {} -- \
    -std=c11 "${includes[@]}" 2>/dev/null || status=1

# Without: the logarithm of what may be 0, which is -Inf and means it.
echo "cppcheck: ${#files[@]} files"
cppcheck --quiet --std=c11 --enable=warning,style,performance,portability --error-exitcode=1 \
  --inline-suppr --suppress=missingIncludeSystem --suppress=invalidFunctionArg \
  -Isrc -Itests/c "${files[@]}" || status=1

exit "$status"
