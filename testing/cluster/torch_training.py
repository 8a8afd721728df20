"""Runs training jobs of unmodified PyTorch on a test cluster, by torchrun. They are Indexed Jobs of one pod for each
node, with one GPU. Python comes by an image, and PyTorch by a claim on a volume, as users share an environment."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

from testing import logs
from testing.cluster.pods import restricted
from testing.cluster.rig import images
from testing.cluster.rig.versions import cache
from testing.cluster.training import TrainingJob
from testing.processes import Failed

IMAGE = "crossover.test/python:1"
# The controller that binds claims to volumes, for Cluster(controllers=...).
BINDS_CLAIMS = ("--controllers", "persistentvolume-binder-controller")
_SCRIPT = "/opt/job/train.py"
_PYTORCH = "/opt/pytorch"  # the wheel's packages, read-only
_BYTECODE = "/var/cache/python"  # the first job fills it, and the others start faster
_NOT_IN_THE_IMAGE = {"site-packages", "dist-packages", "test", "idlelib", "tkinter", "__pycache__"}
# The GPU's driver and the stand-ins bring these libraries, so no image has them.
_OF_THE_GPU = ("libcu*.so.*", "libnccl.so.*", "libnv*.so.*")


def site_packages():
    """Returns the folder of the wheel and of what its import needs. Fails with a hint if it is not installed."""
    site = cache() / "torch-1" / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    if not (site / "torch").is_dir():
        raise Failed(f"no PyTorch in {site}: tools/install.sh --torch")
    return site


def load_image(cluster, script):
    """Loads an image with Python, its standard library, the libraries of the system that PyTorch needs, and a job's
    script."""
    python = (cache() / "torch-1" / "bin" / "python").resolve()
    ask = "import sysconfig; print(sysconfig.get_path('stdlib'))"
    library = Path(subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip())
    files = {"/usr/bin/python3": python, _SCRIPT: script}
    for file in library.rglob("*"):
        inside = file.relative_to(library)
        if file.is_file() and file.suffix != ".a" and not _NOT_IN_THE_IMAGE.intersection(inside.parts):
            files[f"/usr/lib/{library.name}/{inside}"] = file
    files |= {str(file): file for file in _of_the_system(site_packages())}
    cluster.image_of(IMAGE, files)


def _of_the_system(site):
    """Returns the system's libraries that PyTorch and NumPy need."""
    of_both = [*(site / "torch/lib").glob("*.so*"), *(site / "numpy/_core").glob("*.so")]
    needed = {path for library in of_both for path in images.libraries(library, _OF_THE_GPU)}
    return sorted(path for path in needed if not path.is_relative_to(site))


def make_volumes(cluster, namespace):
    """Makes the volumes of a namespace: PyTorch, which pods only read, and a place for Python's bytecode."""
    bytecode = cluster.directory / "bytecode"
    bytecode.mkdir()
    bytecode.chmod(0o777)
    for name, folder, mode in (("pytorch", site_packages(), "ReadOnlyMany"), ("bytecode", bytecode, "ReadWriteMany")):
        of_both = {"accessModes": [mode], "storageClassName": ""}
        cluster.apply({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": {
            **of_both, "capacity": {"storage": "2Gi"}, "hostPath": {"path": str(folder), "type": "Directory"}}})
        cluster.apply({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
                       "metadata": {"name": name, "namespace": namespace},
                       "spec": {**of_both, "volumeName": name, "resources": {"requests": {"storage": "2Gi"}}}})


class TorchJob(TrainingJob):
    """A TorchJob is one job of `ranks` pods, each with one GPU: its Indexed Job, and the service of its first pod."""

    patience_s = 400.0  # importing PyTorch alone takes seconds of a core for each process

    def pod_spec(self):
        """Returns the specification of each pod. torchrun takes its options from variables, as Kubeflow gives them."""
        command = ["/usr/bin/python3", "-m", "torch.distributed.run", _SCRIPT, f"--steps={self._job.iterations}",
                   f"--seed={self._job.seed}"]
        spec = restricted(self.name, IMAGE, command)["spec"]
        claims = {"pytorch": _PYTORCH, "bytecode": _BYTECODE}
        spec["volumes"] = [{"name": "tmp", "emptyDir": {}}, *({"name": name, "persistentVolumeClaim": {
            "claimName": name, "readOnly": name == "pytorch"}} for name in claims)]
        address, port = self.first
        spec["containers"][0] |= {
            "resources": {"limits": {"nvidia.com/gpu": "1"}},
            "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"},
                             *({"name": name, "mountPath": path, "readOnly": name == "pytorch"}
                               for name, path in claims.items())],
            "env": self.variables("PET_NODE_RANK", {
                "PET_NNODES": str(self._ranks), "PET_NPROC_PER_NODE": "1", "PET_MASTER_ADDR": address,
                "PET_MASTER_PORT": port, "PYTHONPATH": _PYTORCH, "PYTHONPYCACHEPREFIX": _BYTECODE,
                "OMP_NUM_THREADS": "1", "HOME": "/tmp"})}
        return spec

    def parse(self, lines):
        return rank_log(lines)


def rank_log(lines):
    """Returns the log of a rank from the lines of examples/pytorch/train.py. Its digest is over what the script says
    of losses and batches. The time without exchange stands for the compute of each step."""
    entries = [json.loads(line) for line in lines]
    steps, ends = ([entry for entry in entries if key in entry] for key in ("step", "steps"))
    if len(ends) != 1 or len(steps) != ends[0]["steps"]:
        raise ValueError(f"a rank's log: expected {ends[0]['steps'] if ends else 'all'} steps and one end, got "
                         f"{len(steps)} steps and {len(ends)} ends")
    compute_ns = round(ends[0]["local_step_ns"])
    iterations = tuple(logs.Iteration(entry["step"], entry["began_ns"], entry["ended_ns"], compute_ns, said(entry))
                       for entry in steps)
    digest = hashlib.sha256("\n".join(i.loss for i in iterations).encode()).hexdigest()
    return logs.RankLog(ends[0]["rank"], iterations, {"losses_digest": digest})


def said(entry):
    """Returns what a step's line says besides times."""
    return json.dumps({key: entry[key] for key in ("step", "loss", "mean_token") if key in entry})
