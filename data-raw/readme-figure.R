# Draws man/figures/README-zeros.png, the picture in README.md. Run from the root of the package:
# `Rscript data-raw/readme-figure.R`
#
# Simulated sites, because there the truth is known: what was found, what the model takes for missing, what was missing.

pkgload::load_all(".", quiet = TRUE)

set.seed(1)
x <- simulated_sites$x
fit <- aspect_bernoulli(x, k = 4, phantom = "white", estimate = "map")
zeros <- false_absences(fit, n = Inf)
missed <- 0 * x
missed[cbind(zeros$observation, zeros$attribute)] <- zeros$missed
truth <- (x == 0 & simulated_sites$truth$present == 1) + 0

panel <- function(shade, colours, title) {
  image(t(shade[rev(seq_len(nrow(x))), ]), col = colours, zlim = c(0, 1), axes = FALSE)
  image(t(ifelse(x == 1, 1, NA)[rev(seq_len(nrow(x))), ]), col = "grey25", add = TRUE)
  box(col = "grey60")
  mtext(title, side = 3L, line = 0.5, cex = 1, font = 2L)
  mtext("40 taxa", side = 1L, line = 0.4, cex = 0.85)
}

orange <- grDevices::colorRampPalette(c("white", "#FDE3B5", "#E69F00", "#B34700"))(100)
png("man/figures/README-zeros.png", width = 900, height = 440, res = 110, type = "cairo")
par(mfrow = c(1, 3), mar = c(1.6, 1.6, 2, 0.6), oma = c(1.4, 0.4, 0, 0))
panel(0 * x, orange, "What was found")
mtext("120 sites, old above", side = 2L, line = 0.4, cex = 0.85)
panel(missed, orange, "What may be missing")
panel(truth, orange, "What was missing")
mtext(
  paste(
    "Black: recorded. Orange: a zero that is false; in the middle, the deeper the likelier,",
    "as the model tells from the black."
  ),
  side = 1L, outer = TRUE, line = 0.3, cex = 0.75
)
invisible(dev.off())
