"""Lets Python programs be ranks: StrangerBegin() and the others of rank.h are attributes of RANK."""

import ctypes
import os

RANK = ctypes.CDLL(os.path.join(os.environ["LIBRARIES"], "libstranger_rank.so"))
EAGER = 60


def need(holds, what):
    """Leaves the verdict that something is wrong, unless it holds."""
    if not holds:
        RANK.StrangerFail(what.encode())


def train_on():
    """Says that the strange act is over, and trains on until the figure has seen enough."""
    RANK.StrangerActed()
    RANK.StrangerTrainOn()
