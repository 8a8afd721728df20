"""Tests that each reported fault has a case whose tests exist, and that each kind of owner has a case with each event
that docs/support.md says was tested."""

import ast
import re
import unittest
from pathlib import Path

from benchmarks.cluster import reported_faults

_TREE = Path(__file__).resolve().parents[4]
_FOLDERS = {reported_faults.CLUSTER: "tests/cluster", reported_faults.CHART: "tests/charts"}
_PAGE = (_TREE / "docs/support.md").read_text(encoding="utf-8")
_OWNERS = _PAGE.partition("## Owners of pods")[2].partition("\n## ")[0]
_HEADS = {"success of some": "success", "suspend and resume": "suspension", "eviction": "eviction", "drain": "drain",
          "node lost": "loss", "reboot": "reboot"}


def tests_of(module, name, folder="tests/cluster"):
    """Returns the names of the tests that a class of a folder has by itself or from classes of tests/cluster, and the
    events that it says it cannot have."""
    file = _TREE / folder / f"{module.replace('.', '/')}.py"
    tree = ast.parse(file.read_text(encoding="utf-8")) if file.exists() else ast.Module([], [])
    found = next((each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name), None)
    if found is None:
        come = [each.module.removeprefix("tests.cluster.") for each in tree.body if isinstance(each, ast.ImportFrom)
                and each.module.startswith("tests.cluster.") and name in {alias.name for alias in each.names}]
        return tests_of(come[0], name) if come else (set(), None)
    tests = {each.name for each in found.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")}
    without = next(({key.id.lower() for key in each.value.keys} for each in found.body
                    if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == "NOT"), None)
    for base in found.bases:
        more, other = tests_of(module, base.id) if isinstance(base, ast.Name) else (set(), None)
        tests |= more
        without = other if without is None else without
    return tests, without


def lacking(case):
    """Returns the tests of a case that its class does not have."""
    tests, _ = tests_of(*case.group.split(":"), _FOLDERS[case.place])
    return [test for test in (*case.tests, *case.was) if test not in tests]


def rows_of(text):
    """Returns {name of a case: {event: what the cell says}} of the table of owners and events."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()
             if line.startswith("|")]
    heads = next((line for line in lines if "node lost" in line), [])
    begin = lines.index(heads) + 2 if heads else len(lines)
    return {line[heads.index("case")].strip("`"): {_HEADS[head]: cell for head, cell in zip(heads, line)
                                                   if head in _HEADS} for line in lines[begin:]}


def disagree(rows, cases):
    """Returns what the table of owners says that the cases do not, and the other way round."""
    wrong = [f"{name}: the table does not have it" for name in sorted(set(cases) - set(rows))]
    for name, cells in rows.items():
        if name not in cases:
            wrong.append(f"{name}: expected a case, got none")
            continue
        wrong += [f"{name}: expected {event}, got {sorted(cells)}" for event in reported_faults.EVENTS
                  if event not in cells]
        _, without = tests_of(*cases[name].group.split(":"))
        for event, cell in cells.items():
            has = reported_faults.EVENTS[event] in cases[name].tests
            if cell not in ("tested", "n/a") or has != (cell == "tested") or has == (event in (without or ())):
                wrong.append(f"{name}: {event}: the table says {cell!r}, the case {has}, the class without {without}")
    return wrong


class Reported(unittest.TestCase):
    live = [case for case in reported_faults.CASES.values() if case.place == reported_faults.CLUSTER]
    owners = {case.name: case for case in live if case.name.startswith("owner_")}

    def test_each_finding_has_a_case(self):
        self.assertEqual({case.finding for case in reported_faults.CASES.values()}, set(range(1, 23)))

    def test_there_are_enough_and_most_are_live(self):
        self.assertGreaterEqual(len(reported_faults.CASES), 30)
        self.assertGreaterEqual(len(self.live), 20)

    def test_their_tests_exist(self):
        classes = [case for case in reported_faults.CASES.values() if case.place in _FOLDERS]
        self.assertEqual({case.name: lacking(case) for case in classes if lacking(case)}, {})
        other = reported_faults.Case(1, "other", reported_faults.CLUSTER, "node.test_mps:Mps", ("test_of_none",))
        self.assertEqual(lacking(other), ["test_of_none"], "the control")

    def test_owners_are_tested_in_the_events_that_the_page_says(self):
        rows = rows_of(_OWNERS)
        self.assertEqual(disagree(rows, self.owners), [])
        name = next(iter(self.owners))
        less = {each: case for each, case in self.owners.items() if each != name}
        self.assertEqual(disagree(rows, less), [f"{name}: expected a case, got none"], "the control")
        claimed = {**rows, name: {**rows[name], "loss": "n/a"}}
        self.assertEqual(len(disagree(claimed, self.owners)), 1, "the control")

    def test_each_owner_that_the_extender_knows_is_one(self):
        text = (_TREE / "extender/gang/owner_kinds.cc").read_text(encoding="utf-8")
        kinds = set(re.findall(r'\.kind = "(\w+)"|Kubeflow\("(\w+)"', text))
        table = _OWNERS.partition("node lost")[2]
        for kind in {one or two for one, two in kinds}:
            self.assertIn(kind, table)

    def test_each_owner_has_a_control(self):
        for case in self.owners.values():
            self.assertTrue(case.was or (case.older and case.because), case.name)

    def test_a_control_that_fails_by_something_else_is_none(self):
        case = reported_faults.CASES["owner_indexed_job"]
        lines = ["test_a: testing.processes.Failed: 3 pods of resumed run: not within 180 s; 3 wait: {}"]
        self.assertTrue(reported_faults.is_by_the_fault(case, lines))
        other = ["test_a: Failed: webhook.shm: unknown key; expected one of"]
        self.assertFalse(reported_faults.is_by_the_fault(case, other))


if __name__ == "__main__":
    unittest.main()
