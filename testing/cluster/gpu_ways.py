"""Installs software GPUs in two ways, which are those of real GPUs: as CDI devices, or, if containerd knows no CDI,
as the node's device files and the driver's folder.
"""

import json
import os
import subprocess

LIBRARIES = "/usr/lib/software-gpu"
# This is a node's /var/run/cdi, which a node daemon in a pod has mounted. It looks for /etc/cdi under process 1, and
# that is the cluster's here.
SPECIFICATION = "/run/cdi/software-gpus.json"
_ROOT = "/usr/local/nvidia"  # where the node daemon mounts a driver_root; NVIDIA's images look for libraries there
_SHARED_FILES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")


class Cdi:
    """Installs a CDI specification on the node. It names every GPU, and what a container needs of the driver."""

    image_environment = {}

    def __init__(self, gpus):
        self._gpus = gpus

    def install(self, number, node):
        path = node.reach(SPECIFICATION)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(self._specification(number)), encoding="utf-8")

    def node_settings(self, _node):
        return {"devices": "cdi"}

    def _specification(self, number):
        state = str(self._gpus.state)
        variables = {"LD_LIBRARY_PATH": LIBRARIES, **self._gpus.variables(number)}
        mounts = [{"hostPath": str(self._gpus.driver), "containerPath": LIBRARIES, "options": ["ro", "rbind"]},
                  {"hostPath": state, "containerPath": state, "options": ["rw", "rbind"]}]
        return {"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu",
                "containerEdits": {"env": [f"{name}={value}" for name, value in variables.items()], "mounts": mounts},
                "devices": [{"name": uuid, "containerEdits": {"env": [f"CUDA_VISIBLE_DEVICES={uuid}"]}}
                            for uuid in self._gpus.uuids(number)]}


class DriverRoot:
    """Installs a driver's folder and the device files of the GPUs on each node. A container sees those GPUs whose
    device files it has. Images look for the driver where it is mounted, as NVIDIA's do.
    """

    image_environment = {"LD_LIBRARY_PATH": f"{_ROOT}/lib64", "SIMGPU_CONFIG": f"{_ROOT}/machine.yaml"}

    def __init__(self, gpus):
        self._gpus = gpus

    def install(self, number, node):
        root = self._root(node)
        (root / "lib64").mkdir(parents=True)
        for file in self._gpus.driver.iterdir():
            os.link(file, root / "lib64" / file.name)
        machine = self._gpus.machine
        (root / "machine.yaml").write_text(
            f"{machine.yaml(f'{_ROOT}/gpus/state')}node: {number}\ndevice_files: true\n", encoding="utf-8")
        node.make_device_files([*(f"nvidia{gpu}" for gpu in range(machine.gpus_per_node)), *_SHARED_FILES])
        # This is a mount of its own: it stays writable if a container has the folder around it read-only.
        (root / "gpus").mkdir()
        subprocess.run(node.enter(["mount", "--bind", str(self._gpus.state), str(root / "gpus")]), check=True)

    def node_settings(self, node):
        return {"devices": "device-nodes", "driver_root": str(self._root(node))}

    @staticmethod
    def _root(node):
        return node.directory / "driver"
