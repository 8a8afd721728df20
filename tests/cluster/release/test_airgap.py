"""Tests the installation of a release on a cluster that reaches nothing but registries on its nodes' loopback. The
archive for closed networks, the signatures beside it and the public key are all that is carried to it.
"""

import contextlib
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from testing import pairs, registry
from testing.cluster.release import NAMESPACE, Release
from testing.cluster.rig import Cluster
from testing.cluster.rig.images import image_of
from testing.cluster.software_gpus import SoftwareGpus
from testing.cluster.training import TrainingJob, load_image, plain_digests, wait_until_learnt
from testing.commands import Build
from testing.processes import Failed, dying_with_parent
from tests.cluster.turns import turn_orders
from tools.packages.pins import ARCHITECTURES
from tools.trust import files, known_bad, tools
from tools.refused import Refused

_PORT = 5000
_REGISTRY = f"127.0.0.1:{_PORT}"
_REPOSITORY = f"{_REGISTRY}/team"
_TEAM, _KEY = "team", "digits"
_MARK = "crossover-airgap-test"
_SHAPE = pairs.Shape(0.6, compute_ms=20.0, iterations=150, warm_up=40)
_TREE = Path(__file__).resolve().parents[3]


class Carried:
    """Holds what was carried to the cluster: the archive, signatures and the key, in a folder that the caller owns."""

    def __init__(self, folder):
        makers = folder / "makers"
        makers.mkdir()
        made = known_bad.Release(makers, _REPOSITORY)
        made.finish()
        self.version = made.version
        self.folder = folder / "carried"
        self.folder.mkdir()
        name = files.for_closed_networks(self.version)
        for file in (name, *(each for each in files.names(made.dist) if each.endswith(files.SIGNATURE))):
            shutil.move(made.dist / file, self.folder / file)
        self.key = shutil.copy(made.public, self.folder)
        shutil.rmtree(makers)
        self.archive = self.folder / name
        self.dist = self.folder / f"crossover-{self.version}"
        self.layouts = self.folder / "layouts"

    def verify_and_unpack(self):
        """Does as docs/install.md says, without a network. Returns what was printed. Raises Failed where a part is
        refused."""
        said = self.verify()
        _run(["tar", "-C", self.folder, "-xf", self.archive])
        for signature in self.folder.glob(f"*{files.SIGNATURE}"):
            shutil.copy(signature, self.dist)
        said += _run(["python3", "-B", "-m", "tools.verify_release", self.dist, self.key, "--layouts", self.layouts])
        return said

    def verify(self):
        """Verifies the archive itself. Raises Failed where it is refused."""
        return _run([tools.program("cosign"), "verify-blob", "--key", self.key, "--bundle",
                     f"{self.archive}{files.SIGNATURE}", "--insecure-ignore-tlog=true", self.archive])

    def images(self):
        """Returns the names of the list of images, each with its file, or "-" where it comes from elsewhere."""
        text = (self.dist / files.list_of_images(self.version)).read_text(encoding="utf-8")
        return dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))


def _run(command):
    done = subprocess.run(["unshare", "--net", *map(str, command)], cwd=_TREE, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise Failed(f"{command[0]}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    return done.stdout + done.stderr


class FromTheArchive(Release):
    """A Release that is installed from the registry on loopback."""

    def __init__(self, cluster, build, gpus, version):
        super().__init__(cluster, build, gpus)
        self._version = version

    def values(self):
        values = super().values()
        for part in ("deviceplugin", "extender"):
            del values[part]["image"]  # the chart names its images
        values["scheduler"] = {"image": {"repository": f"{_REGISTRY}/kube-scheduler"}}
        return values | {"mps": values["mps"] | {"enabled": True}}

    def install(self, **_changed):
        return self.helm("install", "crossover", f"oci://{_REPOSITORY}/crossover", "--version", self._version,
                         "--plain-http", "--namespace", NAMESPACE, "--wait", "--timeout", "180s", values=self.values())


class AirGap(unittest.TestCase):
    """Its tests are the steps of one story, in the order of their names."""

    CARRIED = Carried

    @classmethod
    def setUpClass(cls):
        cls.build = build = Build(Path(os.environ["BUILD"]))
        folder = tempfile.TemporaryDirectory(prefix="crossover-airgap-")
        cls.addClassCleanup(folder.cleanup)
        try:
            cls.carried = cls.CARRIED(Path(folder.name))
        except Refused as refused:
            raise Failed(str(refused)) from refused
        cls.cluster = Cluster(service_routing=True)
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.places = [cls.cluster, *cls.cluster.nodes]
        for place in cls.places:
            stack.enter_context(registry.serving(_PORT, lambda command, place=place: place.enter(command, ("net",))))
        cls.gpus = SoftwareGpus(cls.cluster, _SHAPE.machine(), build.gpu_libraries)
        cls.release = FromTheArchive(cls.cluster, build, cls.gpus, cls.carried.version)
        cls.cluster.namespace(NAMESPACE, enforce="privileged")
        cls.release.install_drivers()
        cls.cluster.namespace(_TEAM)
        load_image(cls.cluster, build, Path(os.environ["TRAINER_DATA"]))

    def run_on(self, place, *command):
        """Runs a program where a node is, and returns what it prints."""
        done = subprocess.run(dying_with_parent(place.enter([*map(str, command)], ("net",))), capture_output=True,
                              text=True, check=False, env={**os.environ, "HOME": str(self.carried.folder)})
        self.assertEqual(done.returncode, 0, f"{command}: {done.stderr[-2000:]}")
        return done.stdout

    def test_1_the_archive_is_verified(self):
        said = self.carried.verify_and_unpack()
        self.assertIn("Verified OK", said)
        self.assertIn("No transparency log was asked", said)
        self.assertNotIn("REFUSED", said)

    def test_2_the_registries_get_what_the_list_names(self):
        cosign, version = tools.program("cosign"), self.carried.version
        kube = self.cluster.setup.programs.kube_version
        scheduler = image_of(self.carried.folder / "kube-scheduler.tar", f"{_REGISTRY}/kube-scheduler:v{kube}",
                             {"/usr/bin/kube-scheduler": self.cluster.setup.programs.path("kube-scheduler")})
        listed = self.carried.images()
        self.assertEqual({name for name, file in listed.items() if file == "-"},
                         {"registry.k8s.io/kube-scheduler:vVERSION"})
        for place in self.places:
            for name in ("deviceplugin", "extender"):
                self.run_on(place, cosign, "load", "--dir", self.carried.layouts / f"crossover-{name}-{version}",
                            f"{_REPOSITORY}/crossover-{name}:{version}")
                self.run_on(place, cosign, "verify", "--key", self.carried.key, "--insecure-ignore-tlog=true",
                            f"{_REPOSITORY}/crossover-{name}:{version}")
            for name, architecture in ((name, each) for name in files.IMAGES for each in ARCHITECTURES):
                self.run_on(place, cosign, "load", "--dir",
                            self.carried.layouts / f"crossover-{name}-{version}-{architecture}",
                            f"{_REPOSITORY}/crossover-{name}:{version}-{architecture}")
            self.run_on(place, registry.crane(), "push", scheduler, f"{_REGISTRY}/kube-scheduler:v{kube}")
        self.run_on(self.cluster, cosign, "load", "--dir", self.carried.layouts / f"crossover-chart-{version}",
                    f"{_REPOSITORY}/crossover:{version}")
        for name, file in listed.items():
            if file != "-":
                found = self.run_on(self.cluster, registry.crane(), "digest", name.partition("@")[0] + f":{version}")
                self.assertEqual(found.strip(), name.partition("@")[2], "the digest that the chart names")

    def test_3_it_is_installed_by_digest(self):
        self.release.install()
        self.assertEqual(self.release.unready(), [])
        self.release.wait_for_slots()

    def test_4_no_image_is_pulled_that_the_list_lacks(self):
        named = {container["image"] for pod in self.cluster.get("pods", namespace=NAMESPACE)
                 for kind in ("containers", "initContainers") for container in pod["spec"].get(kind, ())}
        kube = self.cluster.setup.programs.kube_version
        ours = {name for name, file in self.carried.images().items() if file != "-"}
        self.assertEqual(named, ours | {f"{_REGISTRY}/kube-scheduler:v{kube}"})
        # The nodes' own words: what they pulled, by event.
        pulled = {event["message"].split('"')[1] for event in self.cluster.get("events", namespace=NAMESPACE)
                  if event["reason"] == "Pulled" and event["message"].startswith("Successfully pulled")}
        self.assertEqual(pulled, named)

    def test_5_two_jobs_take_turns(self):
        alone = self.job("alone", 1)
        alone.create()
        found = alone.finish()
        wait_until_learnt(self.cluster, _TEAM, _KEY)
        jobs = [self.job(name, seed) for seed, name in enumerate(("alpha", "beta"), 1)]
        for job in jobs:
            job.create()
        both = [job.finish() for job in jobs]
        digests = plain_digests(self.build, _SHAPE, _MARK)
        self.assertEqual([found.digest, *(each.digest for each in both)], [digests[0], *digests])
        gangs = {f"{_TEAM}/alpha", f"{_TEAM}/beta"}
        self.assertTrue(self.release.in_turns(turn_orders.alternate, gangs), self.release.said())
        self.assertFalse(self.release.in_turns(turn_orders.alternate, {f"{_TEAM}/alone"}), "the control")

    def job(self, name, seed):
        return TrainingJob(self.cluster, _TEAM, _SHAPE.job(name, seed), self.gpus.machine.ranks,
                           by_hand=False, annotations={"crossover.dev/profile-key": _KEY})


if __name__ == "__main__":
    unittest.main()
