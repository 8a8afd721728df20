"""Runs what figures take from testing/frameworks, whose faults are AssertionErrors, as figures want it."""

from contextlib import contextmanager

from testing.frameworks import software_gpu
from testing.frameworks.patterns import Needs
from testing.processes import Failed


@contextmanager
def required(build, needs=Needs.TORCH):
    """Raises Failed if the build or the installation lacks something for jobs that import `needs`, or if a job that
    runs in this context does not end well."""
    lacking = software_gpu.missing(build, needs)
    if lacking:
        raise Failed("; ".join(lacking))
    try:
        yield
    except AssertionError as error:
        raise Failed(str(error)) from error
