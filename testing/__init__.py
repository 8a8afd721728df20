"""Runs what tests and benchmarks play and measure: programs, jobs, whole clusters. It imports none of them."""
