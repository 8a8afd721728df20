import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "tools" / "lint"))
import house  # noqa: E402
import tree  # noqa: E402

from benchmarks.runner.moved_on import code_lines  # noqa: E402

_FILES = {"common/api/pod.cc": "std::optional<Pod> ParsePod(const json& object) {\n  TextAt(object, \"taints\");\n",
          "extender/cluster/parse_budget.cc": "std::optional<Budget> ParseBudget(const nlohmann::json& object) {\n",
          "deviceplugin/books/ledger.h": "class Ledger {\n  void Teach(int run);\n};\n",
          "turn/policy.cc": "// A Ledger is not here.\nPolicy::Policy() {}\n"}
_TABLE = [{"place": "deviceplugin", "name": "Ledger", "term": "ClientStats"},
          {"place": "deviceplugin", "name": "books", "term": "stats"},
          {"place": "deviceplugin", "name": "Teach", "term": "Load"},
          {"place": "turn", "name": "Ledger", "term": "ClientStats"},
          {"place": "turn", "name": "rhythm", "term": "timing_model"}]
_ROW = "| `books` in `deviceplugin` | The daemon keeps books for `api/`. |\n"


class House(unittest.TestCase):
    def reading(self, files):
        return mock.patch.object(tree, "read", lambda path: files[path])

    def test_each_object_has_a_parser(self):
        with self.reading(_FILES):
            found = house.parsers(_FILES)
        self.assertEqual(set(found), {("common", "Pod"), ("extender", "PodDisruptionBudget")})
        self.assertEqual(house.most_parsers(found), 1)

    def test_a_parser_of_its_own_in_another_process_counts(self):
        again = "std::optional<Pod> ParsePod(const json& object) {\n"
        for paths in (("common/api/pod.cc", "deviceplugin/pods/pod.cc"),
                      ("extender/cluster/parse_pod.cc", "deviceplugin/pods/pod.cc")):
            with self.reading(dict.fromkeys(paths, again)):
                found = house.parsers(paths)
            self.assertEqual(len(found[paths[1].split("/")[0], "Pod"]), 2, paths)
            self.assertEqual(house.most_parsers(found), 2, paths)

    def test_a_field_of_the_model_is_read_in_one_place(self):
        files = {"common/api/node.cc": 'TextAt(status, "taints");', "tests/unit/x_test.cc": 'At(node, "taints");',
                 "deviceplugin/own.cc": 'osImage_ = kube::Text(kube::At(kube::At(status, "nodeInfo"), "osImage"));',
                 "cli/gpus.cc": 'ListAt(*node, {"status", "withheld"}); ListAt(gpu,\n    {"holders"});',
                 "extender/writer.cc": 'object["healthy"] = true; x = {{"sharing", kind}}; // At(a, "sharing")'}
        with self.reading(files):
            self.assertEqual(house.read_again(files), [
                ("deviceplugin/own.cc", "osImage"), ("cli/gpus.cc", "holders"), ("cli/gpus.cc", "withheld")])

    def test_a_second_reader_of_the_same_object_counts(self):
        files = {**_FILES, "extender/x.cc":
                 "std::optional<std::pair<ProfileId, ProfileRecord>> A(const json& object) {\n"
                 "std::optional<JobProfile> B(const nlohmann::json& object) {\n"}
        with self.reading(files):
            self.assertEqual(house.most_parsers(house.parsers(files)), 2)

    def test_names_are_found_in_files_folders_types_and_functions_but_not_in_comments(self):
        with self.reading(_FILES):
            self.assertEqual(house.left(_TABLE, {}, _FILES),
                             [("deviceplugin", "Ledger"), ("deviceplugin", "books"), ("deviceplugin", "Teach")])

    def test_a_reason_keeps_a_name_and_a_row_about_none_is_stale(self):
        reasons = house.glossary(_ROW + "| `rhythm` in `turn` | It is gone. |\n| `other` in `turn` | Never listed. |\n")
        with self.reading(_FILES):
            self.assertEqual(house.left(_TABLE, reasons, _FILES),
                             [("deviceplugin", "Ledger"), ("deviceplugin", "Teach")])
            self.assertEqual(house.stale(_TABLE, reasons, _FILES), [("turn", "rhythm"), ("turn", "other")])

    def test_a_unit_test_lies_as_its_source_does(self):
        files = {"turn/policy.h": "", "turn/caps/policy.h": "", "sidecar/policy.h": "",
                 "tests/unit/turn/policy_test.cc": '#include "turn/policy.h"\n',
                 "tests/unit/turn/core/policy_test.cc": '#include "turn/caps/policy.h"\n',
                 "tests/unit/turn/core/other_test.cc": '#include "turn/policy.h"\n'}
        with self.reading(files):
            self.assertEqual(house.misplaced(files), [("tests/unit/turn/core/policy_test.cc", "turn/caps")])

    def test_one_more_than_was_kept_turns_the_lint_red(self):
        """This is the control: a second parser, a field read again, a name that comes back, a row of the glossary about
        none."""
        with tempfile.TemporaryDirectory() as folder:
            table, kept = Path(folder, "names.json"), Path(folder, "house.json")
            table.write_text(json.dumps(_TABLE), encoding="utf-8")
            kept.write_text(json.dumps({"parsers": 1, "fields": 0, "names": 2, "tests": 0}), encoding="utf-8")
            apart = {"turn/policy.h": "", "tests/unit/turn/core/policy_test.cc": '#include "turn/policy.h"\n'}
            again = {"extender/again.cc": "std::optional<Pod> Again(const json& object) {\n"}
            picked = {"extender/again.cc": 'IsTrue(status, "healthy");\n'}
            for more, glossary, words in (({}, _ROW, None),
                                          (picked, _ROW, "house: fields: expected 0 at most, got 1"),
                                          (again, _ROW, "house: parsers: expected 1 at most, got 2"),
                                          ({"turn/rhythm.cc": ""}, _ROW, "house: names: expected 2 at most, got 3"),
                                          (apart, _ROW, "house: tests: expected 0 at most, got 1"),
                                          ({}, _ROW.replace("books", "book"), "expected names of names.json")):
                files, said = {**_FILES, **more, house.GLOSSARY: glossary}, io.StringIO()
                paths = [path for path in files if path != house.GLOSSARY]
                with self.reading(files), mock.patch.object(tree, "files", lambda *_, paths=paths: paths), \
                        mock.patch.object(house, "NAMES", table), mock.patch.object(house, "KEPT", kept), \
                        contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                    self.assertEqual(house.main(), 0 if words is None else 1, words)
                if words:
                    self.assertIn(words, said.getvalue())


class Size(unittest.TestCase):
    def test_blank_lines_comments_and_includes_do_not_count(self):
        text = '#include "a.h"\n\n// It adds.\nint Add(int a) {  // one\n  return a + 1;\n}\n/* none\n */\n'
        self.assertEqual(code_lines("a.cc", text).total(), 3)


if __name__ == "__main__":
    unittest.main()
