"""Tests .github/workflows by actionlint and zizmor, and against rules of our own. No workflow runs here."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import yaml

from testing.cluster.rig import versions
from testing.processes import Failed

_WORKFLOWS = versions.TREE / ".github/workflows"
_KNOWN_BAD = Path(__file__).with_name("known_bad.yml")
_PINS = versions.TREE / "tools/install/zizmor.txt"
_USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
_PINNED = re.compile(r"([\w.-]+/[\w./-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")
_ANY_PIN = re.compile(r"@[0-9a-f]{40} # v[0-9.]+")


def installed(name):
    """Returns the path of a program. Raises Failed where it is missing."""
    version = (re.search(r"^zizmor==([0-9.]+) ", _PINS.read_text(encoding="utf-8"), re.MULTILINE)[1]
               if name == "zizmor" else versions.pinned(name)[0])
    path = versions.cache() / f"{name}-{version}" / name
    if not path.exists():
        raise Failed(f"{path} is missing: tools/install.sh --workflows")
    return path


def _run(*command):
    # A token or an option in the environment would change what zizmor does.
    return subprocess.run([str(word) for word in command], env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"},
                          capture_output=True, text=True, check=False)


def actionlint(*files):
    """Returns {kind: [message]} of what actionlint says of workflows."""
    shell = shutil.which("shellcheck")
    if not shell:
        raise Failed("shellcheck is missing: tools/install.sh")
    done = _run(installed("actionlint"), "-shellcheck", shell, "-pyflakes", "", "-format", "{{json .}}", *files)
    if done.returncode not in (0, 1):
        raise Failed(f"actionlint ended with {done.returncode}: {done.stderr.strip()}")
    found = {}
    for each in json.loads(done.stdout):
        found.setdefault(each["kind"], []).append(f"{each['filepath']}:{each['line']}: {each['message']}")
    return found


def zizmor(*files):
    """Returns {audit: [message]} of what zizmor says of workflows, its pedantic audits among them."""
    done = _run(installed("zizmor"), "--offline", "--no-config", "--no-progress", "--quiet", "--strict-collection",
                "--persona", "pedantic", "--format", "json-v1", *files)
    if done.returncode not in (0, 11, 12, 13, 14):  # from 11 on, the highest severity that was found
        raise Failed(f"zizmor ended with {done.returncode}: {done.stderr.strip()}")
    found = {}
    for each in json.loads(done.stdout):
        if not each["ignored"]:
            found.setdefault(each["ident"], []).append(each["desc"])
    return found


def unpinned(text):
    """Returns the actions of a workflow that are not named by commit, with the version in a comment."""
    return [use for use in _USES.findall(text) if not _PINNED.fullmatch(use.strip())]


def pins(texts):
    """Returns {action: {(commit, version)}}."""
    found = {}
    for text in texts:
        for action, commit, version in _PINNED.findall(text):
            found.setdefault(action, set()).add((commit, version))
    return found


def rights(text):
    """Returns {job: its permissions}, or None for a job that states none. Under "" are those of the whole workflow."""
    workflow = yaml.safe_load(text)
    return {"": workflow.get("permissions"),
            **{name: job.get("permissions") for name, job in workflow["jobs"].items()}}


class Workflows(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = Path(directory.name)
        self.texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(_WORKFLOWS.glob("*.yml"))}

    def changed(self, pattern, new, name="release.yml"):
        """Returns the path of a copy of a workflow in which the first match of a pattern is replaced."""
        text, count = re.subn(pattern, new, self.texts[name], count=1)
        self.assertEqual(count, 1, pattern)
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_both_programs_accept_them(self):
        self.assertEqual(sorted(self.texts), ["ci.yml", "release.yml"])
        files = [_WORKFLOWS / name for name in self.texts]
        self.assertEqual(actionlint(*files), {})
        self.assertEqual(zizmor(*files), {})

    def test_each_refuses_the_known_bad_one(self):
        """This is the control."""
        self.assertLessEqual({"events", "job-needs", "expression", "shellcheck"}, set(actionlint(_KNOWN_BAD)))
        self.assertLessEqual({"unpinned-uses", "template-injection", "excessive-permissions", "dangerous-triggers",
                              "artipacked"}, set(zizmor(_KNOWN_BAD)))

    def test_each_refuses_ours_with_one_fault(self):
        """This is a control, too: what is accepted is refused once it has a fault."""
        for pattern, new, kind in ((r"needs: \[build, scan", "needs: [build, scam", "job-needs"),
                                   (r"secrets\.RELEASE_KEY \}\}", "secret.RELEASE_KEY }}", "expression"),
                                   (r'"oci-archive:\$image"', "oci-archive:$image", "shellcheck"),
                                   (r"runs-on: ubuntu-24\.04", "runs-on: ubuntu-19.04", "runner-label"),
                                   (r"attestations: write", "attestation: write", "permissions")):
            with self.subTest(kind):
                self.assertEqual(list(actionlint(self.changed(pattern, new))), [kind])
        for pattern, new, audit in ((_ANY_PIN.pattern, "@v6", "unpinned-uses"),
                                    (r"permissions: \{\}", "permissions: write-all", "excessive-permissions"),
                                    (r"contents: write  # to make the draft", "contents: write",
                                     "undocumented-permissions"),
                                    (r"          persist-credentials: false\n", "", "artipacked"),
                                    (r'tag "\$GITHUB_REF_NAME"', 'tag "${{ github.ref_name }}"',
                                     "template-injection")):
            with self.subTest(audit):
                self.assertIn(audit, zizmor(self.changed(pattern, new)))

    def test_actions_are_named_by_commit_and_an_action_by_one(self):
        for name, text in self.texts.items():
            self.assertEqual(unpinned(text), [], name)
        found = pins(self.texts.values())
        self.assertLessEqual({"actions/checkout", "actions/upload-artifact"}, set(found))
        self.assertEqual({action: all_of for action, all_of in found.items() if len(all_of) > 1}, {})
        for use in ("actions/checkout@v4", f"actions/checkout@{'a' * 40}", f"actions/checkout@{'a' * 39} # v6.0.2",
                    f"actions/checkout@{'a' * 40} # v6"):
            self.assertEqual(unpinned(f"      - uses: {use}\n"), [use], "the control")
        other = f"uses: actions/checkout@{'a' * 40} # v6.0.2"
        self.assertEqual(len(pins([*self.texts.values(), other])["actions/checkout"]), 2, "the control")

    def test_each_job_has_the_rights_that_it_needs(self):
        self.assertEqual(rights(self.texts["ci.yml"]), {"": {}, "ci": {"contents": "read"}})
        self.assertEqual(rights(self.texts["release.yml"]),
                         {"": {}, "build": {"contents": "read"}, "scan": {}, "publish": {"contents": "write"},
                          "provenance": {"id-token": "write", "attestations": "write"}})
        self.assertEqual(rights("jobs: {a: {}}"), {"": None, "a": None}, "the control")

    def test_one_job_has_the_key_and_no_cache(self):
        jobs = yaml.safe_load(self.texts["release.yml"])["jobs"]
        self.assertEqual([name for name, job in jobs.items() if "secrets." in json.dumps(job)], ["build"])
        self.assertEqual(jobs["build"]["environment"], "release")
        self.assertNotIn("actions/cache", self.texts["release.yml"])

    def test_a_program_that_is_missing_is_named(self):
        with mock.patch.dict("os.environ", {"CROSSOVER_CACHE": str(self.folder)}):
            for check in (actionlint, zizmor):
                with self.assertRaisesRegex(Failed, rf"{check.__name__}-[0-9.]+/{check.__name__} is missing: "
                                                    r"tools/install\.sh --workflows"):
                    check(_KNOWN_BAD)
        with mock.patch.dict("os.environ", {"PATH": str(self.folder)}):
            self.assertRaisesRegex(Failed, "shellcheck is missing: tools/install.sh", actionlint, _KNOWN_BAD)


if __name__ == "__main__":
    unittest.main()
