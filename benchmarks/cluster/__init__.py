"""Measures all of Crossover on a real Kubernetes, from its release to turns."""
