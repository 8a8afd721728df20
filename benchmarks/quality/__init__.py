"""Measures the sources, the tests, the stand-ins and the releases."""
