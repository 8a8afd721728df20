"""Traces that figures are made from: kept outside the tree, found by path (TRACES=DIR), known by their checksums."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import Failed


@dataclass(frozen=True)
class Trace:
    """`source`: where anybody can get it; `name`: what it is called under TRACES."""

    name: str
    source: str
    sha256: str

    def path(self):
        """Failed where it is not there, or is another file."""
        top = os.environ.get("TRACES")
        if not top:
            raise Failed(f"TRACES is not set: a directory with {self.name} ({self.source})")
        found = next((p for p in (Path(top) / self.name, Path(top) / "muri" / self.name) if p.is_file()), None)
        if found is None:
            raise Failed(f"TRACES={top}: no {self.name} there ({self.source})")
        if hashlib.sha256(found.read_bytes()).hexdigest() != self.sha256:
            raise Failed(f"{found}: another file than the one whose figures were published ({self.source})")
        return found


def left_out(trace):
    """Why a figure of it is not measured unless asked for by name; empty: it is."""
    try:
        trace.path()
    except Failed as failure:
        return str(failure)
    return ""


MURI_CLUSTER = Trace("cluster_exp_trace-data_cluster_trace.csv",
                     "github.com/Rivendile/Muri, cluster_exp/trace-data/cluster_trace.csv",
                     "fe73b5e39c75ea73b3115d1d4fc7b19e482f7db13c1256a0756bf54bdc3befef")
