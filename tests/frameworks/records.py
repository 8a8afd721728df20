"""Reads what the recorder wrote of a rank: the launches of kernels and collectives, in their order."""

import collections


def launches(path):
    """Returns the launches of kernels and collectives in a record, a list for each thread that launches any. Functions
    and streams are numbered in the order in which a thread uses them: addresses differ from run to run, and so may the
    numbers of threads."""
    threads, names = collections.defaultdict(list), collections.defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines():
        thread, owner, function, *arguments = line.split()
        if owner != "ours" and function.startswith(("cuLaunchKernel", "cuLaunchCooperative", "cuGraphLaunch")):
            known = names[thread]
            numbered = (known.setdefault(a, f"#{len(known)}") if a.startswith("h") else a for a in arguments)
            threads[thread].append(" ".join((function, *numbered)))
    return sorted(threads.values(), key=lambda calls: (len(calls), calls))


def count(threads):
    """Returns the number of launches in what launches() returns."""
    return sum(len(calls) for calls in threads)
