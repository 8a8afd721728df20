"""Makes a build directory of stand-in programs, for tests of the code that starts, watches and reads the real ones."""

import sys
from pathlib import Path

from testing.commands import Build

# It logs iterations of 4 ms as the trainer does. The rank that STAND_IN_FAILS names ends early.
_TRAINER = '''
import json, os, sys, time
options = dict(a[2:].split("=", 1) for a in sys.argv[1:])
rank = int(os.environ["RANK"])
assert (int(os.environ["SIMGPU_NODE"]), int(os.environ["LOCAL_RANK"])) == divmod(rank, 2), "misplaced"
assert os.path.exists(os.environ["SIMGPU_CONFIG"]), "no machine"
if os.environ.get("STAND_IN_FAILS") == str(rank):
    sys.exit("out of memory")
if rank == 0:
    print("trainer: all ranks are ready", flush=True)
while os.path.exists(options["pause-file"]):
    time.sleep(0.001)
time.sleep(float(os.environ.get("STAND_IN_SECONDS", 0.05)))
# All ranks of a session begin at one time, however late this machine starts them.
t, n = os.stat(os.environ["SIMGPU_CONFIG"]).st_mtime_ns, int(options["iterations"])
with open(options["log"], "w") as log:
    for k in range(n):
        print(json.dumps({"rank": rank, "iteration": k, "begin_ns": t + k * 4000000, "end_ns": t + (k + 1) * 4000000,
                          "compute_ns": 2500000, "loss": "0x1p0"}), file=log)
    print(json.dumps({"rank": rank, "summary": {"losses_digest": options["seed"], "kernels": "none"}}), file=log)
late = float(os.environ.get("STAND_IN_LATE", 0))
report = {"kernel_late_us": {"count": 9, "p50": late, "p99": late}, "ring_step_late_us": {"count": 0, "p99": 20000}}
with open(os.path.join(os.environ["SIMGPU_REPORT"], f"{rank}-{options['seed']}.json"), "w") as file:
    json.dump(report, file)
'''

_DAEMON = '''
import json, signal, socket, sys
lines = open(sys.argv[sys.argv.index("--config") + 1]).read().splitlines()
config = dict(line.strip().split(": ", 1) for line in lines if ": " in line)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
listener.bind(config["path"])
signal.sigwait({signal.SIGTERM})
with open(config["trace_file"], "w") as trace:
    for event, t in (("arrive", 1), ("hold", 2), ("release", 3)):
        print(json.dumps({"t_ns": t, "gpu": "GPU-a", "slot": 0, "gang": "alpha", "event": event}), file=trace)
'''

_CLI = '''
import os, sys
command = sys.argv[sys.argv.index("--") + 1:]
assert os.path.exists(os.environ["CROSSOVER_SOCKET"]), "no arbiter"
os.execv(command[0], command)
'''


def make_build(top):
    """Writes the stand-ins under the directory `top` and returns a Build of them."""
    top = Path(top)
    for name, text in (("trainer", _TRAINER), ("crossover-deviceplugin", _DAEMON), ("crossover", _CLI)):
        _write(top / "bin" / name, f"#!{sys.executable} -IB\n{text}").chmod(0o755)
    for name in ("libcuda.so.1", "libnccl.so.2"):
        _write(top / "simgpu" / "lib" / name, "")
    _write(top / "lib" / "libcrossover.so", "")
    return Build(top)


def _write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
