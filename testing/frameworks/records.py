"""Reads what the recorder wrote of a rank: the launches of kernels, graphs and collectives, and the waits of streams
for each other, in their order.

Waits for a collective are left out: PyTorch asks whether the collective has ended, and makes no wait if it has, so
that their number depends on the time. In a group of one rank it does the same, where no collective is launched: a
stream then waits for its own earlier work, or for a stream on which nothing runs. Such waits order nothing, and are
left out too."""

import collections
import enum

_LAUNCHES = ("cuLaunchKernel", "cuLaunchCooperative", "cuGraphLaunch")
_RECORD, _WAIT = "cuEventRecord", "cuStreamWaitEvent"
_WITHOUT_WORK = (_RECORD, _WAIT, "cuStreamIsCapturing", "cuStreamQuery", "cuStreamSynchronize")


class Order(enum.Enum):
    """Says in which order the calls of a rank are the same in each run."""

    THREADS = "that of each thread"
    RANK = "that of the rank's launches"  # whichever of its threads calls; waits are left out
    NONE = "none"  # only how often each function launches


def of(path):
    """Returns the lines of a record."""
    return path.read_text(encoding="utf-8").splitlines()


def calls(lines, order=Order.THREADS):
    """Returns the launches and waits among the lines of a record, a list for each thread that has any, or one list of
    launches, as `order` says.
    Functions and streams are numbered in the order in which a list has them: addresses differ from run to run, and so
    may the numbers of threads. A wait names the stream behind which its event was recorded last, since which event a
    program takes again depends on the time."""
    lists, names = collections.defaultdict(list), collections.defaultdict(dict)
    for _, thread, function, arguments in _kept(lines):
        if order is not Order.THREADS and function.startswith(_WAIT):
            continue
        one = thread if order is Order.THREADS else "rank"
        known = names[one]
        numbered = (known.setdefault(a, f"#{len(known)}") if a.startswith("h") else a for a in arguments)
        lists[one].append(function if order is Order.NONE else " ".join((function, *numbered)))
    if order is Order.NONE:
        lists["rank"].sort()
    return sorted(lists.values(), key=lambda calls: (len(calls), calls))


def without_one(lines, order=Order.THREADS):
    """Returns what is left out, and the lines of a record without it: the middle one of the waits that count, or of the
    launches where no wait counts. A record of neither is a ValueError."""
    counted = [(index, function) for index, _, function, _ in _kept(lines)]
    waits = [index for index, function in counted if function.startswith(_WAIT)] if order is Order.THREADS else []
    places = waits or [index for index, function in counted if not function.startswith(_WAIT)]
    if not places:
        raise ValueError("record: expected a launch or a wait, got none")
    left_out = places[len(places) // 2]
    return "one wait" if waits else "one launch", [*lines[:left_out], *lines[left_out + 1:]]


def count(threads):
    """Returns the number of calls in what calls() returns."""
    return sum(len(one) for one in threads)


def _kept(lines):
    """Yields (index, thread, function, arguments) of each line that counts."""
    split = [line.split() for line in lines]
    communicating = {arguments[1] for _, owner, function, *arguments in split
                     if owner == "nccl" and function.startswith(_RECORD)}
    working = {argument for _, _, function, *arguments in split if not function.startswith(_WITHOUT_WORK)
               for argument in arguments[-1:]}  # the streams among them
    behind = {}  # event: the stream
    for index, (thread, owner, function, *arguments) in enumerate(split):
        if owner == "ours":
            continue
        if function.startswith(_RECORD):
            behind[arguments[0]] = arguments[1]
        elif function.startswith(_WAIT):
            stream, event, flags = arguments
            recorded = behind.get(event, "none")
            if recorded == "none" or (recorded in working and recorded not in communicating and recorded != stream):
                yield index, thread, function, (stream, recorded, flags)
        elif function.startswith(_LAUNCHES):
            yield index, thread, function, arguments
