#' Occurrences of early tetrapods
#'
#' The 5270 occurrences of tetrapods from the Carboniferous to the Early Triassic from which [early_tetrapods] was made.
#' The package palaeoverse took them from the Paleobiology Database on 14 July 2022.
#' @format A data frame of 5270 rows and 18 columns. Each row is an occurrence of a taxon in a collection. Columns have
#'   the names of the database:
#' \describe{
#'   \item{`occurrence_no`, `collection_no`}{numbers of the occurrence and of the collection (a find spot).}
#'   \item{`accepted_name`, `accepted_rank`}{the taxon as the database takes it today, and its rank. 1016 occurrences
#'     are known to the genus only. Another 686 are known to a higher rank only.}
#'   \item{`class`, `order`, `family`, `genus`}{where the database places the taxon; `NA` where unknown. It has
#'     `"NO_ORDER_SPECIFIED"` and the like for ranks that are not in use. It puts synapsids and amphibians into the
#'     class Osteichthyes.}
#'   \item{`early_interval`, `late_interval`}{the oldest time interval of the collection. The second is the youngest, if
#'     that is another one.}
#'   \item{`max_ma`, `min_ma`}{the bounds of these intervals, in million years before the present.}
#'   \item{`lng`, `lat`}{today's longitude and latitude of the collection, in degrees.}
#'   \item{`cc`}{two-letter code of today's country (`"NA"` is Namibia).}
#'   \item{`formation`}{rock formation; `NA` in 1526 occurrences. Accents are dropped.}
#'   \item{`environment`}{where the rock was laid down.}
#'   \item{`pres_mode`}{how the fossils are preserved. 265 occurrences are from collections with tracks or burrows.
#'     Their genera are not those of bodies.}
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
#' x <- occurrence_matrix(bodies, "collection_no", "genus", min_sites = 3, min_taxa = 2)
#' dim(x)
"tetrapod_occurrences"

#' Early tetrapods: sites by genera
#'
#' A table of 129 sites by 113 genera of early tetrapods, from the Carboniferous to the Early Triassic, about 319 to 249
#' million years ago. It is the example of most help pages and vignettes, and was made from [tetrapod_occurrences] by
#' [occurrence_matrix()].
#' @format A list:
#' \describe{
#'   \item{`x`}{integer matrix of 129 sites (rows, from old to young) by 113 genera (columns, by the mean age of their
#'     sites): 1 where the genus is known from the site, else 0. 697 ones, 4.8 %.}
#'   \item{`sites`}{data frame of 129 rows in the order of `x`: `site` (name: formation, interval),
#'     `formation`, `early_interval`, `age` (median over the collections of the middle of their age bounds, million
#'     years before the present), `max_ma` and `min_ma` (the outermost bounds of its collections), `lng` and `lat`
#'     (middle of its collections on the sphere, degrees of today), `n_collections`, `n_taxa` (genera in `x`)
#'     and `n_occurrences` (all occurrences, also of taxa not in `x`).}
#'   \item{`genera`}{data frame of 113 rows in the order of the columns of `x`: `genus`, `class`, `order`, `family`
#'     (as the database has them; `NA` where it has none), `n_sites`, and `oldest_ma`, `youngest_ma`, the ages of the
#'     oldest and of the youngest of its sites.}
#' }
#'
#' @details A site is a formation within one interval. It holds all collections (find spots) of one formation whose
#' oldest possible interval is the same. Only fossils of bodies that are known to the genus count; collections with
#' traces are left out. Genera of fewer than 3 sites and sites of fewer than 2 genera are dropped, until no more are
#' left. The 1461 occurrences without a formation are lost.
#'
#' Single collections would be the finer choice. The example below makes that table. But more than half of its 539 sites
#' have three genera or fewer, and 98 % of its cells are zeros. Most are zeros because somebody described a single
#' fossil. In the pooled table a zero means that the genus was not found in the whole formation of that time. The number
#' of collections of a site, 1 to 38, is a rough measure of how well it was searched; [which_zeros()] uses it only
#' through `effort` or `visits`.
#'
#' @section What it cannot tell:
#' - It is one download of 2022. Names and their places in the classification are opinions, and change; some genera
#'   are wastebaskets, and a misidentified presence is a false presence.
#' - Pooling mixes beds of different age within a formation (the bounds of a site are 1 to 47 million years apart, 5.7
#'   in the median), and places that may be hundreds of kilometres apart. Spellings of formations
#'   are the database's own, so that one formation may be two sites ("Abo" and "Abo/Cutler").
#' - Ages are bounds of named intervals, not dates; many sites share them exactly. In the Karoo and in Russia the
#'   intervals were themselves defined by tetrapods, so arguments from age to fauna are partly circular.
#' - Europe, Russia, the United States and South Africa were searched far better than the rest. A genus is absent
#'   from most sites because it lived on another continent or at another time: that is a true absence.
#'
#' @section Source and licence: This is the data set `tetrapods` of the R package palaeoverse, version 1.5.0 (GPL (>=
#' 3); Jones and others 2023). Bethany Allen compiled it. It came from the Paleobiology Database
#' (<https://paleobiodb.org>) on 14 July 2022. The licence of its records is CC BY 4.0
#' (<https://creativecommons.org/licenses/by/4.0/>). Please cite the database and palaeoverse when you use them. Some
#' things were changed. Columns were dropped, and so were accents in names of formations. The code of Namibia, which was
#' read as missing, was restored. The script `data-raw/early_tetrapods.R` in the sources makes both data sets.
#'
#' @inherit tetrapod_occurrences references
#' @examples
#' str(early_tetrapods$sites)
#' image(
#'   t(early_tetrapods$x[129:1, ]), axes = FALSE, col = c("grey95", "black"),
#'   xlab = "genera", ylab = "sites, old above"
#' )
#'
#' # the same table from the occurrences, and what single collections would give
#' bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
#' x <- occurrence_matrix(bodies, c("formation", "early_interval"), "genus", 3, 2)
#' all(x[rownames(early_tetrapods$x), colnames(early_tetrapods$x)] == early_tetrapods$x)
#' fine <- occurrence_matrix(bodies, "collection_no", "genus", 3, 2)
#' dim(fine)
#' mean(fine)
"early_tetrapods"

#' Simulated sites with known false absences
#'
#' A presence-absence table made by the aspect Bernoulli model, with the truth behind it: which zeros are false.
#'
#' @format A list:
#' \describe{
#'   \item{`x`}{integer matrix of 120 sites (rows, from old to young) by 40 taxa: what was found.}
#'   \item{`sites`}{data frame in the order of the rows: `site` (name), `age` (2 to 20 million years) and
#'     `n_taxa` (taxa found).}
#'   \item{`truth`}{list of `membership` (120 x 4, rows sum to 1) and `aspects` (4 x 40), the parameters, whose last
#'     component `"phantom"` is white: all of its probabilities are zero; and `present` (120 x 40, 0/1), what was there
#'     before the phantom: a cell with `present` 1 and `x` 0 is a false absence.}
#' }
#'
#' @details
#' Three faunas follow each other in time and overlap. A taxon is common in one of them, every fifth also in the next.
#' `present` is drawn with the probabilities of the faunas alone; then each presence of a site is lost with a
#' probability that is the site's own share of the phantom. So `x` is drawn with the probabilities
#' `membership %*% aspects`. Of 160 sites, 120 with at least two taxa were kept. 15.5 % of the cells of `x` are ones,
#' and 700 of its 4054 zeros are false. There are no false presences.
#'
#' @source Made by `data-raw/simulated_sites.R` in the source repository, from a fixed seed.
#' @references Bingham E, Kaban A, Fortelius M (2009). The aspect Bernoulli model: multiple causes of presences and
#'   absences. *Pattern Analysis and Applications* 12, 55-78. \doi{10.1007/s10044-007-0096-4}
#' @examples
#' false <- with(simulated_sites, truth$present == 1 & x == 0)
#' sum(false)
#'
#' # gaps in age ranges find some of them, but call many true absences false
#' gaps <- range_through(simulated_sites$x, simulated_sites$sites$age)
#' table(false, gaps)[, "TRUE"]
"simulated_sites"

#' Simulated surveys of the same sites
#'
#' Nine surveys of equal effort of the same sites: the first is a presence-absence table. The others show which of its
#' zeros are false absences, and how many presences further surveys find.
#' @format A list:
#' \describe{
#'   \item{`x`}{integer matrix of 120 sites by 49 taxa, 0/1: the first survey.}
#'   \item{`later`}{integer array of the same sites and taxa by 8 surveys, 0/1.}
#'   \item{`sites`}{data frame in the order of the rows: `lng` and `lat`, in degrees.}
#' }
#'
#' @details
#' Taxa follow two gradients that are smooth in space. Sites differ in abundance, and each taxon has its own mean number
#' at each site. A survey draws from a Poisson distribution with that mean. It finds the taxon if the number is not 0.
#' For tables from six seeds, two more surveys found .87 to .97 times as many presences as [which_zeros()] estimates
#' from the first one (`quick`).
#'
#' @source Made by `data-raw/simulated_surveys.R` in the source repository, from a fixed seed.
#' @seealso [simulated_sites], which a phantom made.
#' @examples
#' # what one, two, four and eight more surveys find
#' with(simulated_surveys, sapply(c(1, 2, 4, 8), function(k) {
#'   sum(apply(later[, , 1:k, drop = FALSE], 1:2, max) > x)
#' }))
"simulated_surveys"
