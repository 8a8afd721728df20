"""Runs what figures take from testing/frameworks, whose faults are AssertionErrors, as figures want it."""

from contextlib import contextmanager

from testing.frameworks import software_gpu
from testing.processes import Failed


@contextmanager
def required(build, beside_torch=False):
    """Raises Failed if the build or the installation lacks something for jobs of PyTorch, or of frameworks beside it,
    or if one of the jobs that run in this context does not end well."""
    lacking = software_gpu.missing(build, beside_torch)
    if lacking:
        raise Failed("; ".join(lacking))
    try:
        yield
    except AssertionError as error:
        raise Failed(str(error)) from error
