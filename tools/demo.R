# The main job: from the raw occurrence table to the result, as a report with its tables, and to a report of one model
# behind it, in demo/.
library(multicause)
set.seed(20090901)

# 1. Occurrences to a site-by-genus table: a site is a formation in one interval; genera at 3 or more sites, sites with
#    2 or more genera. Footprints and other traces are left out.
bodies <- subset(tetrapod_occurrences, !grepl("trace", pres_mode))
x <- occurrence_matrix(bodies,
  site = c("formation", "early_interval"), taxon = "genus", min_sites = 3, min_taxa = 2,
  summarise = list(
    age = function(rows) stats::median((rows$max_ma + rows$min_ma) / 2),
    oldest = function(rows) max(rows$max_ma), youngest = function(rows) min(rows$min_ma),
    longitude = function(rows) stats::median(rows$lng, na.rm = TRUE),
    latitude = function(rows) stats::median(rows$lat, na.rm = TRUE),
    collections = function(rows) length(unique(rows$collection_no))
  )
)
sites <- site_table(x)

# 2. The result: which absences are probably false, how surely, how good such results are here, what they rest on.
ages <- sites[c("oldest", "youngest")]
places <- sites[c("longitude", "latitude")]
shown <- fit_control(progress = TRUE)
w <- which_zeros(x, age = ages, place = places, seed = 1, control = shown)
print(w)
checked <- sensitivity(w, control = shown)
print(checked)
dir.create("demo", showWarnings = FALSE)
report(w, "demo/report.html",
  sensitivity = checked, groups = cut(sites$age, c(330, 299, 273, 252, 240)),
  site_data = sites[c("age", "collections")], tables = "demo/tables",
  title = "Early tetrapods: which absences are false?"
)

# 3. One model in detail: the number of components, and whether one must be an exact phantom.
# Uses many starts, because a model must not lose for lack of its best solution.
starts <- function(progress) fit_control(n_start = 30, progress = progress)
tried <- expand.grid(k = 2:8, phantom = c("free", "white"), stringsAsFactors = FALSE)
cli::cli_progress_bar("Choosing k", total = nrow(tried))
tried$AIC <- vapply(seq_len(nrow(tried)), function(i) {
  fit <- aspect_bernoulli(x, tried$k[i], estimate = "ml", phantom = tried$phantom[i], control = starts(FALSE))
  cli::cli_progress_update(.envir = globalenv())
  AIC(fit)
}, 0)
cli::cli_progress_done()

# 4. The fit. If no component became a phantom by itself, the question requires one: it is fixed, and its cost reported.
choose <- function(kind) with(tried[tried$phantom == kind, ], k[which.min(AIC)])
fit <- aspect_bernoulli(x, choose("free"), estimate = "ml", control = starts(TRUE))
notes <- NULL
fits <- list()
if (!any(phantoms(fit)$kind == "white")) {
  price <- min(tried$AIC[tried$phantom == "white"]) - min(tried$AIC[tried$phantom == "free"])
  notes <- sprintf(
    paste(
      "Left to itself, the model of least AIC (k = %d) has no component of absences alone.",
      "The question which absences are false needs one, so a white phantom was fixed (k = %d);",
      "its AIC is %.0f %s. What follows is the reading of the table under that assumption."
    ),
    choose("free"), choose("white"), abs(price), if (price > 0) "higher" else "lower"
  )
  fit <- aspect_bernoulli(x, choose("white"), estimate = "ml", phantom = "white", control = starts(TRUE))
}
notes <- c(notes, paste(
  "Most of these sites are dated by their tetrapods. The fit shown lets sites of similar age and place share their",
  "communities; see what that changes, and what it cannot prove, under \"What neighbours change\"."
))
print(fit)
fits[["one model, k by AIC"]] <- fit

# 5. Sites that have neighbours in time and place. With them more components can be identified than AIC selects in a
#    single table: their number is chosen by held-out cells, and so is how far and how strongly neighbours count, no
#    smoothing among the candidates. Both fits are posterior modes, so that only neighbours differ.
held_out <- cross_validate(
  x, k = c(3, 5, 8, 12), aspect_bernoulli, estimate = "map", phantom = "white",
  smooth = smooth_over(age = ages, place = places, bandwidth = c(age = 4, place = 1000), strength = 10),
  control = fit_control(n_start = 2, n_polish = 0, max_iter = 300, tol = 1e-6, progress = FALSE)
)
print(held_out)
k <- with(held_out$results, k[which.min(loss)])
notes <- c(notes, sprintf(
  "Held-out cells are predicted best with k = %d when sites have neighbours; the fit shown has as many components.", k
))
near <- smooth_over(age = ages, place = places)
final <- function(smooth) {
  aspect_bernoulli(x, k, estimate = "map", phantom = "white", smooth = smooth, control = starts(TRUE))
}
without <- final(NULL)
fit <- final(near)
print(fit)
print(fit$smooth)
fits[["k by held-out cells"]] <- without
fits[["k by held-out cells, with neighbours"]] <- fit

# 6. The model's report and its tables.
report(fit, "demo/model.html",
  age = sites$age, site_data = sites[c("age", "collections")], selection = tried, without = without, n = 50,
  tables = "demo/model_tables", title = "Early tetrapods: one model", notes = notes
)
cat("\nLikeliest false absences\n")
print(head(false_absences(fit, 10)))
cat("\nUndetected presences expected in this one table, by what is asked\n")
print(data.frame(
  total = round(c(w$total[["missed"]], vapply(fits, function(fit) attr(false_absences(fit, 1), "expected"), 0))),
  of = c("which_zeros(): found by two more surveys of equal effort", sprintf("phantom of %s: all gaps", names(fits))),
  row.names = NULL
), right = FALSE, row.names = FALSE)
writeLines(strwrap(paste(
  "The totals differ because they estimate different quantities. A phantom's total depends on its model, and the table",
  "bounds it only loosely, see identifiability(). sensitivity() above shows how far other assumptions move the first."
)))
changed <- utils::read.csv("demo/model_tables/neighbours.csv")
cat(sprintf("\nBecause of neighbours %d of the first 50 are new:\n", sum(changed$change == "enters")))
print(utils::head(changed, 5))
cat("\nThe result is demo/report.html, its tables are in demo/tables/; the model is in demo/model.html.\n")
