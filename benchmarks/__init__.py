"""Measurement of Crossover: bounds, statistics, sessions of real processes, and one module per figure."""
