"""Holds one module per figure: its CASES, and measure(context, case), which yields results.Measured objects."""
