# Two commands, each doing all its own set-up: `make demo` and `make test`. The rest: `make help`.
# Everything made here lies in build/ (and demo/, coverage/): `make clean` removes it.

SHELL := /bin/bash
.NOTPARALLEL:
.DEFAULT_GOAL := help

TARBALL := build/multicause.tar.gz
SOURCES := $(shell find DESCRIPTION NAMESPACE R src inst data man \
             -type f ! -name '*.o' ! -name '*.so' 2>/dev/null)
# As users get it: with its vignettes. Tests write their snapshots again, which makes no other package.
PACKAGE := build/package.tar.gz
PACKAGE_SOURCES := $(SOURCES) $(shell find NEWS.md README.md .Rbuildignore tests vignettes -type f \
                     ! -path '*/_snaps/*' ! -name '*.html' ! -name Rplots.pdf ! -name '*.o' 2>/dev/null)
LIB := build/lib/multicause/DESCRIPTION
LIB_SAN := build/lib-san/multicause/DESCRIPTION
C_FILES := $(wildcard src/*.[ch] src/*/*.[ch] tests/c/*.[ch] tests/entries/*.c)
# A copy of the sources as packed, in build/$1: some tools write beside what they read.
copy = rm -rf build/$1 && mkdir -p build/$1 && tar -xf $(TARBALL) -C build/$1
# Runs a command on the package as built here, whatever is installed elsewhere.
WITH_LIB := R_LIBS="$(CURDIR)/build/lib$${R_LIBS:+:$$R_LIBS}"

export MULTICAUSE_DATA ?= $(wildcard $(abspath ../shared/data))

## demo        run the main job: from an occurrence table to a report, in demo/
demo: setup-demo $(LIB)
	@$(WITH_LIB) Rscript tools/demo.R

## test        the tests, R and C, but those that take long; ends with the counts
test: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh sum test-r test-c

## install     install the package into your library
install: setup-demo $(TARBALL)
	Rscript tools/install.R $(TARBALL)

## install-vignettes  the same, with its vignettes, which takes some minutes to build
install-vignettes: setup-demo $(PACKAGE)
	Rscript tools/install.R $(PACKAGE)

## docs        write man/ and NAMESPACE from the roxygen comments
docs: setup-gates
	Rscript -e 'roxygen2::roxygenise()'
	@rm -f src/*.o src/*/*.o src/*.so # compiled for debugging: an installation must not reuse them

## format      rewrite the C files in the house format (.clang-format)
format: setup-gates
	clang-format -i $(C_FILES)

## lint        lintr, clang-tidy, cppcheck, strict gcc
lint:
	@$(MAKE) --no-print-directory -k lint-r lint-c

## test-r      R tests alone
test-r: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh test-r

## test-long   R tests of documents, pictures, shards and processes
test-long: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh test-long

## prose       the words of the documents and prints: spelling, grade, the README's numbers
prose: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh prose

## test-c      C tests alone
test-c: setup-test
	@tools/run.sh test-c

## test-serial-c  C tests without OpenMP
test-serial-c: setup-test
	@tools/run.sh test-serial-c

## test-san    C tests, then R tests, with the address and undefined-behaviour sanitizers
test-san: test-san-c test-san-r

## torture     every .Call entry point under gctorture
torture: setup-test $(LIB)
	@$(WITH_LIB) Rscript tests/torture.R

## valgrind    C tests and every .Call entry point under valgrind
valgrind: setup-gates $(LIB)
	@tools/run.sh valgrind-c
	@$(WITH_LIB) tools/run.sh valgrind-r

## check       R CMD check --as-cran, with all suggested packages and without: no finding but tools/allowed-notes.txt
check: check-all check-alone

## site        the site of the package in build/site: reference, articles, search; then its check
site: setup-site $(LIB)
	@$(WITH_LIB) Rscript tools/site.R
	@$(WITH_LIB) Rscript data-raw/cheatsheet.R build/site/cheatsheet.pdf
	@Rscript tools/site_check.R

## coverage    share of lines the tests reach, per file
coverage: setup-gates $(TARBALL)
	@$(call copy,cover) && NOT_CRAN=true Rscript -e 'print(covr::package_coverage("build/cover/multicause", type = "tests"))'

## bench       the benchmarks in bench/; prints to build/bench, pages are kept beside the scripts
bench: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh bench

## validate    the long checks in tests/validate/, run by hand; prints to build/bench
validate: setup-test $(LIB)
	@$(WITH_LIB) tools/run.sh validate

## gates       everything .ci/run checks, with minutes
gates:
	@.ci/run

## clean       remove what was made
clean:
	rm -rf build demo coverage src/*.o src/*/*.o src/*.so

## help        this list
help:
	@sed -n 's/^## //p' Makefile

format-check: setup-gates
	clang-format --dry-run -Werror $(C_FILES)

lint-r: setup-gates $(LIB)
	@$(WITH_LIB) Rscript tools/lint.R

lint-c: setup-gates
	@tools/lint_c.sh

check-all: setup-gates $(PACKAGE)
	@tools/check.sh all $(PACKAGE)

check-alone: setup-gates $(PACKAGE)
	@tools/check.sh alone $(PACKAGE)

# A copy is documented by the code as installed, and must come out as it is.
docs-check: setup-gates $(LIB)
	@$(call copy,docs) && $(WITH_LIB) Rscript -e 'roxygen2::roxygenise("build/docs/multicause", load_code = "installed")' >/dev/null
	@diff -r man build/docs/multicause/man && diff NAMESPACE build/docs/multicause/NAMESPACE || \
	  { echo "out of date: run \`make docs\` and commit what it writes"; false; }

test-san-c: setup-test
	@tools/run.sh test-san-c

test-san-r: setup-test $(LIB_SAN)
	@tools/run.sh test-san-r

setup-%:
	@tools/setup.sh $*

$(TARBALL): $(SOURCES)
	@tools/run.sh tarball $@

$(PACKAGE): $(PACKAGE_SOURCES)
	@tools/run.sh package $@

$(LIB): $(TARBALL)
	@tools/run.sh install $(TARBALL) build/lib

$(LIB_SAN): $(TARBALL) tools/Makevars.san
	@R_MAKEVARS_USER=$(CURDIR)/tools/Makevars.san tools/run.sh install $(TARBALL) build/lib-san

.PHONY: demo test test-long prose install install-vignettes docs format lint test-r test-c test-san torture \
  valgrind check site coverage bench validate gates clean help check-all check-alone format-check lint-r lint-c \
  docs-check test-serial-c test-san-c test-san-r
