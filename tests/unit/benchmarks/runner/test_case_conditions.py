"""Every figure of jobs that share GPUs says its conditions, also where its runs come to nothing."""

import ast
import unittest
from pathlib import Path
from unittest import mock

from benchmarks import run
from benchmarks.runner import catalogue, kinds, results
from benchmarks.runner.context import Context

# These figures take their runs from the context alone, so they can be played without any run.
_FIGURES = ("eta", "eta_timeslice", "eta_many", "eta_start", "eta_idle", "gain_over_mps", "gain_over_timeslicing",
            "fair", "priority", "join_iterations", "solo_estimate_error", "cpu_cost", "hostile", "eta_hostgates_beside",
            "simgpu_error", "solo_overhead", "charged", "guard", "max_slowdown", "gain_error",
            "adverse", "eta_ipc", "shrink_gain")


def _names_in(path):
    """Returns the names that a module defines or imports."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


class _Build(mock.Mock):
    """A build that has no programs and all libraries."""

    library = Path(__file__)

    @staticmethod
    def known_bad(_name):
        return Path(__file__)


class Cases(unittest.TestCase):
    def lines(self, name):
        module = catalogue.module(name)
        scope = getattr(module, "SCOPE", "chain")
        for case in module.CASES:
            if isinstance(scope, dict) and scope[case] == "component":
                continue  # it needs the model, which is a program
            context = Context(_Build(), lambda text: None, runs=1)
            with (mock.patch.object(Context, "session", lambda *_, **__: None),
                  mock.patch("testing.validity.wait_until_quiet")):
                for measured in run._measured(context, name, module, case):
                    yield measured, results.line(measured, "chain", "here", "run", catalogue.FIGURES[name].kind)

    def test_each_case_says_them(self):
        for name in _FIGURES:
            for measured, line in self.lines(name):
                with self.subTest(figure=name, case=measured.case):
                    self.assertNotIn("failed", line["conditions"])
                    self.assertIsNone(line["value"])
                    self.assertTrue(kinds.speaks_of_jobs(line["conditions"]))

    def test_a_void_case_is_never_good(self):
        for name in _FIGURES:
            for measured, line in self.lines(name):
                with self.subTest(figure=name, case=measured.case):
                    self.assertEqual(line["ok"], measured.goal.limit is None)

    def test_figures_of_turns_name_each_folder_of_the_library_but_that_of_signals(self):
        library = Path(__file__).resolve().parents[4] / "sidecar"
        folders = {f"sidecar/{path.name}" for path in library.iterdir() if path.is_dir()}
        named = {folder for folder in catalogue.figure("eta").folders if folder.startswith("sidecar")}
        self.assertEqual(folders - named, {"sidecar/ipc"})
        self.assertLessEqual(folders, set(catalogue.figure("eta_ipc").folders))

    def test_what_is_there_is_in_the_catalogue(self):
        """A module with CASES and measure() is a figure, and lies in the folder of its subject."""
        top = Path(run.__file__).parent
        figures = [path for path in top.glob("*/*.py") if {"CASES", "measure"} <= _names_in(path)]
        self.assertEqual(sorted(f"{path.parent.name}/{path.stem}" for path in figures),
                         sorted(f"{figure.subject}/{name}" for name, figure in catalogue.FIGURES.items()))
        for name, figure in catalogue.FIGURES.items():
            self.assertIn(figure.kind, kinds.KINDS, name)
            for folder in figure.folders:
                self.assertTrue((Path(run.__file__).parents[1] / folder).is_dir(), f"{name}: no folder {folder}")


if __name__ == "__main__":
    unittest.main()
