"""Tests the record of releases, with clones and records that are made here, and the tree against the real record."""

import contextlib
import dataclasses
import io
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import yaml

from tools.releases import __main__ as program
from tools.releases import facts, record

# The files that tell what a tree has.
_FILES = ("CMakeLists.txt", "charts/crossover/Chart.yaml", "charts/crossover/values.schema.json",
          "manifests/crds/gpunodes.yaml", "manifests/crds/jobprofiles.yaml", "proto/arbiter_protocol.h",
          "proto/turnstile.h", "proto/signaller_protocol.h", "proto/crossover_node.proto",
          "deviceplugin/plugin/cdi_spec.cc")
_NONE = "0" * 40


# Clones begin as version 0.1.0 with numbers of 1, whatever the tree has.
_BEGIN = (("CMakeLists.txt", r"(?m)^(project\(crossover VERSION )[0-9.]+", r"\g<1>0.1.0"),
          ("charts/crossover/Chart.yaml", r"(?m)^(version: ).*", r"\g<1>0.1.0"),
          ("deviceplugin/plugin/cdi_spec.cc", r'("cdiVersion", )"[0-9.]+"', r'\g<1>"0.5.0"'),
          *((f"proto/{name}.h", rf"(#define CROSSOVER_{macro}_VERSION )\d+", r"\g<1>1") for name, macro in (
              ("arbiter_protocol", "PROTOCOL"), ("turnstile", "TURNSTILE"), ("signaller_protocol", "SIGNAL"))))


class Clone:
    """Is a small repository that has these files alone."""

    def __init__(self, test):
        directory = tempfile.TemporaryDirectory()
        test.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        for file in _FILES:
            (self.root / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(facts.TREE / file, self.root / file)
        for file, pattern, begin in _BEGIN:
            text, count = re.subn(pattern, begin, (self.root / file).read_text(encoding="utf-8"))
            assert count == 1, f"{file} has {count} of {pattern}"
            (self.root / file).write_text(text, encoding="utf-8")
        self._git("init", "--quiet")
        self.record([])

    def _git(self, *words):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example", *words], cwd=self.root,
                              capture_output=True, text=True, check=True).stdout.strip()

    def commit(self):
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", "x")
        return self._git("rev-parse", "HEAD")

    def change(self, file, old, new):
        path = self.root / file
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{file} has no {old}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def raise_to(self, name):
        """Gives the tree another version."""
        before = facts.facts(facts.WorkingTree(self.root)).name
        self.change("CMakeLists.txt", f"project(crossover VERSION {before}", f"project(crossover VERSION {name}")
        self.change("charts/crossover/Chart.yaml", f"\nversion: {before}\n", f"\nversion: {name}\n")

    def record(self, entries):
        path = self.root / record.FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump({"releases": entries}), encoding="utf-8")

    def entry(self, revision):
        return yaml.safe_load(program.entry(self.root, revision))[0]

    def release(self):
        """Records the tree as the only release, and returns its entry."""
        entry = self.entry(self.commit())
        self.record([entry])
        return entry

    def run(self, *words):
        """Returns (exit code, what it said)."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = program.main(words, self.root)
        return code, said.getvalue()


class Tree(unittest.TestCase):
    def test_may_come_after_the_newest_release(self):
        program.check(facts.TREE)

    def test_says_what_its_files_say(self):
        tree = facts.facts(facts.WorkingTree())
        self.assertEqual(tree.name, tree.chart)
        self.assertEqual(sorted(tree.definitions), ["gpunodes.crossover.dev", "jobprofiles.crossover.dev"])
        self.assertIn("v1alpha1 status.gpus[].uuid", tree.definitions["gpunodes.crossover.dev"][1])
        self.assertIn("configurations.*.node.slots_per_gpu", tree.configuration["deviceplugin"])
        self.assertIn("gangs.topology", tree.configuration["extender"])
        self.assertLessEqual({"gang", "step_alone_ms.value"}, set(tree.profiles))

    def test_a_file_that_does_not_say_it_once_is_named(self):
        for file, old, new, said in (
                ("proto/turnstile.h", "#define CROSSOVER_TURNSTILE_VERSION", "#define CROSSOVER_TURNSTILE",
                 "proto/turnstile.h: CROSSOVER_TURNSTILE_VERSION: expected it once, got it 0 times"),
                ("charts/crossover/Chart.yaml", "\nversion: ", "\nversion: 0.1.0\nversion: ",
                 "charts/crossover/Chart.yaml: version: expected it once, got it 2 times"),
                ("manifests/crds/gpunodes.yaml", "openAPIV3Schema", "schema",
                 "manifests/crds/gpunodes.yaml: text: expected a CustomResourceDefinition, got KeyError"),
                ("charts/crossover/values.schema.json", "{", "",
                 "charts/crossover/values.schema.json: text: expected a schema with the configuration of each program"),
                ("proto/crossover_node.proto", "message JobProfile {", "message Profile {",
                 "proto/crossover_node.proto: message: expected JobProfile, got none")):
            with self.subTest(file):
                clone = Clone(self)
                clone.change(file, old, new)
                code, text = clone.run()
                self.assertEqual((code, text.count("\n")), (2, 1), text)
                self.assertIn(said, text)


class Record(unittest.TestCase):
    def setUp(self):
        self.clone = Clone(self)
        self.entry = self.clone.release()

    def refused(self, entries, said):
        """Checks that a record is refused in one line that says this, and names the file."""
        if isinstance(entries, str):
            (self.clone.root / record.FILE).write_text(entries, encoding="utf-8")
        else:
            self.clone.record(entries)
        code, text = self.clone.run()
        self.assertEqual((code, text.count("\n")), (2, 1), text)
        self.assertIn(f"releases: {record.FILE}", text)
        self.assertIn(said, text)

    def test_is_valid_without_releases_and_with_one(self):
        self.assertEqual(self.clone.run()[0], 0)
        self.clone.record([])
        self.assertIn("releases: 0 recorded; the tree is ", self.clone.run()[1])

    def test_keys_that_are_missing_or_unknown_are_named(self):
        for key in self.entry:
            self.refused([{name: value for name, value in self.entry.items() if name != key}],
                         f"releases[0].{key}: expected a value, got none")
        self.refused([{**self.entry, "protocoll": 1}], "releases[0]: key: expected one of name, revision, ")
        self.refused([{**self.entry, "files": {"cdi": "0.5.0"}}], "releases[0].files.profiles: expected a value")
        self.refused("releases: []\nrelease: 1\n", "key: expected one of releases, got 'release'")
        self.refused("", "text: expected a mapping with releases, got None")

    def test_values_of_another_form_are_named(self):
        for key, value, said in (
                ("name", "v0.1.0", "name: expected a version such as 0.1.0, got 'v0.1.0'"),
                ("name", "0.01.0", "name: expected a version such as 0.1.0, got '0.01.0'"),
                ("name", 0.1, "name: expected a version such as 0.1.0, got 0.1"),
                ("revision", "main", "revision: expected 40 hexadecimal digits in quotes, got 'main'"),
                ("revision", 10 ** 39, "revision: expected 40 hexadecimal digits in quotes, got 1000"),
                ("protocol", "1", "protocol: expected a whole number from 1 on, got '1'"),
                ("page", True, "page: expected a whole number from 1 on, got True"),
                ("signals", 0, "signals: expected a whole number from 1 on, got 0"),
                ("definitions", {}, "definitions: expected a mapping with definitions, got {}"),
                ("definitions", {"a": {"versions": [], "fields": "0" * 12}}, "a.versions: expected a list of versions"),
                ("configuration", {"deviceplugin": "x", "extender": "0" * 12},
                 "configuration.deviceplugin: expected 12 hexadecimal digits in quotes, got 'x'"),
                ("files", {"cdi": 5, "profiles": "0" * 12}, "files.cdi: expected a version such as 0.5.0, got 5")):
            with self.subTest(key=key, value=value):
                self.refused([{**self.entry, key: value}], said)
        self.refused("releases: 7\n", "releases: expected a list, got 7")
        self.refused("releases:\n  - {name: 0.1.0\n", "text: expected YAML, got ")
        self.refused("releases: []\nreleases: []\n", f"{record.FILE}:2: releases: expected it once, got it twice")

    def test_a_revision_that_the_clone_lacks_is_named(self):
        self.refused([{**self.entry, "revision": _NONE}],
                     f"releases[0].revision: expected a commit of this clone, got {_NONE}")

    def test_an_entry_that_differs_from_its_revision_is_named(self):
        self.refused([{**self.entry, "page": 2}],
                     f"releases[0].page: expected 1 as in commit {self.entry['revision']}, got 2")
        self.refused([{**self.entry, "configuration": {**self.entry["configuration"], "extender": "0" * 12}}],
                     "releases[0].configuration: expected {")

    def test_releases_are_in_order_and_may_follow_each_other(self):
        self.clone.raise_to("0.2.0")
        second = self.clone.entry(self.clone.commit())
        self.clone.record([self.entry, second])
        self.assertEqual(self.clone.run()[0], 0)
        self.refused([second, self.entry], "releases[1].name: expected more than 0.2.0, got 0.1.0")
        self.refused([self.entry, self.entry], "releases[1].name: expected more than 0.1.0, got 0.1.0")
        self.clone.record([])
        self.clone.change("proto/turnstile.h", "TURNSTILE_VERSION 1u", "TURNSTILE_VERSION 3u")
        third = self.clone.entry(self.clone.commit())
        self.refused([self.entry, third], "0.2.0: page: expected 1 as in 0.1.0, or 2, got 3")


class After(unittest.TestCase):
    """Tests what the tree may have after a release."""

    def setUp(self):
        self.clone = Clone(self)
        self.clone.release()

    def test_protocol_and_page_are_raised_with_a_minor_version(self):
        for file, macro in (("proto/arbiter_protocol.h", "CROSSOVER_PROTOCOL_VERSION"),
                            ("proto/turnstile.h", "CROSSOVER_TURNSTILE_VERSION"),
                            ("proto/signaller_protocol.h", "CROSSOVER_SIGNAL_VERSION")):
            self.clone.change(file, f"{macro} 1u", f"{macro} 2u")
            code, text = self.clone.run()
            self.assertEqual((code, text.count("\n")), (2, 1), text)
            self.assertRegex(text, "^releases: tree: version: expected a higher minor version than 0.1.0, since "
                                   r"\w+ is 2 and was 1, got 0.1.0$")
            self.clone.raise_to("0.1.1")
            self.assertIn("got 0.1.1", self.clone.run()[1])
            self.clone.raise_to("0.2.0")
            self.assertEqual(self.clone.run()[0], 0)
            self.clone.change(file, f"{macro} 2u", f"{macro} 3u")
            self.assertRegex(self.clone.run()[1], r"^releases: tree: \w+: expected 1 as in 0.1.0, or 2, got 3$")
            self.clone.change(file, f"{macro} 3u", f"{macro} 1u")
            self.clone.raise_to("0.1.0")

    def test_what_is_new_needs_a_minor_version_and_what_is_gone_from_a_definition_a_major_one(self):
        for file, old, new, said, enough in (
                ("manifests/crds/gpunodes.yaml", "maintenance: {", "resting: {type: boolean}\n                "
                 "maintenance: {", "minor version .* has v1alpha1 status.resting, which is new", "0.2.0"),
                ("manifests/crds/gpunodes.yaml", "maintenance: {", "resting: {",
                 "major version .* has no v1alpha1 status.maintenance any more", "1.0.0"),
                ("charts/crossover/values.schema.json", '"trace_file"', '"trace"',
                 "minor version .* configuration of deviceplugin has no trace_file any more", "0.2.0"),
                ("proto/crossover_node.proto", "double disturbed_at_s = 9;", "double disturbed_s = 9;",
                 "minor version .* profile on a node has no disturbed_at_s any more", "0.2.0"),
                ("deviceplugin/plugin/cdi_spec.cc", '"cdiVersion", "0.5.0"', '"cdiVersion", "0.6.0"',
                 "minor version .* cdi is 0.6.0 and was 0.5.0", "0.2.0")):
            with self.subTest(said):
                self.clone.change(file, old, new)
                code, text = self.clone.run()
                self.assertEqual((code, text.count("\n")), (2, 1), text)
                self.assertRegex(text, said)
                if enough == "1.0.0":
                    self.clone.raise_to("0.2.0")
                    self.assertEqual(self.clone.run()[0], 2)
                self.clone.raise_to(enough)
                self.assertEqual(self.clone.run()[0], 0)
                self.clone.change(file, new, old)
                self.clone.raise_to("0.1.0")

    def test_the_version_does_not_fall_and_the_chart_has_it(self):
        self.clone.raise_to("0.0.9")
        self.assertIn("tree: version: expected 0.1.0 or more, got 0.0.9", self.clone.run()[1])
        self.clone.raise_to("0.1.1")
        self.assertEqual(self.clone.run()[0], 0, "a patch that changes none of this")
        self.clone.change("charts/crossover/Chart.yaml", "\nversion: 0.1.1\n", "\nversion: 0.1.0\n")
        self.assertIn("tree: chart: expected 0.1.1, got 0.1.0", self.clone.run()[1])

    def test_a_patch_changes_no_list(self):
        tree = facts.facts(facts.WorkingTree(self.clone.root))
        patch = dataclasses.replace(tree, name="0.1.1", chart="0.1.1", profiles=[*tree.profiles, "x"])
        self.assertEqual(record.complaints(tree, patch, "t"),
                         ["t: version: expected a higher minor version than 0.1.0, since profile on a node has x, "
                          "which is new, got 0.1.1"])


class Commands(unittest.TestCase):
    def setUp(self):
        self.clone = Clone(self)

    def test_a_tag_is_that_of_the_tree_and_is_new(self):
        self.clone.commit()
        self.assertEqual(self.clone.run("tag", "v0.1.0"), (0, ""))
        self.assertIn("argument: tag: expected v0.1.0, the version of CMakeLists.txt, got v0.2.0",
                      self.clone.run("tag", "v0.2.0")[1])
        self.clone.release()
        self.assertIn("argument: tag: expected a version that is not released yet, got v0.1.0",
                      self.clone.run("tag", "v0.1.0")[1])

    def test_the_entry_of_a_commit_can_be_added_to_the_record(self):
        commit = self.clone.commit()
        code, text = self.clone.run("entry", "HEAD")
        self.assertEqual((code, yaml.safe_load(text)[0]["revision"]), (0, commit))
        path = self.clone.root / record.FILE
        remarks = (facts.TREE / record.FILE).read_text(encoding="utf-8").partition("\nreleases:")[0]
        path.write_text(f"{remarks}\nreleases:\n{text}", encoding="utf-8")
        self.assertIn("releases: 1 recorded", self.clone.run()[1])

    def test_other_words_are_refused(self):
        self.clone.commit()
        command = "argument: command: expected nothing, `entry REVISION` or `tag TAG`, got "
        for words, said in ((("entry", "none"), "argument: revision: expected a commit of this clone, got none"),
                            (("entry",), f"{command}entry"), (("frobnicate",), f"{command}frobnicate")):
            code, text = self.clone.run(*words)
            self.assertEqual((code, text.count("\n")), (2, 1), text)
            self.assertIn(said, text)


if __name__ == "__main__":
    unittest.main()
