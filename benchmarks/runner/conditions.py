"""Runs tests of a cluster as conditions of a figure and reports those that did not pass."""

import unittest

from testing.processes import Failed


def unmet(test_class, names):
    """Runs these tests in this order and returns a line for each that failed, was skipped or could not run. Raises
    Failed if not all of them began."""
    result = unittest.TestResult()
    unittest.TestSuite(test_class(name) for name in names).run(result)
    if result.testsRun != len(names):
        raise Failed(f"{result.testsRun} of {len(names)} conditions were tried: {result.errors}")
    unwell = result.failures + result.errors + result.skipped
    return [f"{test.id().rsplit('.', 1)[-1]}: {why.strip().splitlines()[-1]}" for test, why in unwell]
