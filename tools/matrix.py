"""Runs the tests on a real Kubernetes on versions that `make test` leaves out: `python3 -m tools.matrix [--only 1.31]`.

Every version that has a folder in tools/install is tested once, with the default version of the other program. The
output ends with a line for each combination. The exit code is 0 if every test of every combination ran and passed, 1 if
one did not.
"""

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from dataclasses import dataclass
from pathlib import Path

from testing.arguments import Parser
from testing.cluster.rig import versions

# These tests of tests/cluster depend on a kubelet, an API server or containerd. The others test the rig or one part.
TESTS = tuple(f"cluster.{name}" for name in (
    "test_rig", "test_node", "test_mps", "test_opposed", "test_owner", "test_switches", "test_chart", "test_chain",
    "test_mapping", "test_helm", "test_gangs", "test_long_churn", "test_recognition", "test_owner_events",
    "test_operator_events", "test_descheduler", "test_karpenter", "test_signals", "test_demo_torch", "test_owners_live",
    "test_preemption", "test_admission", "test_cdi", "test_cgroup_v2", "test_families", "test_upgrade", "test_airgap"))
# These tests run with the usual containerd alone: they give GPUs to containers through CDI, or take long.
_USUAL = {"cluster.test_helm", "cluster.test_signals", "cluster.test_demo_torch", "cluster.test_cdi",
          "cluster.test_cgroup_v2", "cluster.test_families", "cluster.test_upgrade", "cluster.test_airgap"}


@dataclass(frozen=True)
class Combination:
    kubernetes: str
    containerd: str

    def __str__(self):
        return f"Kubernetes {self.kubernetes}, containerd {self.containerd}"

    def has(self, version):
        """Tells whether `version` means one of the two: 1.31, or 1.31.0."""
        return any(versions.begins(own, version) for own in (self.kubernetes, self.containerd))


def tests_of(combination):
    usual = combination.containerd == versions.default("containerd")
    return tuple(name for name in TESTS if usual or name not in _USUAL)


def combinations():
    usual = Combination(versions.default("kube"), versions.default("containerd"))
    every = [Combination(version, usual.containerd) for version in versions.pinned("kube")]
    every += [Combination(usual.kubernetes, version) for version in versions.pinned("containerd")]
    return [combination for combination in every if combination != usual]


def main(arguments=None):
    parser = Parser(prog="tools.matrix", description=__doc__.partition("\n")[0])
    parser.add_argument("--build", type=Path, default=Path("build/dev"), help="build directory (%(default)s)")
    parser.add_argument("--only", default="", help="the combinations with this version of either (all)")
    options = parser.parse_args(arguments)
    wanted = [each for each in combinations() if not options.only or each.has(options.only)]
    if not wanted:
        parser.error(f"--only: expected one of {'; '.join(map(str, combinations()))}, got {options.only}")
    results = {}
    for combination in wanted:
        print(f"\n== {combination}", flush=True)
        began = time.monotonic()
        names = tests_of(combination)
        failed = [name for name, passed in run_tests(options.build, combination, names).items() if not passed]
        results[combination] = f"FAILED: {', '.join(failed)}" if failed else "passed"
        results[combination] += f" ({len(names) - len(failed)} of {len(names)}, {time.monotonic() - began:.0f} s)"
    print()
    for combination, result in results.items():
        print(f"matrix: {combination}: {result}")
    return 1 if any(result.startswith("FAILED") for result in results.values()) else 0


def run_tests(build, combination, names):
    """Returns {name: whether the test passed}. A test that ctest does not know has not passed."""
    pattern = "|".join(name.replace(".", r"\.") for name in names)
    with tempfile.TemporaryDirectory(prefix="crossover-matrix-") as directory:
        report = Path(directory) / "report.xml"
        subprocess.run(["ctest", "--test-dir", str(build), "-C", "matrix", "-R", f"^({pattern})$",
                        "--output-on-failure", "--output-junit", str(report)],
                       env={**os.environ, "KUBE_VERSION": combination.kubernetes,
                            "CONTAINERD_VERSION": combination.containerd}, check=False)
        return passed(report, names)


def passed(report, names=TESTS):
    """Returns the answer of run_tests from a report of ctest's. No test has passed if there is no report."""
    states = {}
    if report.exists():
        states = {case.get("name"): case.get("status")
                  for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase")}
    return {name: states.get(name) == "run" for name in names}  # ctest's word for a test that ran and passed


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
