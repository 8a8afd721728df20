"""Software GPUs as a driver gives real ones to a cluster: each node's CDI specification names them, and a container
that has one finds the driver's libraries and its device. What stands for the hardware is one directory of the machine.
"""

import json
import shutil
from pathlib import Path

from tests.cluster.rig import images

CDI_KIND = "nvidia.com/gpu"
_LIBRARIES = "/usr/lib/software-gpu"
_OWN = ("libcuda.so.1", "libnccl.so.2", "libnvidia-ml.so.1")
_C_LIBRARY = ("ld-", "libc.", "libm.", "libdl.", "libpthread.", "librt.")


class SoftwareGpus:
    """Of one cluster: `machine` (benchmarks.machine) says how many GPUs its nodes have, and how they are linked."""

    def __init__(self, directory, machine, libraries):
        self.machine = machine
        self._libraries = libraries
        self._driver = Path(directory) / "software-driver"
        self._collect(libraries)
        self._state = Path(directory) / "software-gpus"
        self._state.mkdir()
        self._state.chmod(0o777)
        self._config = self._state / "machine.yaml"
        self._config.write_text(machine.yaml(self._state / "state"), encoding="utf-8")

    def _collect(self, libraries):
        """The driver's libraries with all that they need and an image may lack: whatever is not of the C library."""
        self._driver.mkdir()
        for library in (path for path in libraries.iterdir() if ".so" in path.name):
            for file in (library, *images.libraries(library, provided=_OWN)):
                if not file.name.startswith(_C_LIBRARY):
                    shutil.copy(file, self._driver / file.name)

    def install(self, number, node):
        """Write the specification of a node; `number`: among the machine's, from 0."""
        path = node.reach("/etc/cdi/software-gpus.json")
        path.write_text(json.dumps(self._specification(number)), encoding="utf-8")

    def environment(self, number):
        """Of a process on the node itself, the node daemon say."""
        return {"LD_LIBRARY_PATH": str(self._libraries), **self._variables(number)}

    def uuids(self, number):
        return [self.machine.uuid(number, gpu) for gpu in range(self.machine.gpus_per_node)]

    def say_xid(self, number, gpu, xid):
        """Have the driver of a node report an error of one of its GPUs."""
        with (self._state / "state" / "health").open("a", encoding="ascii") as health:
            health.write(f"{self.machine.uuid(number, gpu)} xid {xid}\n")

    def _variables(self, number):
        return {"SIMGPU_CONFIG": str(self._config), "SIMGPU_NODE": str(number)}

    def _specification(self, number):
        variables = {"LD_LIBRARY_PATH": _LIBRARIES, **self._variables(number)}
        mounts = [{"hostPath": str(self._driver), "containerPath": _LIBRARIES, "options": ["ro", "rbind"]},
                  {"hostPath": str(self._state), "containerPath": str(self._state), "options": ["rw", "rbind"]}]
        return {"cdiVersion": "0.6.0", "kind": CDI_KIND,
                "containerEdits": {"env": [f"{name}={value}" for name, value in variables.items()], "mounts": mounts},
                "devices": [{"name": uuid, "containerEdits": {"env": [f"CUDA_VISIBLE_DEVICES={uuid}"]}}
                            for uuid in self.uuids(number)]}
