# The example of README.md: its first two fenced blocks are code and its output.

readme_blocks <- function(text) {
  fences <- grep("^```", text)
  inside <- function(first) seq(fences[first] + 1L, length.out = fences[first + 1L] - fences[first] - 1L)
  list(code = text[inside(1L)], output = text[inside(3L)], output_lines = inside(3L))
}

# Returns what the console would show.
readme_output <- function(code) {
  old <- options(width = 88)
  on.exit(options(old))
  where <- new.env(parent = globalenv())
  utils::capture.output(for (call in parse(text = code)) {
    value <- withVisible(eval(call, where))
    if (value$visible) print(value$value)
  })
}
