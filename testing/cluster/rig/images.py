"""Makes container images without a registry: archives of one layer, as `docker save` writes them, from local files."""

import fnmatch
import hashlib
import io
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

USER = 65532  # the user that images without a shell commonly call nonroot
_ACCOUNTS = {"/etc/passwd": f"root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:{USER}:{USER}:nonroot:/:/sbin/nologin\n",
             "/etc/group": f"root:x:0:\nnonroot:x:{USER}:\n", "/etc/nsswitch.conf": "hosts: files dns\n"}
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def architecture():
    """Returns the name of this machine's architecture in images, in Debian and in Kubernetes."""
    return _ARCHITECTURES.get(os.uname().machine, os.uname().machine)


def image_of(archive, name, files, command=(), user=USER, provided=(), environment=None):
    """Writes an image and returns its path. `files` is {path in the image: local file or folder}. Programs bring their
    shared libraries, except those in `provided`, which come from elsewhere, such as a device."""
    everything = {}
    for inside, source in files.items():
        everything.update(_tree(inside, Path(source)))
    for source in list(everything.values()):
        everything.update({str(library): library for library in libraries(source, provided)})
    layer = _layer({**_ACCOUNTS, **everything})
    digest = hashlib.sha256(layer).hexdigest()
    config = json.dumps({
        "architecture": architecture(), "os": "linux",
        "created": "1970-01-01T00:00:00Z",
        "config": {"Cmd": list(command), "User": f"{user}:{user}", "WorkingDir": "/",
                   "Env": [f"{key}={value}" for key, value in {**_ENVIRONMENT, **(environment or {})}.items()]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
        "history": [{"created": "1970-01-01T00:00:00Z"}]}).encode()
    config_name = f"{hashlib.sha256(config).hexdigest()}.json"
    manifest = [{"Config": config_name, "RepoTags": [name], "Layers": [f"{digest}/layer.tar"]}]
    with tarfile.open(archive, "w", format=tarfile.GNU_FORMAT) as tar:
        _put(tar, f"{digest}/layer.tar", layer)
        _put(tar, config_name, config)
        _put(tar, "manifest.json", json.dumps(manifest).encode())
    return archive


def libraries(program, provided=()):
    """Returns the shared libraries of a program or library, the loader among them. A static program and other files
    have none. `provided` are patterns of names that may be missing here."""
    with open(program, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return []
    listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True, check=False).stdout
    missing = [name for name in re.findall(r"(\S+) => not found", listing)
               if not any(fnmatch.fnmatch(name, pattern) for pattern in provided)]
    if missing:
        raise FileNotFoundError(f"{program}: {listing.strip()}")
    # ldd prints "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x...)" and "/lib64/ld-linux-x86-64.so.2 (0x...)".
    return [Path(path) for path in re.findall(r"(?:=>\s+|^\s+)(/\S+) \(0x", listing, re.MULTILINE)]


def _tree(inside, source):
    """Returns {path in the image: local file} for a file, or for all files of a folder."""
    if not source.is_dir():
        return {inside: source}
    return {f"{inside}/{file.relative_to(source)}": file for file in source.rglob("*") if file.is_file()}


def _layer(files):
    """Returns a tar of files, from text or from their source. It follows links: their targets may not be in the
    layer."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder in ("tmp", "etc"):
            _put(tar, folder, None, 0o1777 if folder == "tmp" else 0o755)
        for inside, source in sorted(files.items()):
            content = source.encode() if isinstance(source, str) else source.read_bytes()
            executable = not isinstance(source, str) and os.access(source, os.X_OK)
            _put(tar, inside.lstrip("/"), content, 0o755 if executable or ".so" in inside else 0o644)
    return buffer.getvalue()


def _put(tar, name, content, mode=0o644):
    """Adds a file, or a folder if there is no content. Owner and times are fixed, so that equal images have equal
    bytes."""
    entry = tarfile.TarInfo(name)
    entry.mode = mode
    if content is None:
        entry.type = tarfile.DIRTYPE
        tar.addfile(entry)
    else:
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
