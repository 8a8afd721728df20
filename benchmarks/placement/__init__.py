"""Simulates placement as papers do: jobs of published traces, on a cluster of numbers (README.md)."""
