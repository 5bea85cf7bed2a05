#' Occurrences of early tetrapods
#'
#' All 5270 occurrences of tetrapods from the Carboniferous to the Early Triassic that the package palaeoverse took
#' from the Paleobiology Database on 14 July 2022: the raw table that [early_tetrapods] was made from.
#'
#' @format A data frame of 5270 rows, one for each occurrence of a taxon in a collection, and 18 columns, named as in
#'   the database:
#' \describe{
#'   \item{`occurrence_no`, `collection_no`}{numbers of the occurrence and of the collection (a find spot).}
#'   \item{`accepted_name`, `accepted_rank`}{the taxon as the database takes it today, and its rank; 1016 occurrences
#'     are known to the genus only, and 686 to a higher rank.}
#'   \item{`class`, `order`, `family`, `genus`}{where the database places the taxon; `NA` where unknown. It writes
#'     `"NO_ORDER_SPECIFIED"` and the like for ranks a classification does not use, and puts synapsids and amphibians
#'     into the class Osteichthyes.}
#'   \item{`early_interval`, `late_interval`}{the oldest time interval the collection may be from, and the youngest
#'     where that is another one.}
#'   \item{`max_ma`, `min_ma`}{the bounds of these intervals, in million years before the present.}
#'   \item{`lng`, `lat`}{today's longitude and latitude of the collection, in degrees.}
#'   \item{`cc`}{two-letter code of today's country (`"NA"` is Namibia).}
#'   \item{`formation`}{rock formation; `NA` in 1526 occurrences. Accents are dropped.}
#'   \item{`environment`}{where the rock was laid down.}
#'   \item{`pres_mode`}{how the fossils are preserved. 265 occurrences are from collections with traces (tracks,
#'     burrows), whose genera are not those of bodies.}
#' }
#' @inheritSection early_tetrapods Source and licence
#' @references
#' Jones LA, Gearty W, Allen BJ, Eichenseer K, Dean CD, Galvan S, Kouvari M, Godoy PL, Nicholl CSC, Buffan L,
#' Dillon EM, Flannery-Sutherland JT, Chiarenza AA (2023). palaeoverse: a community-driven R package to support
#' palaeobiological analysis. *Methods in Ecology and Evolution* 14, 2205-2215. \doi{10.1111/2041-210X.14099}
#'
#' Peters SE, McClennen M (2016). The Paleobiology Database application programming interface. *Paleobiology* 42,
#' 1-7. \doi{10.1017/pab.2015.39}
#' @seealso [occurrence_matrix()]
#' @examples
#' str(tetrapod_occurrences)
#'
#' # collections of one age class only, by genus
#' bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
#' x <- occurrence_matrix(bodies, "collection_no", "genus", min_observations = 3, min_attributes = 2)
#' dim(x)
"tetrapod_occurrences"
