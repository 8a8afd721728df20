import json
import tempfile
import textwrap
import unittest
from pathlib import Path
from unittest import mock

from testing.mutants import draw, explained, runs, trial
from testing.mutants.operators import Mutation, mutated, mutations, numbers
from testing.mutants.programs import Programs
from testing.mutants.tokens import code_by_line, tokens
from testing.mutants.trial import Outcome


def changes(line, above=""):
    """Returns {operator: what the line becomes} of a line."""
    found = {}
    for mutation in mutations("a.cc", f"{above}\n{line}\n").get(2, []):
        found.setdefault(mutation.operator, []).append(mutation.after)
    return found


class Tokens(unittest.TestCase):
    def kinds(self, source):
        return [(token.kind, token.text) for token in tokens(source)]

    def test_comments_directives_and_text_are_no_code(self):
        source = ('#include <a>\n#define X \\\n  1 < 2\nint a; // a < b\n/* c <\n d */ auto s = "x \\" < y"; '
                  "char c = '<';\n")
        self.assertEqual([t.text for line in code_by_line(source).values() for t in line if t.kind == "mark"],
                         [";", "=", ";", "=", ";"])
        self.assertEqual([kind for kind, _ in self.kinds(source)][:2], ["directive", "directive"])

    def test_text_that_is_raw_ends_where_it_says(self):
        self.assertEqual(self.kinds('R"x(a)" < )x" < b'),
                         [("text", 'R"x(a)" < )x"'), ("mark", "<"), ("word", "b")])

    def test_numbers_with_marks_of_thousands_are_one(self):
        self.assertEqual(self.kinds("1'000'000 0x1F 1e-9 .5f 3u"),
                         [("number", text) for text in ("1'000'000", "0x1F", "1e-9", ".5f", "3u")])

    def test_marks_are_the_longest_that_there_are(self):
        self.assertEqual([text for _, text in self.kinds("a <=> b <= c << d->e ... ++f && g")],
                         ["a", "<=>", "b", "<=", "c", "<<", "d", "->", "e", "...", "++", "f", "&&", "g"])

    def test_places(self):
        token = tokens("int a;\n  b = \"x\";\n")[4]
        self.assertEqual((token.text, token.line, token.column, token.end), ("=", 2, 4, 5))
        raw = tokens('auto a = R"(1\n2)"; b;')
        self.assertEqual([(t.text, t.line) for t in raw[3:]], [('R"(1\n2)"', 1), (";", 2), ("b", 2), (";", 2)])


class Operators(unittest.TestCase):
    def test_each_operator(self):
        for line, operator, after in (
                ("return a < b;", "relational", ["return a <= b;", "return a >= b;"]),
                ("return a == b;", "relational", ["return a != b;"]),
                ("x = a + b;", "arithmetic", ["x = a - b;"]),
                ("++x;", "arithmetic", ["--x;"]),
                ("x |= y;", "bitwise", ["x &= y;"]),
                ("y = a && !b;", "logical", ["y = a || !b;", "y = a && b;"]),
                ("if (a) {", "condition", ["if (true) {", "if (false) {"]),
                ("while (a(b)) {", "condition", ["while (false) {"]),
                ("x = std::min(a, b);", "extreme", ["x = std::max(a, b);"]),
                ("return std::ranges::any_of(a, b);", "extreme",
                 ["return std::ranges::all_of(a, b);", "return std::ranges::none_of(a, b);"]),
                ("Do(a);", "statement", ["{}"]),
                ("if (a) Do(b);", "statement", ["if (a) {}"]),
                ("if (a) break;", "statement", ["if (a) {}"]),
                ("x->y = z;", "statement", ["{}"]),
                ("return a;", "return", ["return {};"]),
                ("if (a) return b;", "return", ["if (a) return {};"]),
                ("bool a = true;", "constant", ["bool a = false;"])):
            self.assertEqual(changes(line, "{").get(operator), after, line)

    def test_numbers(self):
        for number, others in (("0", ["1"]), ("1u", ["0u"]), ("2", ["4", "1"]), ("300'000", ["600000", "150000"]),
                               ("0x10", ["32", "8"]), ("0.5", ["1.0", "0.25"]), ("0.0", ["1.0"]), ("1e3", ["2000.0",
                                                                                                       "500.0"])):
            self.assertEqual(numbers(number), others, number)

    def test_what_is_left_alone(self):
        for line in ("std::vector<int> a;", "Type& a = b;", "const Type* a = *b;", "using A = B<C>;", "auto f = [&] {",
                     "bool operator<(const A& other) const;", "void Do(int a, int b);", "return nullptr;", "// a < b",
                     "return std::nullopt;", 'Say("a < 1");  // 2', "};", "class A : public B {", "return true;"):
            found = changes(line, "{")
            found.pop("statement" if line.startswith("Say") else "", None)
            found.pop("constant" if "true" in line else "", None)
            self.assertEqual(found, {}, line)

    def test_a_part_of_a_statement_is_none(self):
        self.assertNotIn("statement", changes("Do(b));", "x = f("))
        self.assertNotIn("statement", changes("Do(b);", "x ="))
        self.assertIn("statement", changes("Do(b);", "if (a)"))

    def test_conditions_that_declare_are_kept(self):
        self.assertNotIn("condition", changes("if (const auto a = b; a) {", "{"))

    def test_one_line_is_changed_in_place(self):
        source = "{\n  if (a < b) {\n}\n"
        mutation = mutations("a.cc", source)[2][0]
        self.assertEqual(mutated(source, mutation), "{\n  if (a <= b) {\n}\n")
        with self.assertRaisesRegex(ValueError, "a.cc:2: expected 'if \\(a < b\\) {', got 'other'"):
            mutated("{\n  other\n}\n", mutation)

    def test_all_lines_that_are_drawn_from_can_be_changed(self):
        files = draw.sources(runs.ROOT)
        for file, source in files.items():
            for choices in mutations(file, source).values():
                for mutation in choices:
                    self.assertNotEqual(mutated(source, mutation), source)


class Draw(unittest.TestCase):
    SOURCES = {"a.cc": "{\nx = 1;\ny = 2;\nif (z) {\n", "b.cc": "{\nreturn a < b;\n"}

    def test_is_the_same_for_the_same_seed(self):
        once = draw.drawn(self.SOURCES, "seed")
        self.assertEqual(once, draw.drawn(dict(reversed(self.SOURCES.items())), "seed"))
        self.assertEqual([(m.file, m.line, m.after) for m in once],
                         [("a.cc", 4, "if (true) {"), ("b.cc", 2, "return a <= b;"), ("a.cc", 2, "x = 0;"),
                          ("a.cc", 3, "y = 4;")], "on any machine")

    def test_another_seed_draws_another_way(self):
        ways = {tuple(draw.drawn(self.SOURCES, seed)) for seed in range(20)}
        self.assertGreater(len(ways), 10)

    def test_each_line_once(self):
        self.assertEqual(sorted((m.file, m.line) for m in draw.drawn(self.SOURCES, "seed")),
                         [("a.cc", 2), ("a.cc", 3), ("a.cc", 4), ("b.cc", 2)])

    def test_a_folder_that_is_not_there_is_refused(self):
        with self.assertRaisesRegex(ValueError, "turm: expected a folder"):
            draw.sources(runs.ROOT, ("turm",))


class Run(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.where, self.tried = Path(directory.name), []
        self.ends = {}
        for patch in (mock.patch.object(runs, "WHERE", self.where), mock.patch.object(runs, "copy_tree"),
                      mock.patch.object(runs, "_key", lambda files, suites: "now" + "".join(suites)),
                      mock.patch.object(runs, "Trials", lambda *_: self)):
            patch.start()
            self.addCleanup(patch.stop)

    def try_one(self, mutation):
        self.tried.append(mutation)
        return self.ends.get(len(self.tried), Outcome("killed", "a_test"))

    def run_to(self, count, without=""):
        return runs.run(runs.Plan(count, "seed", ("turn/caps.cc",), without), say=lambda _: None)

    def test_what_does_not_compile_is_drawn_anew(self):
        self.ends = {2: Outcome("refused"), 3: Outcome("survived")}
        tried = self.run_to(3)
        self.assertEqual([outcome.end for _, outcome in tried], ["killed", "survived", "killed"])
        self.assertEqual(len(self.tried), 4)

    def test_goes_on_where_it_stopped(self):
        first = self.run_to(3)
        self.assertEqual(self.run_to(5)[:3], first)
        self.assertEqual(len(self.tried), 5)
        line = json.loads((self.where / "now.jsonl").read_text(encoding="utf-8").splitlines()[0])
        self.assertEqual(line["outcome"], {"end": "killed", "by": "a_test"})

    def test_without_a_test_file_it_is_another_run(self):
        self.run_to(3)
        self.run_to(3, "tests/unit/turn/caps_test.cc")
        self.assertEqual(len(self.tried), 6)
        self.assertTrue((self.where / "nowPaceTestPartNeededTest.jsonl").is_file())

    def test_a_test_file_that_is_none_is_refused(self):
        with self.assertRaisesRegex(ValueError, "turn/caps.cc: expected a file with tests"):
            self.run_to(1, "turn/caps.cc")


class Trial(unittest.TestCase):
    """Tests a tree with one file and three tests that have it. Nothing is built or run."""

    MUTATION = Mutation("turn/a.cc", 2, "constant", "x = 1;", "x = 0;")
    SOURCE = "{\n  x = 1;\n}\n"
    NEAR = {"bin/far_test": 1, "bin/slow_test": 3, "bin/near_test": 3}

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.file = Path(directory.name, "turn/a.cc")
        self.file.parent.mkdir()
        self.file.write_text(self.SOURCE, encoding="utf-8")
        self.ran, self.ends, self.refused = [], {}, ()
        programs = mock.Mock(**{"linked_with.return_value": list(self.NEAR), "of.return_value": self.NEAR})
        for patch in (mock.patch.object(trial, "Programs", lambda *_: programs),
                      mock.patch.object(trial.Trials, "_configure"),
                      mock.patch.object(trial.Trials, "_make", lambda _, tests, **__: self.make(tests)),
                      mock.patch.object(trial.Trials, "_end", lambda _, test, limit_s: self.run_one(test))):
            patch.start()
            self.addCleanup(patch.stop)
        self.trials = trial.Trials(Path(directory.name), ["turn"])
        self.trials._seconds = {"bin/far_test": 0.1, "bin/slow_test": 9, "bin/near_test": 1}

    def make(self, tests):
        changed = self.file.read_text(encoding="utf-8") != self.SOURCE
        return "error" if changed and set(tests) & set(self.refused) else ""

    def run_one(self, test):
        changed = "x = 0;" in self.file.read_text(encoding="utf-8")
        self.ran.append(test if changed else f"{test} as it is")
        return self.ends.get(test, "passed") if changed else "passed"

    def end(self):
        outcome = self.trials.try_one(self.MUTATION)
        self.assertEqual(self.file.read_text(encoding="utf-8"), self.SOURCE, "it is as it was")
        return outcome

    def test_survives_where_all_pass_the_nearest_and_shortest_first(self):
        self.assertEqual(self.end(), Outcome("survived"))
        self.assertEqual(self.ran, ["bin/near_test", "bin/slow_test", "bin/far_test"])

    def test_the_first_that_fails_ends_it(self):
        self.ends = {"bin/slow_test": "killed"}
        self.assertEqual(self.end(), Outcome("killed", "slow_test"))
        self.assertEqual(self.ran, ["bin/near_test", "bin/slow_test"])

    def test_what_is_waited_for_in_vain_is_seen(self):
        self.ends = {"bin/near_test": "timeout"}
        self.assertEqual(self.end(), Outcome("timeout", "near_test"))
        self.assertEqual(self.ran, ["bin/near_test", "bin/near_test as it is"])

    def test_what_a_busy_machine_makes_slow_is_not(self):
        self.ends = {"bin/near_test": "timeout"}
        with mock.patch.object(trial.Trials, "_is_busy", return_value=True), self.assertRaisesRegex(
                trial.Failed, "the machine is busy"):
            self.end()
        self.assertEqual(self.ran, ["bin/near_test"] * 3)

    def test_what_does_not_compile_is_refused(self):
        self.refused = ("bin/slow_test",)
        self.assertEqual(self.end(), Outcome("refused"))
        self.assertFalse(Outcome("refused").counts)

    def test_a_file_is_as_it_was_whatever_happens(self):
        with mock.patch.object(trial.Trials, "_end", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                self.trials.try_one(self.MUTATION)
        self.assertEqual(self.file.read_text(encoding="utf-8"), self.SOURCE)

    def test_a_tree_that_fails_as_it_is_shows_nothing(self):
        self.trials._seconds.clear()
        with mock.patch.object(trial.Trials, "_end", lambda *_: "killed"), self.assertRaises(trial.Failed):
            self.trials.try_one(self.MUTATION)


class Copy(unittest.TestCase):
    def test_holds_what_the_tree_holds_and_keeps_times(self):
        with tempfile.TemporaryDirectory() as top, tempfile.TemporaryDirectory() as copy:
            with mock.patch.object(runs, "ROOT", Path(top)):
                for name in ("a.cc", "b/c.cc"):
                    (Path(top) / name).parent.mkdir(exist_ok=True)
                    (Path(top) / name).write_text(name, encoding="utf-8")
                runs.copy_tree({"a.cc": None, "b/c.cc": None}, Path(copy))
                before = (Path(copy) / "a.cc").stat().st_mtime_ns
                (Path(copy) / "old.cc").write_text("", encoding="utf-8")
                (Path(copy) / "build").mkdir()
                (Path(copy) / "build/kept").write_text("", encoding="utf-8")
                (Path(top) / "b/c.cc").write_text("other", encoding="utf-8")
                runs.copy_tree({"a.cc": None, "b/c.cc": None}, Path(copy))
                self.assertEqual((Path(copy) / "a.cc").stat().st_mtime_ns, before)
                self.assertEqual((Path(copy) / "b/c.cc").read_text(encoding="utf-8"), "other")
                self.assertEqual(sorted(path.name for path in Path(copy).rglob("*") if path.is_file()),
                                 ["a.cc", "c.cc", "kept"])


_NINJA = textwrap.dedent("""\
    build turn/CMakeFiles/turn.dir/caps.cc.o: CXX_COMPILER__turn /tree/turn/caps.cc || cmake_order
    build turn/CMakeFiles/turn.dir/guard.cc.o: CXX_COMPILER__turn /tree/turn/guard.cc || cmake_order
    build turn/libturn.a: CXX_STATIC_LIBRARY_LINKER__turn turn/CMakeFiles/turn.dir/caps.cc.o \
    turn/CMakeFiles/turn.dir/guard.cc.o || order
    build tests/unit/turn/CMakeFiles/turn_test.dir/caps_test.cc.o: CXX_COMPILER__t /tree/tests/unit/turn/caps_test.cc
    build bin/turn_test: CXX_EXECUTABLE_LINKER__turn_test tests/unit/turn/CMakeFiles/turn_test.dir/caps_test.cc.o \
    | turn/libturn.a /usr/lib/libgtest.a || order
    build tests/unit/cli/CMakeFiles/cli_test.dir/cli_test.cc.o: CXX_COMPILER__t /tree/tests/unit/cli/cli_test.cc
    build bin/cli_test: CXX_EXECUTABLE_LINKER__c tests/unit/cli/CMakeFiles/cli_test.dir/cli_test.cc.o \
    | turn/libturn.a /usr/lib/libgtest.a
    build bin/tool: CXX_EXECUTABLE_LINKER__tool tools/tool.cc.o | turn/libturn.a
    """)


class Which(unittest.TestCase):
    """Tests a build of one library with two objects, and two tests. cli_test was linked with caps.cc alone."""

    DEPS = ("turn/CMakeFiles/turn.dir/caps.cc.o: #deps 3, deps mtime 1 (VALID)\n    /tree/turn/caps.cc\n"
            "    /tree/turn/guard.h\n    /tree/turn/ops.h\n\n"
            "turn/CMakeFiles/turn.dir/guard.cc.o: #deps 1, deps mtime 1 (VALID)\n"
            "    /tree/turn/guard.cc\n    /tree/turn/guard.h\n    /usr/include/x.h\n")
    NAMES = {"turn/CMakeFiles/turn.dir/caps.cc.o": "Caps T 0 1\n",
             "turn/CMakeFiles/turn.dir/guard.cc.o": "Guard T 0 1\n",
             "bin/turn_test": "Caps t 0 1\nGuard t 0 1\n", "bin/cli_test": "Caps t 0 1\nshared W 0 1\n"}

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        Path(directory.name, "build.ninja").write_text(_NINJA, encoding="utf-8")
        self.programs = Programs("/tree", directory.name)
        patch = mock.patch.object(Programs, "_run", lambda _, *command: self.DEPS if command[0] == "ninja"
                                  else self.NAMES[command[-1]])
        patch.start()
        self.addCleanup(patch.stop)

    def test_tests_are_what_is_linked_of_tests(self):
        self.assertEqual(self.programs.tests, {"bin/turn_test": "tests/unit/turn", "bin/cli_test": "tests/unit/cli"})

    def test_before_anything_is_built_all_that_may_have_it(self):
        self.assertEqual(self.programs.linked_with(["turn"]), ["bin/turn_test", "bin/cli_test"])
        self.assertEqual(self.programs.linked_with(["turn/guard.cc"]), ["bin/turn_test", "bin/cli_test"])
        self.assertEqual(self.programs.linked_with(["extender", "turn/guard"]), [])

    def test_afterwards_those_that_have_it_and_how_near_they_are(self):
        self.assertEqual(self.programs.of("turn/ops.h"), {"bin/turn_test": 3, "bin/cli_test": 2})
        self.assertEqual(self.programs.of("turn/guard.h"), {"bin/turn_test": 3}, "of guard.cc")
        self.assertEqual(self.programs.of("turn/guard.cc"), {"bin/turn_test": 3})


class Explained(unittest.TestCase):
    def test_entries_say_why_and_are_of_lines_that_are_there(self):
        reasons = explained.read()
        self.assertEqual(explained.stale(reasons, runs.ROOT), [])
        self.assertTrue(all(len(why) > 20 for why in reasons.values()))

    def test_one_of_a_line_that_is_gone_is_found(self):
        """This is the control of the test above."""
        reasons = {("turn/caps.h", "no such line", "x"): "why", ("turn/no.h", "#pragma once", "x"): "why",
                   ("turn/caps.h", "#pragma once", "x"): "why"}
        self.assertEqual(explained.stale(reasons, runs.ROOT), list(reasons)[:2])

    def test_a_block_of_another_form_is_refused(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write("# a remark\na.cc\nbefore\nafter\n")
            file.flush()
            with self.assertRaisesRegex(ValueError, "a.cc: expected a block of 4 lines, got 3"):
                explained.read(Path(file.name))

    def test_what_is_explained_is_known_by_its_words(self):
        mutation = Mutation("a.cc", 7, "constant", "x = 1;", "x = 0;")
        self.assertEqual(explained.of(mutation, {("a.cc", "x = 1;", "x = 0;"): "why"}), "why")
        self.assertEqual(explained.of(mutation, {}), "")


if __name__ == "__main__":
    unittest.main()
