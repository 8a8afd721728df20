"""Compares tables, look-ups and symbols of ours with those of one of NVIDIA's libraries."""

from dataclasses import dataclass

from testing.referee import tables
from testing.referee.library import by_place
from testing.referee.tables import LEGACY, PER_THREAD, RELEASES
from testing.referee.wanted import Compared, Lacking

ABSENT = "absent"
_GANG = {"CROSSOVER_GANG": "referee"}
_FLAVOUR = {LEGACY: "legacy", PER_THREAD: "per_thread"}
_EXPLICITLY_LEGACY, _BOTH, _UNKNOWN_FLAG = 1, 3, 4
_LATER_THAN_ANY = 99990


@dataclass(frozen=True)
class _Answer:
    """Holds what the two versions of cuGetProcAddress answer to one question."""

    results: str  # of both, and the status
    place: str
    first_place: str

    def text(self, symbol):
        same = "" if self.first_place == self.place else ", another from the first version"
        return f"{symbol or ABSENT} ({self.results}{same})"


def _proc_answers(library, questions):
    """Returns {(name, version, flags): _Answer}."""
    words = [f"{name} {version} {flags}" for name, version, flags in questions]
    first = library.ask([f"proc1 {w}" for w in words])
    second = library.ask([f"proc2 {w}" for w in words])
    answers = {}
    for question, one, two in zip(questions, first, second):
        (result1, place1), (result2, status, place2) = one.split(" "), two.split(" ")
        answers[question] = _Answer(f"results {result1} and {result2}, status {status}", place2, place1)
    return answers


def compare_table(driver, rows):
    """Compares the rows of the hook table with the driver: from which version on a name means a symbol."""
    symbols = by_place(driver.places([row.symbol for row in rows]))
    versions = {row: sorted({*RELEASES, row.version - 1, row.version}) for row in rows}
    found = _proc_answers(driver, [(row.name, v, row.flags) for row in rows for v in versions[row]])
    for row in rows:
        fitting = [v for v in versions[row]
                   if row.symbol in symbols.get(found[row.name, v, row.flags].place, ())]
        ours = f"{row.name} from {row.version}"
        if not _has(symbols, row.symbol):
            yield Compared(f"table {row.symbol}", ours, ABSENT, Lacking.DRIVER)
        else:
            yield Compared(f"table {row.symbol}", ours, f"{row.name} from {fitting[0]}" if fitting else "no answer")


def path_questions(driver, rows):
    """Returns the questions on which our paths are tried: all functions by their symbols, and those of the tables by
    name, version and flags, around each version in which one came."""
    versions = {}
    for row in (*rows, *tables.software_functions()):
        versions.setdefault(row.name, {0, _LATER_THAN_ANY}).update((row.version - 1, row.version))
    symbols = sorted({*driver.exported(), *(row.symbol for row in rows)})
    named = [f"{way} {name} {version} {flags}" for name, of in sorted(versions.items()) for version in sorted(of)
             for flags in (LEGACY, _EXPLICITLY_LEGACY, PER_THREAD, _BOTH, _UNKNOWN_FLAG) for way in ("proc1", "proc2")]
    return [f"dlsym {symbol}" for symbol in symbols] + named


def compare_paths(driver, library, symbols, questions):
    """Compares look-ups with the library preloaded with those without. Without a gang all answers are the driver's
    own. With one, each function of `symbols` is its wrapper, and nothing else is."""
    plain = driver.ask(questions)
    idle = driver.under(LD_PRELOAD=str(library)).ask(questions)
    for question, ours, theirs in zip(questions, idle, plain):
        yield Compared(f"idle {question}", ours, theirs)
    sharing = driver.under(LD_PRELOAD=str(library), **_GANG)
    real, wrapped = by_place(driver.places(symbols)), by_place(sharing.places(symbols))
    for question, ours, theirs in zip(questions, sharing.ask(questions), plain):
        ours, theirs = (answer.rpartition(" ") for answer in (ours, theirs))
        yield Compared(f"gang {question}", ours[0] + ours[1] + _wrapper(ours[2], wrapped, library),
                       theirs[0] + theirs[1] + _row(theirs[2], real))


def _row(place, real):
    """Says what must be handed out for a driver's function."""
    return f"wrapper of {', '.join(sorted(real[place]))}" if place in real else place


def _wrapper(place, wrapped, library):
    """Says what was handed out."""
    if not place.startswith(library.name + "+"):
        return place
    return f"wrapper of {', '.join(sorted(wrapped[place]))}" if place in wrapped else "wrapper of no row"


def compare_answers(driver, software):
    """Compares what the software GPU answers with what the driver answers, at each version at which one of them
    changes, for all names that the software GPU knows."""
    names = sorted({row.name for row in tables.software_functions()})
    questions = [(name, version, flags) for name in names for flags in _FLAVOUR for version in RELEASES]
    questions += [(name, _LATER_THAN_ANY, flags) for name in names
                  for flags in (*_FLAVOUR, _EXPLICITLY_LEGACY, _BOTH, _UNKNOWN_FLAG)]
    theirs, ours = _proc_answers(driver, questions), _proc_answers(software, questions)
    symbols = sorted({*driver.exported(), *software.exported()})
    theirs_by, ours_by = by_place(driver.places(symbols)), by_place(software.places(symbols))
    for name in names:
        if all(theirs[name, version, flags].place == "-" for version in RELEASES for flags in _FLAVOUR):
            yield Compared(f"answer {name}", "known", ABSENT, Lacking.DRIVER)
            continue
        for flags, flavour in _flavours_of(name, theirs, ours).items():
            for version, their, our in _changes(name, flags, theirs, ours):
                yield _compare_answer(f"answer {name} {version} {flavour}", our, their, ours_by, theirs_by)
        yield from _compare_flags(name, theirs, ours)


def _flavours_of(name, theirs, ours):
    """Returns {flags: what they are called}: one pair if both flavours are the same on both sides."""
    same = all(of[name, version, LEGACY] == of[name, version, PER_THREAD] for of in (theirs, ours)
               for version in RELEASES)
    return {LEGACY: "any"} if same else _FLAVOUR


def _changes(name, flags, theirs, ours):
    """Yields (version, their answer, our answer) of each version at which one of them changes."""
    before = None
    for version in RELEASES:
        pair = theirs[name, version, flags], ours[name, version, flags]
        if pair != before:
            yield (version, *pair)
        before = pair


def _compare_answer(subject, our, their, ours_by, theirs_by):
    our_names, their_names = ours_by.get(our.place, set()), theirs_by.get(their.place, set())
    common = min(their_names & our_names, default="")
    our_symbol, their_symbol = (common or min(names, default="") for names in (our_names, their_names))
    lacking = Lacking.NEITHER
    if our_symbol and not _has(theirs_by, our_symbol):
        lacking = Lacking.DRIVER
    elif their_symbol and not _has(ours_by, their_symbol):
        lacking = Lacking.OURS
    return Compared(subject, our.text(our_symbol), their.text(their_symbol), lacking)


def _has(by, symbol):
    return any(symbol in names for names in by.values())


def _compare_flags(name, theirs, ours):
    """Compares what the flags mean that are neither of the two above, at a version that all know."""
    for flags, same_as in ((_EXPLICITLY_LEGACY, LEGACY), (_BOTH, PER_THREAD)):
        yield Compared(f"flags {name} {flags}", *(
            f"as {same_as}: {of[name, _LATER_THAN_ANY, flags] == of[name, _LATER_THAN_ANY, same_as]}"
            for of in (ours, theirs)))
    yield Compared(f"flags {name} {_UNKNOWN_FLAG}", *(of[name, _LATER_THAN_ANY, _UNKNOWN_FLAG].results
                                                      for of in (ours, theirs)))


def compare_exports(driver, software):
    """Compares the symbols that a library of the software GPU exports: the driver's must have each of them."""
    symbols = software.exported()
    places = driver.places(symbols)
    for symbol in symbols:
        yield Compared(f"export {symbol}", "there", "there" if symbol in places else ABSENT, Lacking.DRIVER)


def compare_bound(driver, symbols):
    """Compares the symbols that we look up ourselves: the driver must have each of them."""
    places = driver.places(symbols)
    for symbol in symbols:
        yield Compared(f"bound {symbol}", "there", "there" if symbol in places else ABSENT, Lacking.DRIVER)
