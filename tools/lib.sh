# Shared by the scripts in tools/ and by .ci/run: sourced, never run.
# A step reports what it counted on one line, "= 12 passed, 0 failed, 1 skipped".
# shellcheck shell=bash

sum_counts() { # the counts of all these logs, added up
  cat "$@" /dev/null 2>/dev/null |
    awk '/^= [0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { p += $2; f += $4; s += $6 }
      END { printf "%d passed, %d failed, %d skipped\n", p, f, s }'
}

quietly() { # runs a command, showing what it printed only if it fails
  local log status=0
  log=$(mktemp)
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] || cat "$log" >&2
  rm -f "$log"
  return "$status"
}
