"""Lists patterns, the ways to train that users of PyTorch have: each is a script of jobs/ with its arguments, and what
is expected of it beside another job."""

import dataclasses
import enum


class Expected(enum.Enum):
    """Says what a job does beside another one."""

    TURNS = "takes turns"
    GAPS = "takes turns by gaps"  # its collectives are not seen
    WATCHED = "is watched"
    NOT_SEEN = "has not been seen beside another job"  # launches and memory are compared all the same


@dataclasses.dataclass(frozen=True)
class Pattern:
    """Describes one row. `reason` is what the user is told of a job that is watched: a text of
    common/base/watch_reason.h, or "" where the library finds no period and says nothing."""

    name: str
    script: str
    arguments: tuple = ()
    launcher: tuple = ()  # options of torchrun
    environment: tuple = ()  # (name, value) of what users set
    steps: int = 30
    least_launches: int = 40  # and waits, in each step of each rank
    expected: Expected = Expected.NOT_SEEN
    reason: str = ""
    memory_varies: str = ""  # why the peak of memory is not the same in each run; "" where it is

    def __post_init__(self):
        if self.reason and self.expected is not Expected.WATCHED:
            raise ValueError(f"pattern {self.name}: reason: expected none of a job that {self.expected.value}, got "
                             f"'{self.reason}'")


def named(name):
    """Returns the row of that name. An unknown name is a ValueError that lists the known ones."""
    for pattern in PATTERNS:
        if pattern.name == name:
            return pattern
    raise ValueError(f"pattern: expected one of {', '.join(p.name for p in PATTERNS)}, got '{name}'")


PATTERNS = (
    Pattern("ddp", "ddp.py", expected=Expected.TURNS),
    # Compute waits for a gather of each layer inside a turn.
    Pattern("fsdp", "fsdp.py", expected=Expected.WATCHED),
    Pattern("tensor_parallel", "tensor_parallel.py", expected=Expected.TURNS),
)
