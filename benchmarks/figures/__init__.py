"""One module per figure: CASES, and measure(context, case) -> results.Measured objects."""
