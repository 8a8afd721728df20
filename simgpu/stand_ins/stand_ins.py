"""Makes stand-ins for NVIDIA's user-space libraries, and lays them where an installed PyTorch looks for NVIDIA's.

  python3 -m simgpu.stand_ins.stand_ins list SITE_PACKAGES          print the names that its PyTorch wants
  python3 -m simgpu.stand_ins.stand_ins generate LIST... LIBRARY C MAP write source and version script of a library
  python3 -m simgpu.stand_ins.stand_ins check SITE_PACKAGES FOLDER...  say which names the libraries in the folders lack
  python3 -m simgpu.stand_ins.stand_ins lay SITE_PACKAGES FOLDER... check, then link the libraries where it looks

Exit status: 0, 1 where a name is lacking, 2 on bad input.
"""

import argparse
import sys
from pathlib import Path

from simgpu.stand_ins import elf, generate, wanted

# The folders below SITE_PACKAGES in which PyTorch's libraries look, by their RPATH.
_HOMES = {"libcudnn.so.9": "nvidia/cudnn/lib", "libnccl.so.2": "nvidia/nccl/lib",
          "libcusparseLt.so.0": "nvidia/cusparselt/lib", "libnvshmem_host.so.3": "nvidia/nvshmem/lib"}
_HOME = "nvidia/cu13/lib"
_OF_THE_DRIVER = ("libcuda.so.1", "libnvidia-ml.so.1")  # found as ever, and not in these folders


class BadInput(Exception):
    """Says what is wrong with an argument."""


def _libraries_of(site):
    paths = sorted((site / "torch").rglob("*.so*"))
    if not paths:
        raise BadInput(f"{site}: expected a folder with an installed PyTorch (torch/lib/*.so), got none")
    return paths


def _list(arguments):
    print("# The names of NVIDIA's libraries that PyTorch leaves undefined: library, version node, symbol.")
    print(wanted.text(wanted.of_libraries(_libraries_of(arguments.site))), end="")
    return 0


def _generate(arguments):
    names = set().union(*map(wanted.read, arguments.lists))
    if arguments.library not in generate.LIBRARIES:
        raise BadInput(f"library: expected one of {', '.join(generate.LIBRARIES)}, got '{arguments.library}'")
    if not any(name.library == arguments.library for name in names):
        raise BadInput(f"{', '.join(map(str, arguments.lists))}: expected names of {arguments.library}, got none")
    arguments.source.write_text(generate.source(arguments.library, names), encoding="utf-8")
    arguments.map.write_text(generate.version_script(arguments.library, names), encoding="utf-8")
    return 0


def _lacks(names, folders):
    """Says which of `names` the libraries in `folders` lack. Returns true if there are any."""
    lacking = wanted.lacking(names, folders)
    for name in lacking:
        node = f" of version {name.version}" if name.version else ""
        print(f"stand_ins: {name.library}: PyTorch wants {name.symbol}{node}, which the stand-ins lack",
              file=sys.stderr)
    return bool(lacking)


def _check(arguments):
    return 1 if _lacks(wanted.of_libraries(_libraries_of(arguments.site)), arguments.folders) else 0


def _place(link, library):
    """Makes `link` a symbolic link to `library`. What is there must be a link, as this program makes them."""
    if link.exists() and not link.is_symlink():
        raise BadInput(f"{link}: expected no file or a link, got NVIDIA's own library: uninstall its package first")
    link.unlink(missing_ok=True)
    link.symlink_to(library.resolve())


def _lay(arguments):
    names = wanted.of_libraries(_libraries_of(arguments.site))
    if _lacks(names, arguments.folders):
        return 1
    for library in sorted({name.library for name in names}.difference(_OF_THE_DRIVER)):
        home = arguments.site / _HOMES.get(library, _HOME)
        home.mkdir(parents=True, exist_ok=True)
        _place(home / library, next(folder / library for folder in arguments.folders if (folder / library).exists()))
    return 0


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run in (("list", _list), ("check", _check), ("lay", _lay)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("site", type=Path)
        if name != "list":
            command.add_argument("folders", type=Path, nargs="+")
    command = commands.add_parser("generate")
    command.set_defaults(run=_generate)
    command.add_argument("lists", type=Path, nargs="+")
    command.add_argument("library")
    command.add_argument("source", type=Path)
    command.add_argument("map", type=Path)
    return parser


def main(words=None):
    """Runs one command. Returns the exit status."""
    arguments = _parser().parse_args(words)
    try:
        return arguments.run(arguments)
    except (BadInput, elf.NotALibrary, wanted.BadList, OSError) as error:
        print(f"stand_ins: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
