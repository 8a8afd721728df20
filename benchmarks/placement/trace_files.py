"""Finds the traces from which figures are made. They are kept outside the tree, found by path (TRACES=DIR), and
identified by their checksums."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from testing.processes import Failed


@dataclass(frozen=True)
class Trace:
    """`source` is where the trace can be downloaded. `name` is its name under TRACES, or under `folder` there."""

    name: str
    source: str
    sha256: str
    folder: str = "muri"

    def path(self):
        """Returns its path. Raises Failed if it is missing, or is another file."""
        top = os.environ.get("TRACES")
        if not top:
            raise Failed(f"TRACES: expected a directory with {self.name} ({self.source}), got none")
        places = (Path(top) / self.name, Path(top) / self.folder / self.name)
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise Failed(f"TRACES={top}: no {self.name} there ({self.source})")
        digest = hashlib.sha256(found.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise Failed(f"{found}: another file than the one that figures are made from: expected SHA-256 "
                         f"{self.sha256}, got {digest} ({self.source})")
        return found


def left_out(trace):
    """Returns why a figure from this trace is measured only if it is asked for by name; "" if it is always measured."""
    try:
        trace.path()
    except Failed as failure:
        return str(failure)
    return ""


MURI_CLUSTER = Trace("cluster_exp_trace-data_cluster_trace.csv",
                     "github.com/Rivendile/Muri, cluster_exp/trace-data/cluster_trace.csv",
                     "fe73b5e39c75ea73b3115d1d4fc7b19e482f7db13c1256a0756bf54bdc3befef")

_GAVEL = "github.com/stanford-futuredata/gavel, scheduler"
GAVEL_TRACE = Trace("0e4a51.trace", f"{_GAVEL}/traces/msr/seed=0/0e4a51.trace",
                    "952a5ca0842149b7a0f2cbfd072acb0f97765f05ef829b4ab71db0752ef08d00", "gavel")
GAVEL_RATES = Trace("simulation_throughputs.json", f"{_GAVEL}/simulation_throughputs.json",
                    "17111f7295f03265fd9e5118d7eba31e3dd9d6e50a2e215c13ad3d3f91f74381", "gavel")

_POLLUX = "github.com/petuum/adaptdl, branch osdi21-artifact, simulator/traces"
PHILLY = Trace("simulator_traces_philly.csv", f"{_POLLUX}/philly.csv",
               "ebffb3dd1589bdf4e7bcd74496201c5ded1d557d498ee14f560463f37ec353da", "pollux_osdi21")
POLLUX_STEPS = tuple(
    Trace(f"simulator_traces_{model}_placements.csv", f"{_POLLUX}/{model}/placements.csv", sha256, "pollux_osdi21")
    for model, sha256 in (
        ("bert", "982811b611bc8447a078289939a2ccafc1f76c06e1e8ebcc4f4866a8e8fcdc0f"),
        ("cifar10", "e77d1d8781e2e48c3952580bdf705f3be4f27cbbdcd0a2087eb152224a271b6b"),
        ("deepspeech2", "0908c53bfc20123ad60ad6c4984cfcdf53a623773f4e44e9f01d58305e5379b7"),
        ("imagenet", "ac3d88937f40680c367ec83c7610eda088b8d60806e15cf3a4699fa1d15cb1e8"),
        ("ncf", "012f861bd2acc57f5f7d09c7878082905ba0150660b9f5aeae9291d025527874"),
        ("yolov3", "6ffceb8996e3fd57e47e550fdffc21eec7d7e34de1d806d8b3568734eaec0013")))
ALL = (MURI_CLUSTER, GAVEL_TRACE, GAVEL_RATES, PHILLY, *POLLUX_STEPS)
