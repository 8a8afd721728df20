"""Tests which questions the first ten minutes on a GPU spare, and what they say that answers mean."""

import unittest

from benchmarks.gpu import crew, exit_parts, first, job_parts
from benchmarks.gpu.figures import BESIDE_BLOCKED, GUARD, NEVER, NONE, WORD_HOP_US, YES, figure

_GOALS = {"gpu_smoke": YES, "gpu_smoke_same": YES, "gpu_word_hop_us": WORD_HOP_US["mps"],
          "gpu_beside_blocked": BESIDE_BLOCKED,
          "gpu_releases_held": NEVER, "gpu_long_wait": YES, "gpu_mps_sights": NONE, "gpu_litmus": NEVER,
          "gpu_guard": GUARD}
_SOUND = {("gpu_smoke", "cukernel"): 1, ("gpu_smoke_same", "cukernel"): 1,
          ("gpu_word_hop_us", "timeslice"): 3.0, ("gpu_word_hop_us", "mps"): 3.0,
          ("gpu_beside_blocked", "timeslice"): 1.0, ("gpu_beside_blocked", "mps"): 1.0,
          ("gpu_releases_held", "mps_default_4_streams"): 0, ("gpu_long_wait", "mps_3s"): 1,
          ("gpu_mps_sights", "private_shm"): 1, ("gpu_litmus", "plain"): 0, ("gpu_litmus", "barrier"): 0,
          ("gpu_guard", "native_0.6"): 1.1}

_NO_MPS = "no MPS: no nvidia-cuda-mps-control on this machine"


def answers(**changed):
    """Returns the answers of a machine where all is well, but for `changed`: values by "figure__case". A text is the
    reason why there is no value."""
    values = _SOUND | {tuple(key.split("__")): value for key, value in changed.items()}
    return first.Answers(
        figure(name, case, None, "1", _GOALS[name], reason=value) if isinstance(value, str) else
        figure(name, case, value, "1", _GOALS[name]) for (name, case), value in values.items())


def spared(given):
    return {question.part.name: reason for question in first.QUESTIONS if (reason := question.unless(given))}


def meant(given):
    return " ".join(first.meanings(given))


class First(unittest.TestCase):

    def test_the_order_and_the_time(self):
        names = [question.part.name for question in first.QUESTIONS]
        self.assertEqual(names, ["smoke", "words", "blocked", "releases", "long_waits", "mps_sights", "litmus", "jobs"])
        self.assertLessEqual(sum(question.part.limit_s for question in first.QUESTIONS), first.LIMIT_S)

    def test_nothing_is_spared_where_all_is_well_or_nothing_is_known(self):
        self.assertEqual(spared(answers()), {})
        self.assertEqual(spared(first.Answers()), {})

    def test_without_words_what_rests_on_them_is_spared(self):
        refused = answers(gpu_word_hop_us__timeslice="not supported", gpu_word_hop_us__mps="not supported")
        self.assertEqual(set(spared(refused)), {"blocked", "releases", "long_waits", "litmus"})
        self.assertIn("gates must be on the host", meant(refused))
        self.assertNotIn("Without MPS", meant(refused))

    def test_without_mps_only_its_question_is_spared(self):
        given = answers(gpu_word_hop_us__mps=_NO_MPS)
        self.assertEqual(spared(given), {"mps_sights": "there is no MPS"})
        self.assertIn("Without MPS, half of the questions stay open", meant(given))

    def test_words_that_were_not_measured_under_mps_do_not_mean_that_there_is_none(self):
        given = answers(gpu_word_hop_us__mps="gpu_probe: no end after 60 s")
        self.assertEqual(spared(given), {})
        self.assertNotIn("Without MPS", meant(given))

    def test_a_library_that_crashes_spares_jobs_alone(self):
        self.assertEqual(set(spared(answers(gpu_smoke__cukernel=0))), {"jobs"})
        self.assertEqual(spared(answers(gpu_smoke__pytorch=None)), {}, "no PyTorch is no crash")

    def test_slowness_and_other_results_are_no_crash(self):
        for changed, words in (
                ({"gpu_smoke__pytorch": f"{exit_parts.SLOW}: python3: no end after 40 s"}, "which is no crash"),
                ({"gpu_smoke_same__pytorch": 0}, "computes other results")):
            given = answers(**changed)
            self.assertEqual(spared(given), {})
            self.assertIn(words, meant(given))
            self.assertNotIn("ends a program", meant(given))
        self.assertNotIn("which is no crash", meant(answers(gpu_smoke__pytorch="python3 has no PyTorch")))

    def test_time_slices_alone_do_not_tell_how_releases_are_under_mps(self):
        slices = {"gpu_releases_held__timeslice_default_4_streams": 0}
        alone = answers(**slices, gpu_releases_held__mps_default_4_streams=_NO_MPS)
        self.assertIn("alone in time slices. Under MPS, where jobs would stand, it is not known", meant(alone))
        self.assertNotIn("alone under MPS", meant(alone))
        both = meant(answers(**slices))
        self.assertIn("alone under MPS", both)
        self.assertNotIn("it is not known", both)
        self.assertNotIn("wait for compute alone", meant(answers(gpu_releases_held__timeslice_default_4_streams=2)))

    def test_a_blocked_stream_that_keeps_the_gpu_decides_the_ways_of_jobs(self):
        self.assertEqual(first.ways_of_jobs(answers()), job_parts.WAYS)
        given = answers(gpu_beside_blocked__timeslice=1.5)
        self.assertNotIn(crew.TURNS_SLICES, first.ways_of_jobs(given))
        self.assertIn(crew.TURNS_MPS, first.ways_of_jobs(given))
        self.assertIn("must wait on its host", meant(given))
        self.assertIn("jobs", spared(answers(gpu_beside_blocked__timeslice=1.5, gpu_word_hop_us__mps=_NO_MPS)))

    def test_each_answer_has_its_meaning(self):
        for changed, words in (({"gpu_releases_held__mps_default_4_streams": 3}, "must then end after collectives"),
                               ({}, "Releases wait for compute alone under MPS"),
                               ({"gpu_long_wait__mps_3s": 0}, "ends a wait of seconds with an error"),
                               ({"gpu_mps_sights__private_shm": 0}, "needs the daemon's /dev/shm"),
                               ({}, "does not need the daemon's /dev/shm"),
                               ({"gpu_litmus__plain": 2}, "the barrier must stay"),
                               ({"gpu_litmus__barrier": 2}, "two jobs can hold a turn"),
                               ({"gpu_guard__native_0.6": 0.9}, "slower than one job after the other")):
            self.assertIn(words, meant(answers(**changed)))
        self.assertEqual(meant(first.Answers()), "")


if __name__ == "__main__":
    unittest.main()
