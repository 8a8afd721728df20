"""Tests docs/operations.md: it has a heading for each alert, to which the alert's runbook points, and it quotes the
programs correctly."""

import re
import unittest

import yaml

from tests.docs.pages import anchors, read, section, sources, tables
from tests.docs.test_failures import column, fragments

PAGE = "docs/operations.md"
_RUNBOOK = re.compile(r"More: (docs/\S+\.md)#(\S+)$")


def alerts():
    return yaml.safe_load(read("charts/crossover/files/alerts.yaml"))["groups"][0]["rules"]


def broken_runbook(rule, page):
    """Returns what is wrong with the page that an alert's runbook names, or "". `page` is the text of PAGE."""
    found = _RUNBOOK.search(rule["annotations"]["runbook"].strip())
    if found is None or found.group(1) != PAGE:
        return f"{rule['alert']}: its runbook does not end with a heading of {PAGE}"
    if found.group(2) != rule["alert"].lower():
        return f"{rule['alert']}: its runbook is that of {found.group(2)}"
    if found.group(2) not in anchors(page):
        return f"{rule['alert']}: {PAGE} has no such heading"
    return "" if section(page, rule["alert"]).strip() else f"{rule['alert']}: nothing stands there"


def untrue(text):
    """Returns quoted words that no program says."""
    return [words for words in fragments(column("it says", text)) if words not in sources()]


def checks_of_doctor():
    return set(re.findall(r'^      \{"(\w+)",', read("cli/cluster/checks.cc"), re.MULTILINE)) | set(
        re.findall(r'^    \{"(\w+)", \w+\}', read("cli/doctor/checks.cc"), re.MULTILINE))


def checks_named(text):
    """Returns the doctor's checks that are named in brackets: (slot_doubles, gang_collisions)."""
    return {name for names in re.findall(r"\(([a-z]+(?:_[a-z]+)+(?:, [a-z_]+)*)\)", text) for name in names.split(", ")}


class Operations(unittest.TestCase):
    def test_runbooks_of_alerts_are_there(self):
        page = read(PAGE)
        self.assertEqual([wrong for rule in alerts() if (wrong := broken_runbook(rule, page))], [])
        headings = re.findall(r"^### (Crossover\w+)$", page, re.MULTILINE)
        self.assertEqual(headings, [rule["alert"] for rule in alerts()], "in the order of the alerts, and no other")

    def test_one_that_is_not_is_found(self):
        """This is the control."""
        page, rule = read(PAGE), alerts()[0]
        self.assertIn("no such heading", broken_runbook(rule, page.replace(f"### {rule['alert']}", "### Other")))
        for text, found in (("Look.", "does not end"), ("More: docs/operations.md#upgrade", "is that of upgrade")):
            self.assertIn(found, broken_runbook(rule | {"annotations": {"runbook": text}}, page))

    def test_what_is_quoted_is_said(self):
        page = read(PAGE)
        self.assertEqual(untrue(page), [])
        self.assertGreater(len(fragments(column("it says", page))), 50)
        wrong = page.replace("alone on its GPU", "alone at its GPU")
        self.assertEqual(untrue(wrong), ["alone at its GPU"], "the control")

    def test_checks_of_the_doctor_are_there(self):
        named = checks_named(read(PAGE)) | checks_named(read("docs/failures.md"))
        self.assertGreater(len(named), 6)
        self.assertEqual(named - checks_of_doctor(), set())
        self.assertEqual(checks_named("(slot_doubles, gang_collision)") - checks_of_doctor(), {"gang_collision"})

    def test_switches_of_administrators_are_all_there(self):
        switches = section(read(PAGE), "Off switches")
        administrators = tables(section(read("docs/annotations.md"), "Set by administrators"))[0][1]
        keys = [f"crossover.dev/{row[0].strip('`')}" for row in administrators]
        self.assertGreaterEqual(len(keys), 4)
        keys.append("CROSSOVER_DISABLE")
        self.assertEqual([key for key in keys if key not in switches], [])
        self.assertEqual([key for key in keys if key not in switches.replace("crossover.dev/webhook", "")],
                         ["crossover.dev/webhook"], "the control")

    def test_each_symptom_leads_to_its_section(self):
        """The first table lists symptoms, and leads to each section under them."""
        page = read(PAGE)
        by_symptom = section(page, "By symptom")
        headings = re.findall(r"^### (.*)$", by_symptom, re.MULTILINE)
        _, rows = tables(by_symptom)[0]
        self.assertEqual([re.match(r"\[(.*)\]", row[1]).group(1) for row in rows], headings)


if __name__ == "__main__":
    unittest.main()
