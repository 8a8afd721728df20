"""Plays the suite for real GPUs (benchmarks/gpu/run) on machines that lack something (suite_stage.py). Each lack
says which lines the table must have all the same, and which must say why they have no value. Beside that, each figure
that a part has promised has a line. `faults_of` judges a table. It is pure.
"""

import contextlib
import os
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.gpu import first, suite
from benchmarks.quality.suite_stage import Stage
from benchmarks.runner import kept, revisions

_CONTROL = "nvidia-cuda-mps-control"
_UNPRIVILEGED = 65534
_CONTEXTS = 4


@dataclass(frozen=True)
class First:
    """Says what a table of the first ten minutes must have: `measured` and `says` as a Lack has them, and patterns of
    what it must say that the answers mean."""

    measured: tuple = ()
    says: tuple = ()
    means: tuple = ()


@dataclass(frozen=True)
class Lack:
    """Describes what a machine lacks. `arrange(stage)` takes it from a stage. `measured` lists (figure, start of the
    case) of lines that must have a value. `says` lists (figure, start of the case, pattern) of lines that must have
    none, and a reason like the pattern. `also(stage)` returns what else is wrong. `builds`: the suite builds first.
    `first`: the first ten minutes are played there, too, in a run of their own."""

    name: str
    what: str
    parts: tuple
    arrange: object
    measured: tuple = ()
    says: tuple = ()
    also: object = lambda stage: []
    builds: bool = False
    newer: tuple = ()  # those of `parts` that an older suite does not have, or is not asked, with their figures
    first: First = None

    def for_older(self):
        """Returns the same for a suite without the newer parts."""
        def kept_of(lines):
            return tuple(line for line in lines if line[0] not in self.newer)
        return replace(self, parts=tuple(part for part in self.parts if part not in self.newer),
                       measured=kept_of(self.measured), says=kept_of(self.says), first=None)

    def in_first(self):
        """Returns the same for the first ten minutes."""
        return replace(self, parts=tuple(question.part.name for question in first.QUESTIONS),
                       measured=self.first.measured, says=self.first.says)


@dataclass
class Outcome:
    faults: list
    said: str = ""


def play(lack, build, tree=revisions.TOP, newer=True):
    """Runs the suite of `tree` on a machine with this lack. `newer`: it has this tree's parts and knows --limit.
    Returns an Outcome."""
    if not newer:
        lack = lack.for_older()
    with Stage(build) as stage:
        lack.arrange(stage)
        stage.arguments += [] if lack.builds else ["--no-build"]
        if not newer and "--limit" in stage.arguments:
            place = stage.arguments.index("--limit")
            del stage.arguments[place:place + 2]
        if stage.user is not None:
            tree = _copy_of(tree, stage.top / "tree")
        code, said = stage.run(tree, lack.parts)
        faults = faults_of(lack, code, said, *_found_in(stage.out), _promises(lack.parts) if newer else {})
        faults += lack.also(stage)
        if lack.first:
            more, more_said = _play_first(lack, stage, tree)
            faults, said = faults + [f"first: {fault}" for fault in more], said + more_said
        return Outcome(faults, said)


def _play_first(lack, stage, tree):
    """Runs the first ten minutes on a stage. Returns (faults, what the run said)."""
    out = stage.out / first.NAME
    out.mkdir()
    out.chmod(0o777)
    code, said = stage.run(tree, (first.NAME,), out)
    table, entries = _found_in(out)
    within = lack.in_first()
    return faults_of(within, code, said, table, entries, _promises(within.parts)) + [
        f"the table does not say '{pattern}'" for pattern in lack.first.means if not re.search(pattern, table)], said


def _found_in(out):
    """Returns the table in a folder, and its lines."""
    return _text(out / "table.txt"), kept.newest(_text(out / "gpu.jsonl").splitlines())


def _promises(parts):
    """Returns {part: the figures of which it has promised a line}."""
    return {part.name: tuple(promise.name for promise in part.promises) for part in suite.PARTS if part.name in parts}


def faults_of(lack, code, said, table, entries, promises=()):
    """Returns in words what a table lacks to be whole. Pure."""
    faults = [] if code in (0, 1) else [f"the run ended with {code}"]
    if "Traceback (most recent call last)" in re.sub(r"ended with 1: Traceback.*", "", said):
        faults.append("the suite met a fault of its own")
    faults += [f"{part}: the table does not say what became of it" for part in lack.parts
               if not re.search(rf"^{part}: ", table, re.M)]
    for figure, case in lack.measured:
        if not any(line["value"] is not None for line in _lines(entries, figure, case)):
            faults.append(f"{figure} {case}: expected a value, got none")
    for figure, case, pattern in lack.says:
        reasons = [_reason(line) for line in _lines(entries, figure, case) if line["value"] is None]
        if not any(re.search(pattern, reason) for reason in reasons):
            faults.append(f"{figure} {case}: expected a line with the reason '{pattern}', got {reasons or 'no line'}")
    return faults + _broken(dict(promises), table, entries)


def _broken(promises, table, entries):
    """Lists the promises that were not kept. A part that ended early owes each figure a line that says so, also where
    it has given other cases of it."""
    faults = []
    for part, figures in promises.items():
        outcome = re.search(rf"^{part}: (.*)$", table, re.M)
        early = outcome and re.match("in part|not run|not asked", outcome[1])
        case = f"not_measured_by_{part}" if early else ""
        faults += [f"{part}: expected a line {figure} {case}".rstrip() + ", got none" for figure in figures
                   if not _lines(entries, figure, case)]
    return faults


def _lines(entries, figure, case):
    return [entry for entry in entries if entry["figure"] == figure and entry["case"].startswith(case)]


def _reason(entry):
    remarks = entry.get("remarks", {})
    return " ".join(str(remarks.get(key, "")) for key in ("reason", "refused", "condition"))


def _text(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _copy_of(tree, target):
    """Copies what the suite needs to a place that every user may read."""
    for name in ("benchmarks", "testing", "examples/data"):
        if (tree / name).exists():  # a suite of an older revision needs no `testing`
            shutil.copytree(tree / name, target / name, ignore=shutil.ignore_patterns("results", "__pycache__"))
    for path in (target, *target.rglob("*")):
        path.chmod(0o755)
    return target


def tree_of(revision):
    """Returns a context whose value is a directory with the suite of an older revision."""
    return revisions.tree_of(revision, "benchmarks", "examples/data")


def _no_mps_programs(stage):
    (stage.build / "bin" / _CONTROL).unlink()


def _no_jit(stage):
    stage.drive_by("jit")


def _server_cannot_start(stage):
    """Puts a control daemon there whose servers cannot start: it is told so before its socket is where clients look."""
    real = stage.real / "bin" / _CONTROL
    stage.script(stage.build / "bin" / _CONTROL, f"""
[ "$1" = -f ] || exec {real} "$@"
hidden="$CUDA_MPS_PIPE_DIRECTORY/hidden"
mkdir "$hidden"
CUDA_MPS_PIPE_DIRECTORY="$hidden" {real} "$@" &
daemon=$!
trap 'kill $daemon' TERM
until [ -S "$hidden/control" ]; do sleep 0.01; done
echo simgpu_servers fail | CUDA_MPS_PIPE_DIRECTORY="$hidden" {real}
ln -s hidden/control "$CUDA_MPS_PIPE_DIRECTORY/control"
wait $daemon""")


def _multi_user_refused(stage):
    """Puts a control daemon there that prints its help for what it does not know, as the driver 555's does for -M."""
    real = stage.real / "bin" / _CONTROL
    stage.script(stage.build / "bin" / _CONTROL, f"""
for option in "$@"; do
  case $option in
  -f | -d) ;;
  *) echo "usage: nvidia-cuda-mps-control [-d|-f]" && exit 1 ;;
  esac
done
exec {real} "$@\"""")


def _private_home(stage):
    stage.top.chmod(0o700)


def _little_memory(stage):
    places = stage.top / "contexts"
    places.mkdir()
    for number in range(_CONTEXTS):
        (places / str(number)).touch()
    stage.drive_by("memory")
    stage.environment["GPU_SUITE_CONTEXTS"] = str(places)


def _daemon_runs(stage):
    """Starts a control daemon at the place where programs find it, in a mount namespace. It notes at last which servers
    it has started for clients."""
    real, default = stage.real / "bin" / _CONTROL, Path("/tmp/nvidia-mps")
    with contextlib.suppress(FileExistsError):
        default.mkdir()
        stage.made = default
    script = stage.script(stage.bin / "beside-a-daemon", f"""
mount --make-rprivate / && mount -t tmpfs tmpfs {default} && {real} -d || exit 3
"$@"
code=$?
echo get_server_list | {real} >{stage.out}/servers
echo quit | {real}
exit $code""")
    stage.around = ["unshare", "--mount", str(script)]
    stage.environment["CUDA_MPS_PIPE_DIRECTORY"] = str(default)


def _met_the_daemon(stage):
    servers, table = _text(stage.out / "servers").split(), _text(stage.out / "table.txt")
    return [f"programs met the machine's own daemon: servers {servers}"] * bool(servers) + [
        "the table does not name the daemon"] * ("a control daemon runs already" not in table)


def _no_toolkit(stage):
    stage.script(stage.bin / "cmake", 'echo "CMake Error: cuda.h not found: set CUDA_HOME" && exit 1')
    stage.environment["PATH"] = f"{stage.bin}:/usr/bin:/bin:/usr/sbin:/sbin"


def _no_pytorch(stage):
    stage.arguments += ["--python", str(stage.script(stage.bin / "bare-python", f'exec {sys.executable} -I -S "$@"'))]


def _no_nccl(stage):
    """Puts a PyTorch there that says what a real one says of itself, and has no NCCL."""
    package = stage.top / "packages" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import types\n__version__ = '2.11.0'\nversion = types.SimpleNamespace(cuda='13.0')\n"
        "cuda = types.SimpleNamespace(is_available=lambda: True)\n", encoding="utf-8")
    (package / "distributed.py").touch()
    stage.arguments += ["--python", str(stage.script(
        stage.bin / "python-with-torch", f'PYTHONPATH={package.parent} exec {sys.executable} -B "$@"'))]


def _not_root(stage):
    stage.copy()
    stage.user = _UNPRIVILEGED if os.getuid() == 0 else None


def _reaches_its_limit(stage):
    """Puts a probe there that does not end: at once in `queues`, and in the middle of the cases of `words`."""
    real, asked = stage.real / "bin" / "gpu_probe", stage.top / "words-asked"
    stage.script(stage.build / "bin" / "gpu_probe", f"""
case $1 in
queues) exec sleep 1000 ;;
words) echo >>{asked} && [ "$(wc -l <{asked})" -lt 6 ] || exec sleep 1000 ;;
esac
exec {real} "$@\"""")
    stage.arguments += ["--limit", "8"]


_JOB = (("gpu_guard", "native_0.6"), ("gpu_gain_over_best_baseline", "native_0.6"))
LACKS = (
    Lack("no_mps_programs", "nvidia-cuda-mps-control is nowhere", ("words", "jobs"), _no_mps_programs,
         (("gpu_word_hop_us", "timeslice"), *_JOB),
         (("gpu_word_hop_us", "mps", "no nvidia-cuda-mps-control"),
          ("gpu_eta", "native", "no nvidia-cuda-mps-control"))),
    Lack("no_jit_compiler", "the driver compiles no PTX", ("words", "lookups", "kills"), _no_jit,
         (("gpu_lookup_identity", "driver"),),
         (("gpu_word_hop_us", "timeslice", "loads no kernels: .*PTX: "), ("gpu_kills", "", "cannot load the kernels")),
         first=First((), (("gpu_word_hop_us", "timeslice", "loads no kernels: .*PTX: "),
                          ("gpu_beside_blocked", "", "not asked: no stream was seen to wait"),
                          ("gpu_litmus", "", "not asked: no stream was seen to wait"),
                          ("gpu_guard", "", "cannot load the kernels")))),
    Lack("mps_server_cannot_start", "a control daemon of MPS whose server cannot start", ("words", "jobs"),
         _server_cannot_start, (("gpu_word_hop_us", "timeslice"), *_JOB),
         (("gpu_word_hop_us", "mps", "serves no client.*MPS_CONNECTION_FAILED"),
          ("gpu_eta", "native", "serves no client")),
         first=First((("gpu_word_hop_us", "timeslice"), ("gpu_beside_blocked", "timeslice"),
                      ("gpu_releases_held", "timeslice"), ("gpu_litmus", "barrier"), *_JOB),
                     (("gpu_word_hop_us", "mps", "serves no client"),
                      ("gpu_mps_sights", "", "not asked: there is no MPS")),
                     ("Without MPS, half of the questions stay open",
                      "alone in time slices. Under MPS, .*it is not known"))),
    Lack("multi_user_refused", "a control daemon that refuses every option for several users", ("users", "words"),
         _multi_user_refused, (("gpu_word_hop_us", "mps"),),
         (("gpu_second_user_s", "one_user", "no end after"), ("gpu_second_user_s", "multi_user", "usage:"))),
    Lack("private_home", "a checkout in a folder of mode 0700", ("users", "words"), _private_home,
         (("gpu_second_user_s", "multi_user"), ("gpu_word_hop_us", "mps"))),
    Lack("little_memory", "GPU memory for four processes", ("jobs", "words"), _little_memory,
         (*_JOB, ("gpu_eta", "native_0.6"), ("gpu_word_hop_us", "mps"))),
    Lack("daemon_runs_already", "a control daemon of MPS that runs already", ("words",), _daemon_runs,
         (("gpu_word_hop_us", "timeslice"), ("gpu_word_hop_us", "mps")), (), _met_the_daemon),
    Lack("no_nvcc", "no CUDA toolkit, neither nvcc nor headers", ("words", "lookups"), _no_toolkit, (),
         (("gpu_word_hop_us", "", "the build failed: .*cuda.h not found"),
          ("gpu_lookup_identity", "", "the build failed: .*cuda.h not found")), builds=True),
    Lack("no_pytorch", "an interpreter without PyTorch", ("torch_models", "torch_features", "lookups"), _no_pytorch,
         (("gpu_lookup_identity", "driver"),),
         (("gpu_eta", "", "has no PyTorch"), ("gpu_features_identical", "", "has no PyTorch"))),
    Lack("no_nccl", "a PyTorch that has no NCCL beside it", ("real_nccl", "lookups"), _no_nccl,
         (("gpu_lookup_identity", "driver"),), (("gpu_real_nccl", "", "no libnccl.so.2"),)),
    Lack("not_root", "a user who is not root", ("users", "mps_sights", "handover", "words"), _not_root,
         (("gpu_word_hop_us", "mps"), ("gpu_handover_us", "mps"), ("gpu_handover_us_beside", "mps_gpu_same"),
          ("gpu_opening_us", "mps")),
         (("gpu_second_user_s", "", "needs root"),
          ("gpu_mps_sights", "", "no client in a mount namespace"),
          ("gpu_handover_us_beside", "mps_gpu_apart", "unshare")),
         newer=("mps_sights", "gpu_mps_sights", "handover", "gpu_handover_us", "gpu_handover_us_beside",
                "gpu_opening_us"),
         first=First((("gpu_smoke", "cukernel"), ("gpu_word_hop_us", "mps"), ("gpu_beside_blocked", "mps"),
                      ("gpu_releases_held", "mps"), ("gpu_long_wait", "mps"), ("gpu_litmus", "barrier"), *_JOB),
                     (("gpu_mps_sights", "", "no client in a mount namespace"),),
                     ("alone under MPS", "A wait of three seconds is sound"))),
    # An older suite is not asked for `words` there: it has no limit that is short.
    Lack("time_limit", "a part that does not end, and one that does not end in the middle of a figure",
         ("queues", "words", "lookups"), _reaches_its_limit,
         (("gpu_lookup_identity", "driver"), ("gpu_word_hop_us", "timeslice")),
         (("gpu_streams_held_up", "", "no end after"), ("gpu_word_hop_us", "not_measured_by_words", "no end after")),
         newer=("words", "gpu_word_hop_us")),
)
