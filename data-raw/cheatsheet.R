# The cheat sheet of the site, two pages of A4: Rscript data-raw/cheatsheet.R FILE, with the package installed. A test
# runs all calls named here, one after the other.

library(multicause)
library(grid)

# Of each section: a line of code, and what it is for.
sheet <- list(
  list(
    "The question" = c(
      "", "A taxon is missing from a site. Was it not there (a true absence), or was it missed (a false absence)?",
      "", "A table has sites in rows and taxa in columns: 1 found, 0 not found, NA nobody could have known."
    ),
    "From data to a table" = c(
      "read_pbdb(file)", "a download of the Paleobiology Database",
      "read_now(file)", "an export of the NOW database",
      "x <- occurrence_matrix(d, \"formation\", \"genus\")", "occurrences to a table; min_sites, min_taxa",
      "names(dimnames(x)) <- c(\"sites\", \"genera\")", "your words, for prints and figures",
      "site_table(x)", "ages, places and covariates, a row for each site",
      "range_through(x, age)", "zeros between a taxon's oldest and youngest presence"
    ),
    "Which zeros are false?" = c(
      "w <- which_zeros(x, age = a, place = p, seed = 1)", "the result; also visits, groups, counts, completeness",
      "which_zeros(x, quick = TRUE, seed = 1)", "a first look, in seconds",
      "w", "probability: of a record, measured on held-out presences",
      "", "missed: probability that one of two more such surveys would find it; has an interval",
      "", "Expected: what 1, 2 and 8 more surveys of the effort of the table would find",
      "plot(w, \"more\")", "the same as a curve, with 90 % intervals",
      "as.data.frame(w, n = 50)", "the list; also site =, taxon =, by ="
    ),
    "Look closer" = c(
      "explain(w, \"Vale\", \"Ophiacodon\")", "why is this zero on the list?",
      "by_site(w)", "how many were missed at each site, with interval",
      "by_taxon(w)", "how often each taxon was missed",
      "contrast(w, slices)", "was more missed in one group than in another, if effort was equal?",
      "plot(w, \"how_many\")", "how many were missed, by each evidence",
      "sensitivity(w)", "the estimate under other assumptions",
      "update(w, completeness = c(0.3, 0.6))", "how complete sites are, if you know it"
    ),
    "How good is it?" = c(
      "plot(w, \"quality\")", "how well held-out presences are ranked",
      "", "AUC: probability that a held-out presence ranks above another zero; 0.5: coin tossing, 1: perfect",
      "", "Calibration slope: 1 is right, below 1 probabilities are too extreme",
      "truth <- corrupt(x, omit = c(0, 0.3))", "hold out presences yourself",
      "recovery(score, truth)", "and see how they are ranked",
      "recovery(w, later)", "what your own later survey found"
    ),
    "What to report" = c(
      "", "How sites were defined, what was left out, how large the table is and which share of it is presences",
      "", "The call, and its seed",
      "", "AUC and calibration slope, beside the best simple rule",
      "", "Numbers missed: interval, by which evidence, how many within known ages",
      "sensitivity(w)", "how the numbers change with the assumptions",
      "citation(\"multicause\")", "the package and the papers of its models"
    )
  ),
  list(
    "Figures (all are ggplot2 objects)" = c(
      "plot(w)", "zeros where a presence was most expected, with intervals",
      "plot(w, \"heat\")", "found, missed, undecided, absent",
      "plot(w, \"ranges\")", "ranges through time and their gaps",
      "plot(w, \"time\")", "found, and with what was missed",
      "plot(w, \"map\")", "where most was missed",
      "ggplot2::autoplot(w, \"heat\")", "the same, to change: + labs(), + theme()",
      "explore(w, \"page.html\")", "a page to look around in",
      "report(w, \"answer.html\")", "everything, with tables as csv files"
    ),
    "Models" = c(
      "fit <- aspect_bernoulli(x, k = 4, phantom = \"white\")", "sites mix faunas; one component stands for gaps",
      "bernoulli_mixture(x, k = 4)", "each site has one fauna",
      "logistic_pca(x, k = 2)", "sites on axes (an ordination)",
      "neighbours_mean(x, smooth = near)", "what near sites have",
      "noisy_or(x, k = 3)", "components that are on or off at a site",
      "plsa(counts, k = 5)", "counts: topics",
      "nmf(counts, k = 5)", "counts: parts that add up",
      "plca(cube, k = 3)", "counts of three or more dimensions",
      "bmf(x, family = \"bernoulli\")", "overlapping groups of rows and of columns"
    ),
    "What a fit reports" = c(
      "false_absences(fit)", "zeros, the likeliest to be false first",
      "phantoms(fit)", "which component stands for gaps",
      "by_taxon(fit)", "how much is missing, by taxon or site",
      "identifiability(fit)", "how much of that the table decides",
      "denoise(fit)", "the table without its gaps",
      "age_profile(fit, age)", "when each component lived",
      "plot(fit, \"top\")", "the taxa that distinguish each component",
      "plot(fit, \"scores\")", "an ordination with arrows"
    ),
    "Which model, how many components?" = c(
      "select_k(x, 2:6)", "k by criteria and held-out cells",
      "cross_validate(x, k = 2:5, bernoulli_mixture)", "held-out cells or rows",
      "compare_models(x, k = 4, models)", "several models on the same folds",
      "ensemble(x, k = 3:5)", "an average of fits",
      "modes(fit)", "do the starts agree? needs fit_control(keep_starts = TRUE)"
    ),
    "Repeated visits" = c(
      "o <- visits_occupancy(visits, detection = ~1)", "occupancy of each taxon; presence = ~ elev",
      "sample_coverage(o)", "what one more visit would add at each site",
      "v <- visits_bernoulli(visits, k = 2, detection = ~1)", "communities in place of covariates",
      "occupied(v)", "how many taxa each site held, missed ones included",
      "visits_needed(v)", "how many visits find it",
      "predictive_check(v)", "do tables drawn from the model look like yours?"
    ),
    "Time, place, speed" = c(
      "near <- smooth_over(age = a, place = p)", "near sites share their faunas",
      "fit <- aspect_bernoulli(x, 4, smooth = near)", "in a model",
      "curves(fit)", "components through time",
      "fit_control(n_start = 10, n_threads = 4)", "how fits are run",
      "shards(d, folder, site = \"formation\", taxon = \"genus\")", "tables larger than memory"
    )
  )
)

write_sheet <- function(file) {
  blue <- "#005b8f"
  grDevices::pdf(file, width = 11.7, height = 8.3, title = "multicause: cheat sheet")
  on.exit(grDevices::dev.off())
  faunas <- multicause::early_tetrapods
  w <- which_zeros(
    faunas$x, age = faunas$sites$age, place = faunas$sites[c("lng", "lat")], quick = TRUE, seed = 1
  )
  pictures <- list(
    list(figure = ggplot2::autoplot(w, "heat"), says = "plot(w, \"heat\")"),
    list(figure = ggplot2::autoplot(w, "ranges", n = 10), says = "plot(w, \"ranges\", n = 10)")
  )
  for (page in seq_along(sheet)) {
    grid.newpage()
    grid.rect(0, 1, 1, unit(0.55, "inches"), just = c("left", "top"), gp = gpar(fill = blue, col = NA))
    grid.text(
      c("multicause: which zeros are real?", "multicause: figures, models, settings")[page], unit(0.4, "inches"),
      unit(1, "npc") - unit(0.28, "inches"), just = "left", gp = gpar(col = "white", fontsize = 18, fontface = "bold")
    )
    grid.text(
      sprintf("version %s, page %d of 2, help: ?\"multicause-glossary\"", packageVersion("multicause"), page),
      unit(1, "npc") - unit(0.4, "inches"), unit(1, "npc") - unit(0.28, "inches"), just = "right",
      gp = gpar(col = "white", fontsize = 10)
    )
    column <- 1L
    top <- 7.45
    for (name in names(sheet[[page]])) {
      lines <- section_lines(sheet[[page]][[name]])
      high <- 0.3 + sum(lines$high)
      if (top - high < 0.2) {
        column <- column + 1L
        top <- 7.45
      }
      draw_section(name, lines, 0.4 + (column - 1L) * 3.7, top, blue)
      top <- top - high - 0.16
    }
    # The picture fills the rest of the last column.
    room <- if (column == 3L) top else 7.45
    pushViewport(viewport(
      unit(0.4 + 2 * 3.7, "inches"), unit(room, "inches"), unit(3.6, "inches"), unit(min(room - 0.2, 5), "inches"),
      just = c("left", "top")
    ))
    print(pictures[[page]]$figure, newpage = FALSE)
    upViewport()
  }
}

# Code on a line of its own, and below it what it is for, wrapped.
section_lines <- function(rows) {
  code <- rows[c(TRUE, FALSE)]
  says <- rows[c(FALSE, TRUE)]
  each <- Map(function(code, says) {
    words <- strwrap(says, 55)
    data.frame(
      text = c(if (nzchar(code)) code, words), code = c(if (nzchar(code)) TRUE, rep(FALSE, length(words))),
      high = c(if (nzchar(code)) 0.155, rep(0.14, length(words) - 1L), 0.185)
    )
  }, code, says)
  do.call(rbind, unname(each))
}

draw_section <- function(name, lines, left, top, blue) {
  at <- function(y) unit(y, "inches")
  grid.text(name, at(left), at(top), just = c("left", "top"), gp = gpar(col = blue, fontsize = 12, fontface = "bold"))
  grid.lines(at(c(left, left + 3.5)), at(top - 0.2), gp = gpar(col = blue, lwd = 0.8))
  y <- top - 0.28
  for (i in seq_len(nrow(lines))) {
    grid.text(
      lines$text[i], at(left + if (lines$code[i]) 0 else 0.12), at(y), just = c("left", "top"),
      gp = if (lines$code[i]) {
        gpar(fontfamily = "mono", fontsize = if (nchar(lines$text[i]) > 52) 7 else 8.2) # a column holds 52 letters
      } else {
        gpar(fontsize = 8.2, col = "grey25")
      }
    )
    y <- y - lines$high[i]
  }
}

if (sys.nframe() == 0L) {
  write_sheet(commandArgs(TRUE)[[1L]])
}
