#!/usr/bin/env bash
# Installs what the machine lacks for `make demo`, `make test`, `make site` or the gates, and nothing else. Asks no
# questions and prints nothing if nothing is missing. Debian packages first (root or passwordless sudo),
# then CRAN by name into the user's library.
#
# Usage: tools/setup.sh [demo|test|site|gates]
set -euo pipefail
cd "$(dirname "$0")/.."
tier=${1:-demo}
log=build/setup.log
mkdir -p build

# The packages a field of DESCRIPTION names, base R's own left out.
description() {
  awk -v field="$1:" '/^[^ \t]/ { inside = ($1 == field) } inside { sub(field, ""); print }' DESCRIPTION |
    sed 's/([^)]*)//g' | tr ',' '\n' | tr -d ' \t' |
    grep -vxE '(base|stats|utils|graphics|grDevices|methods|parallel|tools)?'
}

# Suggested packages; but deeptime, from CRAN alone, would put newer versions of half the others before Debian's.
suggested() { description Suggests | grep -vx deeptime; }

# command=Debian package; R packages that must be there, and those tests can skip without.
tools=(R=r-base-core make=make pandoc=pandoc)
required="$(description Imports) knitr rmarkdown"
optional=""
case $tier in
demo) optional=maps ;;
site)
  required="$required pkgdown xml2 jsonlite"
  optional=$(suggested)
  ;;
test | gates)
  required="$required testthat"
  optional=$(suggested)
  ;;
*)
  echo "usage: tools/setup.sh [demo|test|site|gates]" >&2
  exit 2
  ;;
esac
if [ "$tier" = gates ]; then
  for name in clang-format clang-tidy cppcheck valgrind qpdf tidy; do tools+=("$name=$name"); done
  required="$required lintr roxygen2 pkgbuild covr" # roxygen2 loads the code by pkgbuild
fi

have() { command -v "$1" >/dev/null 2>&1; }

links() { # can a C program be linked with these libraries?
  have cc && echo 'int main(void) { return 0; }' | cc -x c - -o build/.links "$@" 2>/dev/null
}

has_openblas() {
  PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep 'libopenblas' >/dev/null ||
    { have Rscript && Rscript -e 'cat(extSoftVersion()[["BLAS"]], La_library())' | grep -i 'openblas' >/dev/null; }
}

missing_tools() { # Debian names of what must be there and is not
  local item
  for item in "${tools[@]}"; do have "${item%%=*}" || echo "${item#*=}"; done
  links -lblas -lgfortran || echo r-base-dev
  # For CRAN's check of the words in DESCRIPTION.
  [ "$tier" != gates ] || grep -qx en_GB <(aspell dicts 2>/dev/null) || echo aspell aspell-en
}

missing_extras() { # likewise, of what R's own parts can stand in for
  has_openblas || echo libopenblas0-pthread libopenblas-dev
  if [ "$tier" != demo ]; then links -lRmath -lm || echo r-mathlib; fi
}

missing_r() { # those of the named R packages that are not there
  if have Rscript; then
    Rscript -e 'p <- unique(commandArgs(TRUE))
      cat(p[!nzchar(vapply(p, function(x) system.file(package = x), ""))])' "$@"
  else
    echo "$@"
  fi
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

can_apt() { have apt-get && { [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null; }; }

# R packages come from Debian only where R itself does: another R would not see them.
debian_r() { ! have R || [ "$(R RHOME)" = /usr/lib/R ]; }

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 "$@" \
    </dev/null >>"$log" 2>&1
}

install_debian() { # the named packages, those Debian does not have left out
  local name known=()
  [ $# -gt 0 ] || return 0
  can_apt || return 0
  echo "Installing from Debian: $*"
  apt update || echo "apt-get update failed (see $log); going on with the lists at hand" >&2
  for name in "$@"; do
    if apt-cache show "$name" >/dev/null 2>&1; then known+=("$name"); fi
  done
  [ ${#known[@]} -eq 0 ] || apt install --no-install-recommends "${known[@]}" || {
    echo "apt-get install failed:" >&2
    tail -n 5 "$log" >&2
  }
}

install_cran() { # the named R packages, from the user's repositories
  [ $# -gt 0 ] || return 0
  have Rscript || return 0
  echo "Installing from CRAN: $*"
  Rscript tools/install.R "$@" </dev/null >>"$log" 2>&1 || true
}

# Names become words from here on: every list holds plain package names.
# shellcheck disable=SC2046,SC2086
main() {
  local debs packages name
  debs="$(missing_tools) $(missing_extras)"
  packages=$(missing_r $required $optional)
  [ -n "${debs// /}$packages" ] || return 0
  : >"$log"
  if debian_r; then for name in $packages; do debs="$debs r-cran-${name,,}"; done; fi
  install_debian $debs
  install_cran $(missing_r $required $optional)
  debs=$(echo $(missing_tools))
  packages=$(missing_r $required)
  if [ -n "$debs$packages" ]; then
    {
      echo "multicause cannot be set up: these are missing and could not be installed (details: $log)."
      [ -z "$debs" ] || echo "  system: $debs (Debian's names; apt-get install, or ask an administrator)"
      [ -z "$packages" ] || echo "  R packages: $packages (tried CRAN by name; see options(\"repos\"))"
      can_apt || echo "Debian packages need root or a sudo that asks for no password; neither is at hand."
    } >&2
    exit 1
  fi
  packages=$(echo $(missing_extras) $(missing_r $optional))
  [ -z "$packages" ] || echo "Going on without what cannot be installed here: $packages" >&2
}

main
Rscript -e 'if (getRversion() < "4.1") {
  stop("multicause needs R 4.1 or newer, and this is ", getRversion(), call. = FALSE)
}'
