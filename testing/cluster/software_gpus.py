"""Gives software GPUs to a cluster as a driver gives real ones. A container with a GPU finds the driver's libraries and
its device, by the way that the nodes' containerd knows (gpu_ways.py). One directory of the machine stands for the
hardware.
"""

import shutil

from testing.cluster import gpu_ways
from testing.cluster.rig import images

_OWN = ("libcuda.so.1", "libnccl.so.2", "libnvidia-ml.so.1")
_C_LIBRARY = ("ld-", "libc.", "libm.", "libdl.", "libpthread.", "librt.")


class SoftwareGpus:
    """Holds the software GPUs of one cluster. `machine` (testing.machine) says how many GPUs its nodes have and how
    they are linked. `libraries` is the folder of the driver's libraries, `also` those of more that containers are to
    find with them. Create it before the images that use it."""

    def __init__(self, cluster, machine, libraries, also=()):
        self.machine = machine
        self._libraries = libraries
        self.driver = cluster.directory / "software-driver"  # the libraries that containers must find
        self.driver.mkdir()
        for folder in (libraries, *also):
            self._collect(folder)
        self.state = cluster.directory / "software-gpus"
        self.state.mkdir()
        self.state.chmod(0o777)
        self.of_node_processes = {}  # more variables for processes on the nodes themselves
        self._config = self.state / "machine.yaml"
        self._config.write_text(machine.yaml(self.state / "state"), encoding="utf-8")
        self._way = (gpu_ways.Cdi if cluster.has_cdi else gpu_ways.DriverRoot)(self)
        cluster.image_environment.update(self._way.image_environment)

    def _collect(self, libraries):
        """Copies libraries with all that they need and an image may lack. The C library stays out."""
        for library in (path for path in libraries.iterdir() if ".so" in path.name):
            for file in (library, *images.libraries(library, provided=_OWN)):
                if not file.name.startswith(_C_LIBRARY):
                    shutil.copy(file, self.driver / file.name)

    def install(self, number, node):
        """Installs the driver on a node. `number` counts the machine's nodes from 0. A node in a virtual machine has
        hardware of its own: what `say_xid` says does not reach it."""
        node.keep_in_memory(self.state)
        self._way.install(number, node)

    def node_settings(self, node):
        """Returns the settings by which the node's daemon gives GPUs to containers."""
        return self._way.node_settings(node)

    def environment(self, number):
        """Returns the environment of a process on the node itself, such as the node daemon."""
        return {"LD_LIBRARY_PATH": str(self._libraries), **self.variables(number), **self.of_node_processes}

    def uuids(self, number):
        return [self.machine.uuid(number, gpu) for gpu in range(self.machine.gpus_per_node)]

    def say_xid(self, number, gpu, xid):
        """Makes the driver of a node report an error of one of its GPUs."""
        with (self.state / "state" / "health").open("a", encoding="ascii") as health:
            health.write(f"{self.machine.uuid(number, gpu)} xid {xid}\n")

    def variables(self, number):
        """Returns the variables by which the driver finds the machine, for a process that sees all of its files."""
        return {"SIMGPU_CONFIG": str(self._config), "SIMGPU_NODE": str(number)}
