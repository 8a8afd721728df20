"""Measures Crossover: bounds, statistics, sessions of real processes, and one module for each figure."""
