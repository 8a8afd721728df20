"""Lists the faults of a vote, each as a row: what the ranks bring, who meddles, and how the job may end.

However a row ends, two ranks never both come through a reduction with different results, no rank hangs, and none
comes through with a wrong sum. `ending` says more: all `narrow`, all `plain`, or `fails`: a rank fails where its user
sees it.
"""

import contextlib
import socket
import tempfile
from dataclasses import dataclass, field

from testing.processes import Failed
from testing.shrink import job as jobs
from testing.shrink.job import Job, RankSettings

# Rank 0 gives up on a rank that does not come after this; nothing else takes so long.
_SOON = "700,60000,60000,200"
# A rank that waits for one of these limits outlives the patience of Job.wait(), and so counts as one that hangs.
_NEVER = "600000,600000,600000,200"
_NONE, _OFF = RankSettings(file="none"), RankSettings(shrink="off")


@dataclass(frozen=True)
class Row:
    """`play` starts the ranks and meddles; by default all start as `brings` says."""

    name: str
    ending: str
    brings: dict = field(default_factory=dict, hash=False)  # {rank: RankSettings}
    ranks: int = 2
    scenario: str = "sum"
    nodes: tuple = ()  # of each rank; by default one for all
    play: object = None


def _at(what, limits="", **others):
    return RankSettings(at=what, limits=limits, **others)


def _soon(**others):
    return RankSettings(limits=_SOON, **others)


def _with(**environment):
    return RankSettings(environment=environment)


def _auto(choice=None, **others):
    """The owner asks for auto, and this is chosen for the pod. No rank may wait for another."""
    chosen = {} if choice is None else {"CROSSOVER_SHRINK_CHOICE": choice}
    return RankSettings(shrink="auto", limits=_NEVER, environment=chosen, **others)


def _each(settings, ranks=2, **others):
    """Returns what all ranks bring, but for `others`: {"rank_1": ...}."""
    return {rank: others.get(f"rank_{rank}", settings) for rank in range(ranks)}


def _start_all(job, brings, ids=None):
    for rank in range(job.ranks):
        job.start(rank, brings.get(rank, RankSettings()), (ids or {}).get(rank))


def _stopped_until(stopped, event):
    """Rank `stopped` stops itself, and goes on once `event(job)` has come."""
    def play(job, brings):
        _start_all(job, brings)
        job.await_stop(stopped)
        event(job)
        job.go_on(stopped)
    return play


def _with_id(change):
    """Rank 1 gets another ID than rank 0 has made."""
    def play(job, brings):
        job.start(0, brings.get(0, RankSettings()))
        job.start(1, brings.get(1, RankSettings()), job.altered("altered", change))
    return play


def _with_strangers(meddle):
    """Before rank 1 starts, `meddle(unique_id, connect)` talks to the port of the vote."""
    def play(job, brings):
        job.start(0, brings.get(0, RankSettings()))
        unique_id = job.unique_id()
        with contextlib.ExitStack() as open_ones:
            meddle(unique_id, lambda: open_ones.enter_context(socket.create_connection(jobs.place_of(unique_id))))
            for rank in range(1, job.ranks):
                job.start(rank, brings.get(rank, RankSettings()))
            for rank in range(job.ranks):
                job.await_end(rank)
    return play


def _start_without_a_port(job, brings):
    """Starts all ranks. Raises Failed where the process that made the unique ID says in it where it listens."""
    _start_all(job, brings)
    tail = job.unique_id()[jobs.TAIL_AT:]
    if any(tail):
        raise Failed(f"tail of the unique ID: expected zeros, got {tail.hex()}")


def _garbage(_, connect):
    half = jobs.hello(bytes(jobs.ID_BYTES), 1)[:50]
    for said in (b"GET / HTTP/1.1\r\n\r\n", bytes(400), jobs.greeting(), b"\xff" * 16, half):
        connect().sendall(said)


def _wrong_id(_, connect):
    connect().sendall(jobs.hello(b"w" * 128, 1))


def _hello_twice(job, brings):
    """A stranger that knows the ID says hello for rank 1, as rank 1 does itself. Rank 2 comes behind both."""
    job.start(0, brings.get(0, RankSettings()))
    unique_id = job.unique_id()
    with socket.create_connection(jobs.place_of(unique_id)) as stranger:
        stranger.sendall(jobs.hello(unique_id, 1, ranks=3))
        job.start(1)
        job.start(2, RankSettings(at="connects:stop"))
        job.await_stop(2)
        job.await_line(1, "init")
        job.go_on(2)
        job.await_end(0)


def _late_to_say_hello(job, brings):
    """Rank 1 says hello once rank 0 has told it that the job runs plain."""
    _start_all(job, brings)
    job.await_stop(1)
    job.await_stop(0)
    job.go_on(1)
    job.go_on(0)


def _other_level_for_rank_1(unique_id, connect):
    connect().sendall(jobs.hello(unique_id, 1, level=8))


def _many_silent(_, connect):
    for _ in range(100):
        connect()


def _unreachable(unique_id):
    with socket.create_server(("127.0.0.1", 0)) as server:
        return jobs.with_tail(unique_id, server.getsockname()[1])


def _impostor(say):
    """Another process takes the place of rank 0 for rank 1, and says what `say(connection)` does."""
    def play(job, brings):
        job.start(0, brings.get(0, RankSettings()))
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(jobs.PATIENCE_S)
            port = server.getsockname()[1]
            job.start(1, brings.get(1, RankSettings()), job.altered("altered", lambda id_: jobs.with_tail(id_, port)))
            connection, _ = server.accept()
            with connection:
                connection.settimeout(jobs.PATIENCE_S)
                say(connection)
                with contextlib.suppress(ConnectionError):
                    while connection.recv(4096):
                        pass
    return play


def _other_version(connection):
    connection.sendall(jobs.greeting(version=jobs.VERSION + 1))


def _verdict_for_another(connection):
    connection.sendall(jobs.greeting())
    jobs.read_exactly(connection, 176)
    connection.sendall(jobs.narrow_verdict(5))


def _narrow_without_a_vote(connection):
    connection.sendall(jobs.greeting())
    jobs.read_exactly(connection, 176)
    connection.sendall(jobs.narrow_verdict(1))


_AGREED = (
    Row("agree", "narrow"),
    Row("agree_three", "narrow", ranks=3),
    Row("agree_with_config", "narrow", scenario="config"),
    Row("budgets_differ", "narrow", {1: _with(CROSSOVER_SHRINK_BUDGET_MIB="2")}),
    Row("shipped_file", "narrow", {rank: RankSettings(file="shipped") for rank in range(2)}),
    Row("split", "narrow", scenario="split"),
    Row("split_in_group", "narrow", scenario="split_in_group"),
    Row("second_communicator", "narrow", scenario="again"),
)
_REFUSED = (
    Row("no_file_on_rank_0", "plain", {0: _NONE}),
    Row("no_file_on_rank_1", "plain", {0: _soon(), 1: _NONE}),
    Row("no_file_on_one_of_three", "plain", {0: _soon(), 2: _NONE}, ranks=3),
    Row("no_file_on_all", "plain", {0: _NONE, 1: _NONE}),
    Row("opted_out_on_rank_0", "plain", {0: _OFF}),
    Row("opted_out_on_rank_1", "plain", {0: _soon(), 1: _OFF}),
    Row("unknown_level_on_rank_1", "plain", {0: _soon(), 1: RankSettings(shrink="fp8")}),
    Row("advise_on_rank_1", "plain", {0: _soon(), 1: RankSettings(shrink="advise")}),
    Row("other_build", "plain", {1: _with(SHRINK_TEST_BUILD="2")}),
    Row("other_level", "plain", {1: _NONE}, play=_with_strangers(_other_level_for_rank_1)),
    Row("other_version", "plain", {0: _soon()}, play=_impostor(_other_version)),
    Row("image_refused_on_rank_0", "plain", {0: _with(CROSSOVER_SHRINK_IMAGE="/etc/hostname")}),
    Row("image_refused_on_rank_1", "plain", {1: _with(CROSSOVER_SHRINK_IMAGE="/etc/hostname")}),
    Row("image_missing_on_rank_1", "plain", {1: _with(CROSSOVER_SHRINK_IMAGE="/nowhere")}),
    Row("budget_refused_on_rank_0", "plain", {0: _with(CROSSOVER_SHRINK_BUDGET_MIB="65536")}),
    Row("budget_refused_on_rank_1", "plain", {1: _with(CROSSOVER_SHRINK_BUDGET_MIB="65536")}),
    Row("init_in_group", "plain", scenario="grouped"),
    Row("not_blocking", "plain", scenario="not_blocking"),
    Row("split_of_a_plain_one", "plain", {0: _NONE}, scenario="split"),
    Row("second_after_a_refusal", "plain", {0: _soon(), 1: _NONE}, scenario="again"),
    Row("second_after_a_refusal_by_rank_1", "plain", {1: _with(SHRINK_TEST_BUILD="2")}, scenario="again"),
)
_DEATHS = tuple(
    Row(f"rank_1_killed_{moment}", "fails", {1: _at(f"{moment}:kill"), 0: _soon()})
    for moment in ("connects", "connected", "greeted", "said_hello")
) + tuple(
    Row(f"rank_0_killed_{moment}", "fails", {0: _at(f"{moment}:kill")})
    for moment in ("gathers", "greets", "heard", "decided", "told_one", "told_all")
) + (
    Row("rank_2_killed_said_hello", "fails", {2: _at("said_hello:kill")}, ranks=3),
    Row("rank_0_of_three_killed_told_one", "fails", {0: _at("told_one:kill")}, ranks=3),
)
_CUTS = (
    # Its greeting must not come before the cut: rank 1 would read it, and say hello.
    Row("rank_1_cut_connected", "plain", {0: _at("gathers:stop", _SOON), 1: _at("connected:cut")},
        play=_stopped_until(0, lambda job: job.await_line(1, "init"))),
    Row("rank_1_cut_greeted", "fails", {0: _soon(), 1: _at("greeted:cut")}),
    Row("rank_1_cut_said_hello", "fails", {1: _at("said_hello:cut"), 2: _at("connects:stop")}, ranks=3,
        play=_stopped_until(2, lambda job: job.await_line(1, "init"))),
    Row("rank_0_cut_greets", "plain", {0: _at("greets:cut", _SOON)}),
    Row("rank_0_cut_heard", "fails", {0: _at("heard:cut")}),
    Row("rank_0_cut_told_one", "narrow", {0: _at("told_one:cut")}),
)
_DELAYS = (
    Row("rank_1_late_to_connect", "plain", {0: _soon(), 1: _at("connects:stop")},
        play=_stopped_until(1, lambda job: job.await_line(0, "init"))),
    Row("rank_1_late_to_say_hello", "plain", {0: _at("told_all:stop", "700,60000,60000,60000"), 1: _at("greeted:stop")},
        play=_late_to_say_hello),
    Row("rank_1_late_to_read", "narrow", {0: _soon(), 1: _at("said_hello:stop")},
        play=_stopped_until(1, lambda job: job.await_line(0, "init"))),
    Row("rank_0_late_to_greet", "plain", {0: _at("gathers:stop", _SOON), 1: RankSettings(limits="60000,500,60000,1")},
        play=_stopped_until(0, lambda job: job.await_line(1, "init"))),
    Row("rank_0_late_to_tell", "fails", {0: _at("decided:stop"), 1: RankSettings(limits="60000,60000,500,1")},
        play=_stopped_until(0, lambda job: job.await_line(1, "init"))),
)
_STRANGERS = (
    Row("garbage", "narrow", play=_with_strangers(_garbage)),
    Row("wrong_id", "narrow", play=_with_strangers(_wrong_id)),
    Row("hello_twice", "plain", ranks=3, play=_hello_twice),
    Row("many_silent", "plain", {0: _soon(), 1: RankSettings(limits="60000,500,60000,1")},
        play=_with_strangers(_many_silent)),
    Row("verdict_for_another", "fails", {0: _soon()}, play=_impostor(_verdict_for_another)),
)
_IDS = (
    Row("tail_cut", "plain", {0: _soon()}, play=_with_id(lambda id_: id_[:jobs.TAIL_AT] + bytes(32))),
    Row("tail_unknown", "plain", {0: _soon()}, play=_with_id(lambda id_: jobs.with_tail(id_, 1, magic=7))),
    Row("tail_of_another_version", "plain", {0: _soon()}, play=_with_id(lambda id_: jobs.with_tail(id_, 1, version=2))),
    Row("port_unreachable", "plain", {0: _soon()}, play=_with_id(_unreachable)),
    Row("ids_differ", "plain", {0: _soon()}, play=_with_id(lambda id_: id_[:90] + b"d" + id_[91:])),
)
_Q8 = RankSettings(shrink="q8")
_EACH_Q8 = {rank: _Q8 for rank in range(4)}


def _q8(name, ending, nodes, brings=None, scenario="sum", each=None):
    """All ranks ask for q8, but for what `brings` says."""
    return Row(name, ending, {**(each or _EACH_Q8), **(brings or {})}, len(nodes), scenario, nodes=nodes)


_ADAPTIVE = RankSettings(shrink="adaptive")


def _adaptive(name, ending, nodes, brings=None, scenario="sum"):
    """All ranks ask for adaptive bits, but for what `brings` says."""
    return _q8(name, ending, nodes, brings, scenario, {rank: _ADAPTIVE for rank in range(4)})


def _adaptive_with(**environment):
    return RankSettings(shrink="adaptive", environment=environment)


_EXCHANGES = (
    _q8("q8_two_nodes", "narrow", (0, 1)),
    _q8("q8_three_nodes", "narrow", (0, 1, 2)),
    _q8("q8_two_nodes_of_two", "narrow", (0, 0, 1, 1)),
    _q8("q8_second", "narrow", (0, 1), scenario="again"),
    _q8("q8_behind_one_within_the_node", "narrow", (0, 0, 1, 1), scenario="node_first"),
    _q8("q8_one_node", "plain", (0, 0)),
    _q8("q8_unequal_nodes", "plain", (0, 0, 1)),
    _q8("q8_unequal_nodes_the_first_smaller", "plain", (0, 1, 1)),
    _q8("q8_scattered", "plain", (0, 1, 0, 1)),
    _q8("q8_split", "plain", (0, 1), scenario="split"),
    _q8("q8_split_in_group", "plain", (0, 1), scenario="split_in_group"),
    _q8("q8_beside_bf16", "plain", (0, 1), {1: RankSettings()}),
    _q8("q8_beside_none", "plain", (0, 1), {0: _soon(shrink="q8"), 1: _NONE}),
    _q8("q8_refused_image", "plain", (0, 1), {1: RankSettings(
        shrink="q8", environment={"CROSSOVER_SHRINK_IMAGE": "/etc/hostname"})}),
    _q8("q8_rank_0_killed_told_all", "fails", (0, 1), {0: _at("told_all:kill", shrink="q8")}),
    _q8("q8_rank_1_cut_while_nodes_are_gathered", "fails", (0, 1), {1: RankSettings(
        shrink="q8", environment={"SIMGPU_NCCL_FAULT": "drop:0"})}),
    # The communicators of the nodes have had four calls when the first one of the job comes.
    _q8("q8_cut_in_the_sums_of_the_nodes", "fails", (0, 0, 1, 1), {rank: RankSettings(
        shrink="q8", environment={"SIMGPU_NCCL_FAULT": "drop:4"}) for rank in range(4)}),
)
_PLANNED = (
    _adaptive("adaptive_two_nodes", "narrow", (0, 1)),
    _adaptive("adaptive_three_nodes", "narrow", (0, 1, 2)),
    _adaptive("adaptive_two_nodes_of_two", "narrow", (0, 0, 1, 1)),
    _adaptive("adaptive_second", "narrow", (0, 1), scenario="again"),
    _adaptive("adaptive_behind_one_within_the_node", "narrow", (0, 0, 1, 1), scenario="node_first"),
    _adaptive("adaptive_one_node", "plain", (0, 0)),
    _adaptive("adaptive_split", "plain", (0, 1), scenario="split"),
    _adaptive("adaptive_beside_q8", "plain", (0, 1), {1: _Q8}),
    _adaptive("adaptive_same_error", "narrow", (0, 1), {rank: _adaptive_with(CROSSOVER_SHRINK_ERROR="50")
                                                        for rank in range(2)}),
    _adaptive("adaptive_other_error", "plain", (0, 1), {1: _adaptive_with(CROSSOVER_SHRINK_ERROR="50")}),
    _adaptive("adaptive_refused_error", "plain", (0, 1), {0: _soon(shrink="adaptive"),
                                                          1: _adaptive_with(CROSSOVER_SHRINK_ERROR="0")}),
    _adaptive("adaptive_rank_1_cut_while_nodes_are_gathered", "fails", (0, 1),
              {1: _adaptive_with(SIMGPU_NCCL_FAULT="drop:0")}),
    # Each call has four on the communicators of the nodes, as the first one of all ranks has had. This is the 100th.
    _adaptive("adaptive_cut_in_the_call_that_says_errors", "fails", (0, 0, 1, 1),
              {rank: _adaptive_with(SIMGPU_NCCL_FAULT="drop:400") for rank in range(4)}, scenario="plans235"),
)
_DECLINES = _auto("off:not_needed")
_CHOSEN = (
    Row("auto_bf16", "narrow", _each(_auto("bf16"))),
    Row("auto_bf16_split", "narrow", _each(_auto("bf16")), scenario="split"),
    Row("auto_q8", "narrow", _each(_auto("q8"), 4), 4, nodes=(0, 0, 1, 1)),
    Row("auto_bf16_beside_bf16_by_name", "narrow", _each(_auto("bf16"), rank_1=RankSettings())),
    Row("auto_q8_beside_bf16", "plain", _each(_auto("q8"), rank_1=_auto("bf16")), nodes=(0, 1)),
    Row("auto_off", "plain", _each(_DECLINES, 3), 3, play=_start_without_a_port),
    Row("auto_off_second", "plain", _each(_DECLINES), scenario="again"),
    Row("auto_off_in_a_group", "plain", _each(_DECLINES), scenario="grouped"),
    Row("auto_off_not_blocking", "plain", _each(_DECLINES), scenario="not_blocking"),
    Row("auto_off_on_rank_0", "plain", _each(_auto("bf16"), 3, rank_0=_DECLINES), 3, play=_start_without_a_port),
    Row("auto_off_on_rank_0_second", "plain", _each(_auto("bf16"), rank_0=_DECLINES), scenario="again"),
    Row("auto_off_on_rank_1", "plain", _each(_auto("bf16"), rank_1=_DECLINES)),
    Row("auto_off_on_rank_1_second", "plain", _each(_auto("bf16"), rank_1=_DECLINES), scenario="again"),
    Row("auto_off_on_rank_1_of_q8", "plain", _each(_auto("q8"), rank_1=_DECLINES), nodes=(0, 1)),
    Row("auto_off_on_one_of_three", "plain", _each(_auto("bf16"), 3, rank_2=_DECLINES), 3),
    Row("auto_off_on_two_of_three", "plain", _each(_DECLINES, 3, rank_0=_auto("q8")), 3, nodes=(0, 1, 2)),
    Row("auto_off_on_rank_1_and_rank_0_not_ready", "plain", _each(_DECLINES, rank_0=RankSettings(
        limits=_NEVER, environment={"CROSSOVER_SHRINK_IMAGE": "/etc/hostname"}))),
    Row("auto_without_a_choice", "plain", _each(_auto())),
    Row("auto_without_a_choice_on_rank_1", "plain", _each(_auto("bf16"), rank_1=_auto())),
    Row("auto_with_an_unknown_choice", "plain", _each(_auto("fp8"))),
)
ROWS = _AGREED + _REFUSED + _DEATHS + _CUTS + _DELAYS + _STRANGERS + _IDS + _EXCHANGES + _PLANNED + _CHOSEN
# Rank 0 has a level, and so opens a port. _start_without_a_port() must see it.
WITH_A_PORT = Row("auto_bf16_opens_a_port", "narrow", _each(_auto("bf16")), play=_start_without_a_port)
# One rank narrows and the other does not. It must be seen.
CONTROL = Row("narrow_without_a_vote", "narrow", {0: _soon()}, play=_impostor(_narrow_without_a_vote))


def play(build, row, faulty=()):
    """Plays a row, with these libraries in place of `faulty` if there are some. Returns {rank: Ended}. Raises Failed
    where a rank hangs."""
    with tempfile.TemporaryDirectory(prefix="crossover-shrink-") as folder, \
            Job(build, folder, row.ranks, row.scenario, row.nodes, faulty) as job:
        (row.play or _start_all)(job, row.brings)
        return job.wait()


def faults(row, ended):
    """Returns what is wrong with the end of a row, in words; an empty list if nothing is."""
    wrong = []
    sums = set().union(*(rank.sums() for rank in ended.values()))
    if len(sums) > 1 or not sums <= {"narrow", "plain"}:
        wrong.append(f"sums: expected all narrow or all plain, got {', '.join(sorted(sums))}")
    wrong += [f"rank {rank}: {line}" for rank, end in ended.items() for line in end.errors.splitlines()
              if line.count(" called ") == 2]  # the software NCCL names two calls that differ
    failed = sorted(rank for rank, end in ended.items() if end.code != 0)
    if row.ending == "fails" and not failed:
        wrong.append("ranks: expected one that fails, got none")
    if row.ending != "fails" and (failed or sums != {row.ending}):
        wrong.append(f"ranks: expected all {row.ending}, got {', '.join(sorted(sums)) or 'none'}; failed: {failed}")
    return wrong


def fate(build, row):
    """Plays a row. Returns what is wrong with it, and `hangs` as the first word where a rank hangs, or the row cannot
    be played to its end."""
    try:
        return faults(row, play(build, row))
    except Failed as failed:
        return [f"hangs: {failed}"]
