"""The words of comments and names: blocks that open with a fragment, and lines that use words that name nothing.

    python3 tools/lint/words.py          counts, and fails where there are more than words.json allows
    python3 tools/lint/words.py --list   every one of them, as path:line: text
    python3 tools/lint/words.py --keep   writes words.json: counts may only fall

A block is a comment that stands alone on its lines, or a docstring. It opens with a fragment where its first sentence
begins with a word such as "Whether" or "Of", or has no verb. Both are guesses from word lists: a sentence whose only
verb is missing from VERBS counts as a fragment until the verb is added, and a noun that looks like a verb passes.
"""

import ast
import json
import re
import sys

import tree

KEPT = tree.ROOT / "tools/lint/words.json"
C_FAMILY = (".cc", ".h", ".c", ".cu", ".proto", ".S")
PROGRAMS = (*C_FAMILY, ".py", ".sh")
# A first sentence that begins with one of these words is a part of a sentence, unless it asks a question.
OPENERS = frozenset("what whether of who whose which whom whoever whatever how".split())
VAGUE = re.compile(r"\b(whom|anybody)\b", re.IGNORECASE)
# These words name no client, pod, job or user, whether in a text or as a part of a name. Pages, charts and tests count.
UNNAMED = re.compile(r"nobody|somebody|whoever|\bof whom\b", re.IGNORECASE)
# Users type or scrape these names, so they stay: a check of `doctor`, an alert, and the anchor of its page.
KEPT_NAMES = re.compile(r"\bnobody_leads\b|\bCrossoverNobodyLeads\b|\bcrossovernobodyleads\b")
TEXTS = (*PROGRAMS, ".md", ".yaml", ".yml", ".json", ".txt", ".go", ".cmake", "Makefile", "Dockerfile")
# "X is allowed" or "Y is not allowed" in a message, where "KEY: expected X, got Y" tells more. Of who may do a thing
# the words may be used: "is not allowed to modify".
ALLOWED = re.compile(
    r'"[^"\n]*\b(?:(?:is|are) allowed\b|(?:is|are) not allowed\b(?! to\b)|allowed (?:is|are)\b)[^"\n]*"')
AUXILIARIES = frozenset(
    "is are was were be been being has have had does do did can cannot could may might must will would shall should "
    "isn't aren't doesn't don't won't can't".split())
VERBS = """
abort accept account acquire act adapt add adjust admit advance advertise agree aim align allocate allow amount answer
appear append apply arbitrate arm arrive ask assign assume attach attend await back bear become begin belong bind block
borrow bound break bring broadcast build bump cache calculate call cancel capture carry catch cause change charge check
choose claim clean clear clip close collect combine come commit compare compile complete compose compute configure
connect consist consume contain continue convert copy correspond cost count cover crash create cross cut deal decide
declare decode decrease default defer define delay delete deliver demand denote deny depend describe destroy detach
detect determine die differ disable discard disconnect discover divide double drain draw drop duplicate eat emit empty
enable encode end enforce enqueue ensure enter equal escape estimate evaluate evict examine exceed exchange exclude
execute exercise exist exit expand expect expire explain export expose extend fail fall fetch fill find finish fire fit
fix flip flush fold follow forbid force forget fork form format forward free freeze gather generate get give go grant
group grow guard guess handle hang happen hash help hide hit hold hook identify ignore implement imply import include
increase increment inherit initialise initialize inject insert inspect install intercept interrupt introduce invoke
issue join judge jump keep kill know lack last launch lead leak learn leave lend let lie limit link list listen live
load lock log look loop lose lower make manage map mark match matter mean measure meet merge mint miss model modify
move mutate name need negate normalise normalize note notice notify number obey observe obtain occupy occur offer omit
open order outlive overflow override overwrite own pack park parse pass patch pause pay pick place plan play point poll
pop possess post postpone predict prefer prepare present preserve prevent print proceed process produce promise propose
protect prove provide publish pull push put qualify query queue quit raise rank reach react read receive reckon
recognise recognize record recover reduce refer reflect refuse register reject relate release rely remain remember
remove rename render repair repeat replace replay reply report represent request require reserve reset resize resolve
resort respect respond restart restore result resume retry return reuse reveal revert revoke rewrite ring rise roll
rotate round run sample satisfy save say scale scan schedule score search see seem select send separate serialise
serialize serve set settle shape share shift ship show shrink shut sign signal simulate sit skip sleep sort span
spawn speak specify spend spin split stall stamp stand start state stay steal step stick stop store stretch strike
strip submit subscribe subtract succeed suffer suit sum supply support suppose survive suspend swap switch
synchronise synchronize take talk tear tell terminate test throw tick tie tolerate total touch trace track train
translate travel traverse treat trigger trim truncate trust try turn type understand undo unlock unmap unregister
update use validate vanish vary verify visit wait wake walk want warn waste watch weigh win withdraw withhold work
wrap write yield
""".split()
IRREGULAR = """
became began bound broke brought built came caught chose cost cut did died done drew drove fell felt fought found
gave given gone got grew held hid hit kept knew known lay led left lent let lost made meant met paid put ran read
rose said sat saw sent set shown shut slept spent split spoke stood stuck taken taught told took tore understood
went withdrew withheld woke won wrote
""".split()
# Behind one of these a word that may be a verb is a noun or an adjective: "the first turns", "of releases".
BEFORE_NOUNS = frozenset("""
a an the its their his our this these those each every all both some any no such one two three four more most fewer
other another own first second last next former present new old same of in on at for from with without by to into
between behind beside before after under over than per as and or
""".split())


def _forms(verb):
    yield verb
    stem = verb[:-1] if verb.endswith("e") else verb
    if re.search(r"[^aeiou]y$", verb):
        yield from (verb[:-1] + "ies", verb[:-1] + "ied")
    else:
        yield verb + ("es" if re.search(r"(s|x|z|ch|sh|o)$", verb) else "s")
        yield stem + "ed"
        yield verb + verb[-1] + "ed"


_VERB_FORMS = AUXILIARIES | frozenset(IRREGULAR) | {form for verb in VERBS for form in _forms(verb)}


def first_sentence(text):
    """Of a comment block, up to the first full stop, colon or question mark that ends something."""
    found = re.match(r"(.*?[.?!:])(?:\s|$)", text, re.DOTALL)
    return (found.group(1) if found else text).strip()


def is_fragment(text):
    """Whether the first sentence of a comment block is a part of a sentence. Pure."""
    sentence = first_sentence(text)
    words = re.findall(r"[A-Za-z][A-Za-z'_]*", re.sub(r"`[^`]*`", "", sentence))
    if len(words) < 2 or sentence.endswith("?"):
        return False
    if words[0].lower() in OPENERS:
        return True
    before = ["", *(word.lower() for word in words)]
    return not any(word in AUXILIARIES or (word in _VERB_FORMS and previous not in BEFORE_NOUNS)
                   for previous, word in zip(before, before[1:]))


def blocks_of_c(text):
    """[(line, text)] of comments that stand alone on their lines."""
    block, begun = [], 0
    for number, line in enumerate([*text.split("\n"), ""], 1):
        found = re.match(r"\s*// ?(.*)", line)
        if found:
            begun = begun if block else number
            block.append(found.group(1))
        elif block:
            yield begun, "\n".join(block)
            block = []


def blocks_of_python(text):
    """[(line, text)] of docstrings, and of comments that stand alone on their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node)
            if doc:
                yield node.body[0].lineno, doc
    yield from blocks_of_c(re.sub(r"(?m)^(\s*)#(?!!)", r"\1//", text))


def comments(path):
    text = tree.read(path)
    return blocks_of_python(text) if path.endswith(".py") else blocks_of_c(text)


def commented(path):
    """Returns whether blocks of comments are read in this file."""
    return path.endswith((*C_FAMILY, ".py"))


def is_checked(path):
    """Returns whether this file counts. This one lists the words, and results are dated records."""
    return path != "tools/lint/words.py" and not path.startswith("benchmarks/results/")


def checked():
    """Returns the files of the tree whose texts count."""
    return [path for path in tree.files(*TEXTS) if is_checked(path)]


def complaints(paths):
    """({what: [line for --list]}, blocks in all)."""
    found, blocks = {"fragments": [], "vague": [], "unnamed": [], "allowed": []}, 0
    for path in paths:
        found["unnamed"] += [f"{path}:{n}: {row.strip()}" for n, row in enumerate(tree.read(path).split("\n"), 1)
                             if UNNAMED.search(KEPT_NAMES.sub("", row))]
        for line, text in comments(path) if commented(path) else ():
            blocks += 1
            if is_fragment(text):
                found["fragments"].append(f"{path}:{line}: {first_sentence(text)!r}")
            found["vague"] += [f"{path}:{line + n}: {row.strip()}" for n, row in enumerate(text.split("\n"))
                               if VAGUE.search(row)]
        found["allowed"] += [f"{path}:{tree.read(path).count(chr(10), 0, m.start()) + 1}: {m.group(0)}"
                             for m in (ALLOWED.finditer(tree.read(path)) if path.endswith(PROGRAMS) else ())]
    return found, blocks


def main(arguments=()):
    found, blocks = complaints(checked())
    counts = {what: len(lines) for what, lines in found.items()}
    if "--list" in arguments:
        for what, lines in found.items():
            print("\n".join(f"{what}: {line}" for line in lines))
    if "--keep" in arguments:
        KEPT.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    more = {what: count for what, count in counts.items() if count > kept.get(what, 0)}
    for what, count in more.items():
        print(f"words: {what}: expected {kept.get(what, 0)} at most, got {count}: "
              "python3 tools/lint/words.py --list names them", file=sys.stderr)
    share = counts["fragments"] / max(1, blocks)
    print(f"words: {blocks} comment blocks, {counts['fragments']} open with a fragment ({share:.1%}), "
          f"{counts['vague'] + counts['unnamed']} lines and {counts['allowed']} messages in vague words"
          + ("" if more or counts == kept else "; fewer than words.json says: --keep lowers it"))
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
