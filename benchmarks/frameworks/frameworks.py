"""Runs what figures take from testing/frameworks, whose faults are AssertionErrors, as figures want it."""

from contextlib import contextmanager

from testing.frameworks import software_gpu
from testing.processes import Failed


@contextmanager
def required(build):
    """Raises Failed if the build or the installation lacks something for jobs of frameworks, or if one of the jobs that
    run in this context does not end well."""
    lacking = software_gpu.missing(build)
    if lacking:
        raise Failed("; ".join(lacking))
    try:
        yield
    except AssertionError as error:
        raise Failed(str(error)) from error
