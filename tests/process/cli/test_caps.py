"""Tests caps on slowdown with the real daemon and real jobs on software GPUs."""

import unittest

from tests.process.cli.machine import Node, clients, end_ranks


def await_line(rank, word):
    """Reads what a rank prints until a line has `word`, and returns that line. Raises AssertionError if the rank ends
    before."""
    for line in rank.stderr:
        if word in line:
            return line
    raise AssertionError(f"a rank ended and never said '{word}'")


def of_gang(top, gang):
    return [client for client in clients(top) if client["gang"] == gang]


def spared(top, least=0.0, most=9.0):
    """Tells whether on each GPU the ratio of beta's step to alpha's, which compute alike, lies between `least` and
    `most`. A ratio is robust, because a busy machine slows both."""
    steps = {(client["gang"], client["rank"]): client.get("step_ms", 0) for client in clients(top)}
    return len(steps) == 4 and all(least <= steps["beta", rank] / (steps["alpha", rank] or 1e9) <= most
                                   for rank in (0, 1))


class Caps(unittest.TestCase):

    def start_known(self, node, gang, **options):
        """Starts a job and waits until it has run alone for long enough for its needs to be known."""
        ranks = node.start_job(gang, **options)
        node.await_top(lambda top: len(of_gang(top, gang)) == 2 and
                       all(client["turns"] >= 8 and client["mode"] == "observe" for client in of_gang(top, gang)))
        return ranks

    def test_the_first_keeps_its_cap_and_the_second_is_told_why_it_gets_none(self):
        node = Node(self)
        node.stop_daemon()
        node.write_config(profiles=node.directory / "profiles")
        node.start_daemon()
        end_ranks(self.start_known(node, "beta"))  # leaves its profile
        node.await_top(lambda top: not clients(top))
        alpha = self.start_known(node, "alpha", CROSSOVER_MAX_SLOWDOWN="1.1")
        beta = node.start_job("beta", CROSSOVER_MAX_SLOWDOWN="1.15")
        for rank in beta:
            line = await_line(rank, "refused")
            self.assertRegex(line, r"max-slowdown 1.15 refused: beside alpha \(1.10\) it would take \d\.\d\d of what")
            self.assertIn("the job runs on what they leave", line)
        # Both jobs run on, the second on the time that the first leaves.
        top = node.await_top(lambda top: spared(top, least=1.35))
        self.assertEqual([client["max_slowdown"] for client in of_gang(top, "alpha")], [1.1, 1.1])
        self.assertEqual([client["max_slowdown_refused"] for client in of_gang(top, "alpha")], [False, False])
        self.assertEqual([client["max_slowdown_refused"] for client in of_gang(top, "beta")], [True, True])
        self.assertIn("1.15x !", node.ask("top"))
        end_ranks(alpha)
        for rank in beta:
            await_line(rank, "max-slowdown is kept from now on")

    def test_a_cap_is_kept_beside_a_job_that_nothing_is_known_of(self):
        node = Node(self)
        self.start_known(node, "alpha", CROSSOVER_MAX_SLOWDOWN="1.2")
        node.start_job("beta")
        node.await_top(lambda top: spared(top, least=1.35))

    def test_without_caps_both_are_slowed_down_alike(self):
        node = Node(self)
        self.start_known(node, "alpha")
        node.start_job("beta")
        node.await_top(lambda top: len(top["jobs"]) == 2 and
                       all(client["turns"] >= 100 for client in clients(top)) and spared(top, 0.9, 1.15))


if __name__ == "__main__":
    unittest.main()
