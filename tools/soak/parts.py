"""Defines the parts of a soak and their units."""

import subprocess
from dataclasses import dataclass
from functools import partial

from benchmarks.faults import rank_kills
from benchmarks.scheduling import leaders
from testing import faults


# A bound is CLIENTS TURNS YIELDS KILLS LATE_WRITES SUSPENSIONS [SIGNALS], see tests/unit/turn/explore.cc.
_BOUNDS = ("2 3 0 0 0 0", "2 3 0 1 1 0", "2 2 0 2 1 0", "2 2 0 1 1 1", "2 3 0 0 0 1", "3 1 0 1 1 1", "3 2 0 0 0 0",
           "2 1 3 0 0 0", "2 1 2 1 1 0", "2 2 1 0 0 0", "3 1 1 0 0 0",
           "3 1 0 0 0 0 any", "2 1 2 0 0 0 any", "2 1 1 1 1 0 any", "2 1 0 1 1 0 any-arbiter-dies", "2 1 0 1 1 0 kept",
           "2 1 0 0 0 1 kept", "2 1 0 1 0 0 kept-torn", "2 1 0 0 0 0 kept-late", "2 1 1 0 0 0 kept-arbiter-dies")
_STATES = 100_000_000  # a bound with more states fails, even if no rule is broken
_UNIT_LIMIT_S = 480


@dataclass(frozen=True)
class Unit:
    """Is one unit of a part. `run()` returns what went wrong, or "" if nothing did."""

    name: str
    run: object


def _command(command, limit_s=_UNIT_LIMIT_S):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit_s,
                              check=False)
    except subprocess.TimeoutExpired:
        return f"still running after {limit_s} s"
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-4000:]


def explore(build):
    """Explores the turn core in every interleaving, within larger bounds than the unit tests'."""
    for bounds in _BOUNDS:
        words = bounds.split()
        yield Unit("-".join(words), partial(_command, [build.program("explore"), *words[:6], _STATES, *words[6:]]))


def fuzz(_build):
    """Runs each fuzzer for two minutes."""
    yield Unit("all", partial(_command, ["tools/fuzz.sh", 120], 3600))


def fuzz_strangers(_build):
    """Runs the fuzzers of bytes that other processes on the node write, for ten minutes each."""
    names = ("arbiter_protocol", "daemon_yaml", "module_image", "shared_page")
    yield Unit("all", partial(_command, ["tools/fuzz.sh", 600, *names], 3600))


def kill(build):
    """Runs two jobs; one of them loses a rank, all ranks or an arbiter at a random instant, again and again."""
    deadly = [name for name in faults.ROWS if name.startswith(("kill", "restart"))]
    for first in range(0, 250, 5):
        yield Unit(f"seeds-{first}-to-{first + 4}", partial(faults.rounds, build, deadly, range(first, first + 5)))


def churn(build):
    """Runs a job beside one, two or three jobs whose ranks are killed and started again: 20 runs of each."""
    for jobs in (2, 3, 4):
        for seed in range(20):
            yield Unit(f"{jobs}-jobs-seed-{seed}", partial(_churn, build, jobs, seed))


def _churn(build, jobs, seed):
    outcome = rank_kills.play(build, rank_kills.Scenario(jobs, 6, 1000 + seed), build.library)
    return outcome.wrong or (f"{outcome.false_deaths} clients were given up alive" if outcome.false_deaths else "")


def fault(build):
    """Runs every kind of fault at 20 moments."""
    for name in faults.ROWS:
        yield Unit(name.replace(" ", "-"), partial(faults.rounds, build, [name], range(20)))


def gangs(build):
    """Plays 100,000 random lives of a cluster with gangs. Each unit prints its seeds."""
    each = 2_500
    for first in range(0, 100_000, each):
        yield Unit(f"seeds-{first}-to-{first + each - 1}",
                   partial(_command, ["env", f"CROSSOVER_SEEDS={each}", f"CROSSOVER_FIRST_SEED={first}",
                                      build.program("gang_interleavings_test"),
                                      "--gtest_filter=All/GangInterleavings*"]))


def leader(build):
    """Kills the leading scheduler and extender 100 times, while gangs come and go."""
    for seed in range(10):
        yield Unit(f"seed-{seed}", partial(_leader, build, 10, seed))


def _leader(build, kills, seed):
    outcome = leaders.play(build, kills, seed)
    late = [f"a leader acted {s:.2f} s after the lease" for s in outcome.after_s if s > leaders.ACTS_WITHIN_S]
    return "; ".join([*outcome.leaked, *late])


def gang_churns(build):
    """Lets 14,400 gangs come and go, while certificates and the Lease are replaced 20 times, and tokens three times."""
    figure = ["python3", "-m", "benchmarks.run", "--build", build.top, "--only", "churn", "--cases", "14400_gangs",
              "--runs", "1"]  # its lines in the build directory are kept as those of any figure
    yield Unit("gangs-14400", partial(_command, figure, 7200))


def mutants(build):
    """Makes 100 small changes of the product, and a unit test should detect each. Then runs the figure, which
    knows how the changes ended that were already tried."""
    for count in range(10, 101, 10):
        yield Unit(f"to-{count}", partial(_command, ["python3", "-m", "testing.mutants", "--count", count], 3600))
    figure = ["python3", "-m", "benchmarks.run", "--build", build.top, "--only", "mutants", "--runs", "1"]
    yield Unit("figure", partial(_command, figure, 7200))


PARTS = {"explore": explore, "fuzz": fuzz, "fuzz_strangers": fuzz_strangers, "kills": kill, "churn": churn,
         "faults": fault, "gangs": gangs, "leaders": leader, "gang_churn": gang_churns,
         "mutants": mutants}
