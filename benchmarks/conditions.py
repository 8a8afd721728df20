"""Tests of a cluster as conditions of a figure: what came to no good end, in words."""

import unittest

from benchmarks.processes import Failed


def unmet(test_class, names):
    """Of these tests, in the order given, each that fails or cannot be tried. Failed if not all of them were begun."""
    result = unittest.TestResult()
    unittest.TestSuite(test_class(name) for name in names).run(result)
    if result.testsRun != len(names):
        raise Failed(f"{result.testsRun} of {len(names)} conditions were tried: {result.errors}")
    unwell = result.failures + result.errors + result.skipped
    return [f"{test.id().rsplit('.', 1)[-1]}: {why.strip().splitlines()[-1]}" for test, why in unwell]
