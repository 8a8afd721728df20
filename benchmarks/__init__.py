"""Measures Crossover: the commands of benchmarks, and a folder for each subject with its figures and their helpers."""
