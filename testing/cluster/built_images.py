"""Builds the images of docker/ as `make release` does, and runs commands in them."""

import os
import subprocess

from testing.cluster.rig.versions import TREE, cache

NAMES = ("extender", "deviceplugin")


def builder():
    program = cache() / "images-1/builder/usr/bin/buildah"
    if not program.exists():
        raise FileNotFoundError(f"{program} is missing: tools/install.sh --images")
    return str(program)


class BuiltImages:
    """Holds the images that it builds from a build directory, in a folder that the caller owns."""

    def __init__(self, build, repository, version, folder):
        subprocess.run([TREE / "tools/build_images.sh", build, repository, version, folder], check=True)
        self.folder = folder
        self._repository, self._version = repository, version

    def name(self, image, tag=None):
        return f"{self._repository}/crossover-{image}:{tag or self._version}"

    def buildah(self, *words):
        """Runs buildah and returns its output. Raises AssertionError with buildah's messages if it fails."""
        command = [builder(), "--root", str(self.folder / "storage"), "--runroot", str(self.folder / "run"),
                   "--storage-driver", "vfs", *words]
        environment = {**os.environ, "BUILDAH_ISOLATION": "chroot", "XDG_RUNTIME_DIR": str(self.folder),
                       "TMPDIR": str(self.folder)}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise AssertionError(f"buildah {' '.join(words)}: {done.stderr[-2000:]}")
        return done.stdout

    def run_in(self, image, *command):
        container = self.buildah("from", "--pull-never", self.name(image)).strip()
        try:
            return self.buildah("run", container, "--", *command)
        finally:
            self.buildah("rm", container)

    def archive(self, image, tag=None):
        """Writes the image to a file that `ctr images import` reads, and returns its path. `tag` replaces the
        version."""
        file = self.folder / f"{image}-{tag or self._version}.tar"
        self.buildah("push", "--quiet", "--signature-policy", str(self.folder / "policy.json"), self.name(image),
                     f"docker-archive:{file}:{self.name(image, tag)}")
        return file
