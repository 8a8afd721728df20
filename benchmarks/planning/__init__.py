"""Measures plans that are made before a job runs: pipelines, seats by traffic, advice."""
