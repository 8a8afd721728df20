"""Draws the pictures of a run, from what its policies did. Pure."""

from benchmarks.placement_report import plots
from benchmarks.placement_report.runs import POLICIES
from benchmarks.placement_report.summary import distribution, occupancy_over_time

_HOUR, _DAY = 3600, 86400
_SHARE = plots.Axis("share of jobs", 0, 1)
# A picture of a month's trace does not show shorter times.
_SHORTEST_H = 1e-3


def pictures(title, played):
    """Returns an SVG for each picture's name. `played` maps a policy to (jobs, moments)."""
    def each(points):
        return {POLICIES[policy][0].strip("*"): points(*of) for policy, of in played.items()}

    completion = each(lambda jobs, moments: distribution([max(job.completion_s / _HOUR, _SHORTEST_H) for job in jobs]))
    slowdown = each(lambda jobs, moments: distribution([max(job.slowdown, 1.0) for job in jobs]))
    last_s = max(moments[-1].from_s for _, moments in played.values())
    held = each(lambda jobs, moments: [(time_s / _DAY, share) for time_s, share
                                       in occupancy_over_time(moments, last_s)])
    return {
        "completion": plots.lines(title, plots.decades("completion time, hours", _first(completion)), _SHARE,
                                  completion),
        "slowdown": plots.lines(title, plots.decades("slowdown over running alone", _first(slowdown)), _SHARE,
                                slowdown),
        "occupancy": plots.lines(title, plots.Axis("days", 0, last_s / _DAY),
                                 plots.Axis("share of GPUs held", 0, 1), held)}


def _first(series):
    return [x for points in series.values() for x, _ in points]
