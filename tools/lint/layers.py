"""Checks the house rules that a compiler does not know: which files may include which, and what product code may not
name.

Includes point down (docs/architecture.md). A folder not listed in LAYERS may include anything, but no folders of the
product include each other in a circle.
"""

import re
import sys

import tree

# Each folder has the folders of the tree that its files may include. The longest matching folder counts. No other
# folder of the product may include shrink: the default library is shown not to contain it.
LAYERS = {
    "proto": ["proto"],
    "common/base": ["common/base"],
    "common": ["common", "proto"],
    "turn": ["turn", "proto", "common/base"],
    "sidecar": ["sidecar", "turn", "common/base", "proto"],
    "deviceplugin/arbiter": ["deviceplugin/arbiter", "turn", "common/base", "proto"],
    "deviceplugin": ["deviceplugin", "turn", "common", "proto"],
    "extender/placement": ["extender/placement", "common/base", "common/gains", "common/text"],
    "extender": ["extender", "common", "proto"],
    "pipeline": ["pipeline", "common/base"],
    "shrink": ["shrink", "common/base", "proto"],
    # Two libraries in front of NCCL find it in the same way, and say what they have to say in the same form.
    "shrink/library": ["shrink", "sidecar/hooks", "sidecar/log", "common/base", "proto"],
    "cli": ["cli", "pipeline", "common", "proto"],
    "simgpu": ["simgpu", "common/base"],
    "examples/reductions": ["examples/reductions", "shrink/codec"],
    "examples": ["examples", "pipeline", "common/base", "simgpu/include"],
}
PRODUCT = ("proto/", "common/", "turn/", "sidecar/", "deviceplugin/", "extender/", "pipeline/", "shrink/",
           "cli/")

# A layer may not include these system headers, for the reason given.
LIBRARIES = r"(grpc|prometheus|yaml-cpp|spdlog|fmt|CLI|nlohmann|simdjson|google|cpprest|boost)/"
IMPURE = r"(thread|mutex|chrono|iostream|fstream|future|condition_variable|unistd\.h|time\.h|sys/.*|cuda.*)$"
BANNED = {
    "turn": (IMPURE, "turn is pure: no clock, no I/O, no threads"),
    "extender/placement": (LIBRARIES + "|" + IMPURE, "placement is pure: no clock, no I/O, no threads"),
    "pipeline": (IMPURE, "pipeline is pure: no clock, no I/O, no threads"),
    "shrink/codec": (LIBRARIES + "|" + IMPURE, "the codecs are pure: no clock, no I/O, no threads"),
    "sidecar": (LIBRARIES + "|(iostream|fstream|regex|locale)$",
                "the library lives in users' processes: it links nothing but libc"),
    "shrink": (LIBRARIES + "|(iostream|fstream|regex|locale)$",
               "the library lives in users' processes: it links nothing but libc"),
    "shrink/vote": (LIBRARIES + "|" + IMPURE, "the vote is pure: no clock, no I/O, no threads"),
    "deviceplugin/arbiter": (LIBRARIES, "the arbiter core needs only libc and libstdc++"),
    "deviceplugin/stats": (LIBRARIES, "the statistics need only libc and libstdc++"),
}
# These files may include what is generated from a .proto ("proto/x.pb.h"), and gRPC (its headers, "proto/x.grpc.pb.h").
# Both are heavy, and tie their users to libraries.
PROTOBUF_USERS = ("deviceplugin/rpc/", "deviceplugin/plugin/", "deviceplugin/profiles/", "cli/", "tests/")
GRPC_USERS = re.compile(
    r"(deviceplugin/(rpc|plugin)/(.*\.cc|service\.h)|cli/node/.*\.cc|"
    r"tests/(unit/.*/plugin_test|cluster/programs/other_plugin)\.cc)$")
GENERATED = re.compile(r"(\.grpc)?\.pb\.h$")
MAIN_LINES = 50


def folder_of(path, folders):
    matching = [f for f in folders if path.startswith(f + "/")]
    return max(matching, key=len, default=None)


def check_includes(path):
    layer = folder_of(path, LAYERS)
    banned = BANNED.get(folder_of(path, BANNED))
    for quote, name, line in tree.includes(path):
        generated = GENERATED.search(name) and (tree.ROOT / GENERATED.sub(".proto", name)).is_file()
        in_tree = generated or (tree.ROOT / name).is_file()
        beside = path.startswith("tests/") and ((tree.ROOT / path).parent / name).is_file()
        if quote == '"' and not in_tree and not beside:
            yield line, f'"{name}" is not a path from the top of the tree'
        if in_tree and layer and not name.startswith(tuple(f + "/" for f in LAYERS[layer])):
            yield line, f"{layer} may not include {name}: only {', '.join(LAYERS[layer])}"
        if banned and quote == "<" and re.match(banned[0], name):
            yield line, f"<{name}>: {banned[1]}"
        if generated and not path.startswith(PROTOBUF_USERS):
            yield line, f"{name}: only {', '.join(PROTOBUF_USERS)} may include generated messages"
        if (name.endswith(".grpc.pb.h") or name.startswith(("grpc/", "grpcpp/"))) and not GRPC_USERS.match(path):
            yield line, f"{name}: gRPC's headers stay behind deviceplugin/rpc, deviceplugin/plugin and cli/node"


def check_text(path):
    text = tree.read(path)
    if path.startswith(PRODUCT):
        for number, line in enumerate(text.splitlines(), 1):
            if "simgpu" in line.lower():
                yield number, "product code does not name the software GPU"
    if path.endswith(".h") and "#pragma once" not in text and not re.search(r"^#ifndef \w+_H_?$", text, re.MULTILINE):
        yield 1, "a header without #pragma once (in C headers: an include guard NAME_H)"
    if path.startswith(PRODUCT) and path.endswith("/main.cc") and text.count("\n") > MAIN_LINES:
        yield MAIN_LINES + 1, f"main.cc has over {MAIN_LINES} lines: put the work into a library that tests can call"


def folder_edges(paths):
    """Returns {(folder, folder that it includes): the first include, as path:line}, for folders of the product."""
    edges = {}
    for path in paths:
        for _, name, line in tree.includes(path):
            ends = tuple(each.rpartition("/")[0] for each in (path, name))
            if ends[0] != ends[1] and all(each.startswith(PRODUCT) for each in (path, name)):
                edges.setdefault(ends, f"{path}:{line}")
    return edges


def circles(edges):
    """Returns the groups of folders that include each other, directly or not, each as a sorted list. `edges` holds
    pairs (folder, folder that it includes)."""
    below = {}
    for upper, lower in edges:
        below.setdefault(upper, set()).add(lower)

    def reached(folder):
        seen, todo = set(), [folder]
        while todo:
            new = below.get(todo.pop(), set()) - seen
            seen |= new
            todo += new
        return seen

    all_below = {folder: reached(folder) for folder in below}
    groups = {tuple(sorted(other for other in all_below if other in all_below[folder] and folder in all_below[other]))
              for folder in all_below if folder in all_below[folder]}
    return [list(group) for group in sorted(groups)]


def complaints_of_circles(edges, verb):
    """Yields one complaint for each circle of folders. It names an include or import of each edge within the circle."""
    for circle in circles(edges):
        within = [f"{where} {verb} {lower}" for (upper, lower), where in sorted(edges.items())
                  if upper in circle and lower in circle]
        yield circle[0], 1, f"expected no circle of folders, got {', '.join(circle)}: {'; '.join(within)}"


def main():
    sources = tree.files(".h", ".cc", ".c", ".S", ".def", ".cu")
    complaints = [(path, *c) for path in sources for c in check_includes(path)]
    texts = sources + [f for f in tree.files("CMakeLists.txt") if f.startswith(PRODUCT)]
    complaints += [(path, *c) for path in texts for c in check_text(path)]
    complaints += complaints_of_circles(folder_edges(sources), "includes")
    for path, line, text in complaints:
        print(f"{path}:{line}: {text}", file=sys.stderr)
    print(f"layers: {len(texts)} files, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
