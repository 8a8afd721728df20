"""shrink_bits says how far the codecs of reductions are from what they have to be, each beside codecs that are known to
be bad and are measured in the same way (benchmarks/shrink_bits).

bias, error, bound, sixth   the mean of 2,000 encodings; the squared error of one, against a table, its bound, u^2 / 6
                            (shrink_bits_bias, shrink_bits_off, shrink_bits_bound, shrink_bits_off)
outlier, scale              the error beside an outlier (shrink_bits_error); values times a power of two
not_finite, constant        buckets with NaN or infinity; constant buckets and ranges of few subnormal units
counts                      lengths around every limit, element by element
threads                     what the threads of a GPU do, run on the host, against the codec
sum, ranks                  the error of 2, 8 and 32 ranks (shrink_bits_error); elements that differ between ranks
bf16, bf16_ring             rounding to the nearest even; the error of 64 ranks (shrink_bits_error)
image                       jobs on the software GPU, which runs the kernels of its image, against the host's codec

No GPU takes part: the kernels are compiled for the host from the source of the PTX.
"""

import os
import tempfile

from benchmarks.runner.results import Goal, Measured, controlled
from testing import programs
from testing.processes import Failed
from testing.shrink.job import Job, RankSettings

SCOPE = "component"
GPUS = "software GPUs"
_NONE, _ELEMENTS, _ERROR = Goal("==", 0), "elements amiss", "relative squared error"
_FOUR_SIGMA = 0.0448  # of the mean of 2,000 levels, each off by half a step at most
# These are the goal, the unit, and what is measured.
_PROGRAM = {
    "bias": (Goal("<=", _FOUR_SIGMA), "steps", "512 normal values, 1, 2, 4 and 8 bits, 2,000 encodings"),
    "error": (Goal("<=", 0.1), "of what is expected", "normal and Laplace, 4 and 8 bits, buckets of 128 and 1024"),
    "bound": (Goal("<=", 1.001), "of B u^2 / 4", "4 bits, worst case, normal and Laplace values, 400 encodings"),
    "sixth": (Goal("<=", 0.012), "of what is expected", "65,536 smooth values, 2, 4 and 8 bits"),
    "outlier": (Goal("<=", 0.03), _ERROR, "65,535 normal values beside one of 1000, 8 bits"),
    "scale": (_NONE, _ELEMENTS, "2,000 Laplace values times 2^-90 to 2^100, 1, 3, 4 and 8 bits"),
    "not_finite": (_NONE, _ELEMENTS, "NaN, infinity of both signs, at three places of a bucket"),
    "constant": (_NONE, _ELEMENTS, "constant buckets, zeros, a range of 100 subnormal units, 1 to 8 bits"),
    "counts": (_NONE, _ELEMENTS, "18 lengths from 0 to 4099, 1 to 8 bits, buckets of 1 to 65,536"),
    "threads": (_NONE, _ELEMENTS, "11 lengths from 1 to 70,001, with zeros, subnormal and constant buckets and NaN"),
    "sum": (Goal("<=", 0.042), _ERROR, "2, 8 and 32 ranks, 4 bits, buckets of 128"),
    "ranks": (_NONE, _ELEMENTS, "flat and hierarchical, four shapes, nine lengths, with infinity"),
    "bf16": (_NONE, _ELEMENTS, "2^20 floats over all exponents, an eighth of them ties"),
    "bf16_ring": (Goal("<=", 1e-4), _ERROR, "64 ranks, 20,000 normal values"),
}
_FIGURES = {"bias": "shrink_bits_bias", "bound": "shrink_bits_bound", "error": "shrink_bits_off",
            "sixth": "shrink_bits_off", "outlier": "shrink_bits_error", "sum": "shrink_bits_error",
            "bf16_ring": "shrink_bits_error"}  # of cases that do not count
# An average of three ranks in bf16 depends on who divides, so only that of 2 or 4 has an oracle.
_SHAPES = {"q8": ((0, 1), (0, 1, 2), (0, 0, 1, 1)), "bf16": ((0, 1), (0, 0, 1, 1))}
# The images have kernels that are known to be bad.
_BAD_IMAGES = {"keeps_sum": "an owner that keeps its sum", "loses_nan": "bounds that leave out what is not finite"}
CASES = (*_PROGRAM, "image")


def measure(context, case):
    yield _of_images(context) if case == "image" else _of_program(context, case)


def _of_program(context, case):
    goal, unit, condition = _PROGRAM[case]
    (said,) = programs.json_lines([context.build.program("shrink_bits"), case], dict(os.environ))
    value = said["value"]
    return Measured(_FIGURES.get(case, "shrink_bits"), case, value, unit, goal, (value,),
                    tuple(controlled(goal, what, found) for what, found in said["bad"].items()), condition, {},
                    {"kind": "program"})


def _of_images(context):
    others, results = _others(context, "kinds", "host_kernels", "q8")
    of_halves, halves = _others(context, "kinds", "host_kernels", "bf16")
    value, count = others + of_halves, results + halves
    context.say(f"    {value} of {count} results differ")
    controls = tuple(controlled(_NONE, what, _others(context, "bits", image, "q8")[0])
                     for image, what in _BAD_IMAGES.items())
    return Measured("shrink_bits", "image", value, f"results of {count} with other bits than the host's", _NONE,
                    (value,), controls, "sums and averages of 65,536 and 100,003 floats, with NaN and infinity: q8 on "
                    "2x1, 3x1 and 2x2 ranks, bf16 on 2x1 and 2x2", {}, {"kind": "program"})


def _others(context, scenario, image, level):
    """Returns how many results of jobs on all shapes differ from those of the host's codec, and how many there are.
    Results of calls that stay plain do not count. Raises Failed where a rank fails."""
    settings = RankSettings(shrink=level, environment={
        "CROSSOVER_SHRINK_IMAGE": str(context.build.top / f"tests/process/shrink/{image}.image")})
    words = []
    for nodes in _SHAPES[level]:
        with tempfile.TemporaryDirectory() as folder, Job(context.build, folder, len(nodes), scenario, nodes) as job:
            for rank in range(job.ranks):
                job.start(rank, settings)
            for rank, end in job.wait().items():
                if end.code != 0:
                    raise Failed(f"rank {rank}: expected the end of the job, got {end}")
                words += words_of(end.lines)
    if not words:
        raise Failed(f"{level} with the image {image}: expected narrowed results, got none")
    return words.count("other"), len(words)


def words_of(lines):
    """Returns "narrow" or "other" for each result of a rank that is not plain, from the lines that the rank said."""
    parts = [line.split() for line in lines]
    return [part[1] for part in parts if len(part) == 3 and part[1] in ("narrow", "other")]
