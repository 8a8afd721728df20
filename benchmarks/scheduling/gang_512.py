"""gang_512 counts the pods of one gang of 512 that are bound, on 64 nodes of 8 GPUs that KWOK plays. All of their binds
are held until the last has come. `gang_512_threads` is the number of threads that the extender has meanwhile and did
not have before.

Controls: one GPU less, where no pod may be bound; a server that gives each request a thread, with as many requests at a
time.
"""

import http.server
import threading
import urllib.request

from benchmarks.runner.results import Goal, Measured, controlled
from testing.cluster.gang_cluster import FAKE, GangCluster, POOL
from testing.cluster.gang_plays import large_gang
from testing.cluster.rig import Refused
from testing.processes import Failed

CASES = ("kwok",)
SCOPE = "component"
_PODS, _NODES, _GPUS = 512, 64, 8
_GOAL, _THREADS_GOAL = Goal("==", _PODS), Goal("<=", 0)
_WAITS_S = 20.0


def measure(context, case):
    try:
        with GangCluster(context.build, _NODES, _GPUS) as world:
            large = large_gang(world, _PODS, nodeSelector={POOL: FAKE})
            world.create("one-gpu", 1, nodeSelector={POOL: FAKE}, annotations={"crossover.dev/share": "exclusive"})
            world.until_whole("one-gpu")
            too_large = large_gang(world, _PODS, patience_s=_WAITS_S, nodeSelector={POOL: FAKE},
                                   annotations={"crossover.dev/share": "exclusive"})
    except Refused as refusal:
        raise Failed(str(refusal)) from refusal
    if large.more_files < _PODS * 0.9:
        raise Failed(f"at most {large.more_files} binds were held at a time")
    context.say(f"    {large}; one GPU less: {too_large}")
    condition = f"a gang of {_PODS} pods on {_NODES} nodes of {_GPUS} GPUs that KWOK plays, one extender"
    yield Measured("gang_512", case, large.bound, "pods bound", _GOAL, (large.bound,),
                   controlled(_GOAL, "one GPU less", too_large.bound), condition)
    control = controlled(_THREADS_GOAL, "a thread for each request", _threads_per_request())
    yield Measured("gang_512_threads", case, large.more_threads, "threads more than before", _THREADS_GOAL,
                   (large.more_threads,), control, condition,
                   {"threads": large.threads, "binds_held": large.more_files})


def _threads_per_request():
    """Returns how many more threads a server has that makes one for each request, while it holds as many requests."""
    all_here, go_on = threading.Barrier(_PODS + 1), threading.Event()

    class Holding(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            all_here.wait()
            go_on.wait()
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with _Server(("127.0.0.1", 0), Holding) as server:
        url = f"http://127.0.0.1:{server.server_port}/"
        askers = [threading.Thread(target=urllib.request.urlopen, args=(url,)) for _ in range(_PODS)]
        serving = threading.Thread(target=server.serve_forever)
        for thread in (serving, *askers):
            thread.start()
        before = len(askers) + 2  # this one and the server's own
        all_here.wait()
        more = threading.active_count() - before
        go_on.set()
        for thread in askers:
            thread.join()
        server.shutdown()
        serving.join()
    return more


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = _PODS
