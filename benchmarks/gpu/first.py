"""Holds the questions of the first ten minutes on a machine: few, in an order in which each answer decides what is
worth asking next. What is asked and what answers mean are pure functions of the lines so far.
"""

from dataclasses import dataclass, replace
from functools import partial

from benchmarks.gpu import crew, driver_parts, exit_parts, job_parts, mps_parts, stream_parts
from benchmarks.gpu.ways import NO_MPS

NAME = "first"
# Of all questions together, the build included. A command on a lent machine may last ten minutes, and the table comes
# after the last question.
LIMIT_S = 560


class Answers:
    """Holds the lines so far, by figure and case."""

    def __init__(self, lines=()):
        self._lines = {(line.figure, line.case): line for line in lines}

    def add(self, line):
        self._lines[line.figure, line.case] = line

    def values(self, figure, start=""):
        """Returns the values of a figure's cases that begin with `start`; None stands for one that was not measured."""
        return [line.value for (name, case), line in self._lines.items() if name == figure and case.startswith(start)]

    def asked(self, figure):
        return bool(self.values(figure))

    def measured(self, figure, start=""):
        """Returns whether a case of a figure that begins with `start` has a value."""
        return any(value is not None for value in self.values(figure, start))

    def none_of(self, figure):
        """Returns whether the figure was asked for and no case of it has a value."""
        return self.asked(figure) and not self.measured(figure)

    def lacks_mps(self):
        """Returns whether a line says that there is no MPS. One that says that MPS's clients cannot do what was asked,
        or that the time was over, does not."""
        return any(line.value is None and line.remarks.get("reason", "").startswith(NO_MPS)
                   for line in self._lines.values())

    def told(self, figure, words):
        """Returns whether a line of a figure says why it has no value, and the reason begins with these words."""
        return any(name == figure and line.value is None and line.remarks.get("reason", "").startswith(words)
                   for (name, _), line in self._lines.items())

    def missed(self, figure, start=""):
        """Returns whether a case of a figure that begins with `start` was measured and missed its goal."""
        return any(name == figure and case.startswith(start) and line.value is not None
                   and not line.goal.met_by(line.value) for (name, case), line in self._lines.items())


@dataclass(frozen=True)
class Question:
    """Names a part of the suite, cut short. `unless(answers)` returns why it is not worth asking, or "".
    `given(answers)` returns what the part is asked with, as arguments by name."""

    part: object
    unless: object = lambda answers: ""
    given: object = lambda answers: {}

    def part_for(self, answers):
        return replace(self.part, run=partial(self.part.run, **self.given(answers)))


def _without_words(answers):
    return "no stream was seen to wait for a word in host memory" if answers.none_of("gpu_word_hop_us") else ""


def _without_mps(answers):
    return "there is no MPS" if answers.lacks_mps() else ""


def _the_library_crashes(answers):
    return "a program fails with the library alone" if answers.missed("gpu_smoke") else ""


def ways_of_jobs(answers):
    """Returns the ways of sharing that are worth measuring with jobs. Gates on streams are of no use in time slices
    where a blocked stream keeps the GPU."""
    if not answers.missed("gpu_beside_blocked", "timeslice"):
        return job_parts.WAYS
    return tuple(way for way in job_parts.WAYS if way != crew.TURNS_SLICES)


def _jobs_unless(answers):
    if answers.missed("gpu_beside_blocked", "timeslice") and _without_mps(answers):
        return "a blocked stream keeps the GPU in time slices, and there is no MPS"
    return _the_library_crashes(answers)


def _part(parts, name, limit_s):
    return replace(next(part for part in parts if part.name == name), limit_s=limit_s)


QUESTIONS = (
    Question(_part(exit_parts.PARTS, "smoke", 90), given=lambda answers: {"patience_s": 40}),
    Question(_part(driver_parts.PARTS, "words", 60)),
    Question(_part(driver_parts.PARTS, "blocked", 50), _without_words),
    Question(_part(stream_parts.PARTS, "releases", 70), _without_words, lambda answers: {"connections": (None, 1, 32)}),
    Question(_part(stream_parts.PARTS, "long_waits", 40), _without_words, lambda answers: {"waits_ms": (3000,)}),
    Question(_part(mps_parts.PARTS, "mps_sights", 40), _without_mps),
    Question(_part(stream_parts.PARTS, "litmus", 60), _without_words, lambda answers: {"seconds": 15}),
    Question(_part(job_parts.PARTS, "jobs", 120), _jobs_unless,
             lambda answers: {"ratios": (0.6,), "ways": ways_of_jobs(answers)}),
)


def _said(figure, value, start):
    return lambda answers: value in answers.values(figure, start)


def _misses(figure, start=""):
    return lambda answers: answers.missed(figure, start)


def _meets(figure, start=""):
    """Returns a test of whether a case that begins with `start` was measured, and no case missed the figure's goal."""
    return lambda answers: answers.measured(figure, start) and not answers.missed(figure)


def _nothing(figure):
    return lambda answers: answers.none_of(figure)


# Each has a condition on the answers, and what it means for the design and what to ask next.
_MEANINGS = (
    (_misses("gpu_smoke"),
     "The library ends a program at its first kernels. Mend that first: no other figure with the library means "
     "anything."),
    (lambda answers: answers.told("gpu_smoke", exit_parts.SLOW),
     "A program was not through its first kernels in time with the library, which is no crash: ask ONLY=smoke, which "
     "waits for longer."),
    (_misses("gpu_smoke_same"),
     "A program computes other results with the library than without it: ask ONLY=losses,torch_losses before any time "
     "counts."),
    (_nothing("gpu_word_hop_us"),
     "No stream was seen to wait for a word. If the driver refuses it (see why a value is missing), gates must be on "
     "the host: ask ONLY=handover,jobs."),
    (_misses("gpu_word_hop_us"),
     "A hop takes too long. Its time is the floor of a hand-over: ask ONLY=handover for the best transport."),
    (_misses("gpu_beside_blocked", "timeslice"),
     "A blocked stream takes time slices. Without MPS, who waits must wait on its host."),
    (_misses("gpu_beside_blocked", "mps"), "A blocked client slows its neighbours under MPS: ask ONLY=crowd."),
    (_misses("gpu_releases_held"),
     "A release waits for the kernels of other streams. Turns must then end after collectives, or jobs stand until the "
     "watchdog opens their gates: ask ONLY=releases,torch_releases."),
    (_meets("gpu_releases_held", "mps"),
     "Releases wait for compute alone under MPS, where it counts: ask ONLY=torch_releases to know it of PyTorch."),
    (lambda answers: _meets("gpu_releases_held")(answers) and not answers.measured("gpu_releases_held", "mps"),
     "Releases wait for compute alone in time slices. Under MPS, where jobs would stand, it is not known: ask "
     "ONLY=releases where there is MPS."),
    (_misses("gpu_long_wait"), "The driver ends a wait of seconds with an error. No gate may stay shut for so long."),
    (_meets("gpu_long_wait"), "A wait of three seconds is sound: ask ONLY=long_waits for two minutes."),
    (_said("gpu_mps_sights", 0, "private_shm"), "A client of MPS needs the daemon's /dev/shm: pods must mount it."),
    (_said("gpu_mps_sights", 1, "private_shm"),
     "A client of MPS does not need the daemon's /dev/shm: the mount can go."),
    (_said("gpu_mps_sights", 0, "read_only_pipes"),
     "A client of MPS writes to the pipe directory: it cannot be mounted read-only."),
    (lambda answers: answers.missed("gpu_litmus", "plain") and not answers.missed("gpu_litmus", "barrier"),
     "A write and the wait behind it change places without a barrier: the barrier must stay."),
    (_misses("gpu_litmus", "barrier"),
     "A write and the wait behind it change places even with a barrier: two jobs can hold a turn."),
    (Answers.lacks_mps, "Without MPS, half of the questions stay open."),
    (_misses("gpu_guard"),
     "Turns are slower than one job after the other: ask ONLY=handover,crowd for the reason."),
)


def meanings(answers):
    """Returns what the answers mean for the design, and what to ask next, in sentences."""
    return [words for holds, words in _MEANINGS if holds(answers)]
