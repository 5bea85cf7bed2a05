# The share of lines that the tests reach, per file of R/ and src/.
Sys.setenv(NOT_CRAN = "true")
copy <- tempfile()
utils::untar(Sys.glob("build/multicause.tar.gz"), exdir = copy)
covered <- covr::package_coverage(file.path(copy, "multicause"), type = "tests")
print(covered)
