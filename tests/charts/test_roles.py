"""Tests which rights each role grants at the API server, and that each rule says why."""

import re
import unittest

from testing.chart import INSTALLATIONS, objects, render

_JOINS = "rbac.authorization.k8s.io/aggregate-to-"


def unexplained(text):
    """Returns (rules of roles without a reason above them, number of rules) of the text that Helm writes."""
    wrong, count = [], 0
    for block in re.findall(r"^rules:\n((?:  .*\n)+)", text, re.MULTILINE):
        lines = block.splitlines()
        for before, line in zip(["", *lines], lines):
            if line.startswith("  - "):
                count += 1
                if not before.startswith("  # "):
                    wrong.append(line)
    return wrong, count


def roles(items):
    return [item for item in items if item["kind"] in ("Role", "ClusterRole")]


class Roles(unittest.TestCase):
    def test_every_rule_says_why(self):
        for name, values in INSTALLATIONS.items():
            wrong, count = unexplained(render(*values))
            self.assertEqual(wrong, [], name)
            self.assertEqual(count, sum(len(role["rules"]) for role in roles(objects(*values))), name)

    def test_a_rule_without_a_reason_is_found(self):
        """In the control a reason belongs to another rule."""
        self.assertEqual(unexplained("rules:\n  # a\n  - {b}\n  - c\n    d\n  # e\n  - f\n"), (["  - c"], 3))

    def test_nothing_may_do_everything(self):
        for name, values in INSTALLATIONS.items():
            items = objects(*values)
            for role in roles(items):
                for rule in role["rules"]:
                    for key in ("apiGroups", "resources", "verbs"):
                        self.assertNotIn("*", rule.get(key, ()), (name, role["metadata"]["name"]))
            for item in items:
                if item["kind"] in ("ClusterRoleBinding", "RoleBinding"):
                    self.assertNotIn("admin", item["roleRef"]["name"], name)
                    self.assertEqual({subject["kind"] for subject in item["subjects"]}, {"ServiceAccount"}, name)

    def test_node_daemons_write_nodes_only_where_that_is_asked_for(self):
        def writes(*values):
            role = next(role for role in roles(objects(*values))
                        if role["metadata"]["name"] == "crossover-deviceplugin" and role["kind"] == "ClusterRole")
            rules = [rule["verbs"] for rule in role["rules"] if "nodes" in rule["resources"]]
            policies = {item["metadata"]["name"] for item in objects(*values)
                        if item["kind"] == "ValidatingAdmissionPolicyBinding"}
            return any("patch" in verbs for verbs in rules), "crossover-own-node" in policies
        self.assertEqual(writes(), (False, False))
        self.assertEqual(writes("deviceplugin.config.node.gpu_operator=leave"), (False, False))
        for value in ("gpu_operator=labels", "scale_down=disabled"):
            self.assertEqual(writes(f"deviceplugin.config.node.{value}"), (True, True), value)

    def test_the_extender_evicts_pods_and_deletes_none(self):
        """A deletion would count as a failure of the pod's Job, and would pass by disruption budgets."""
        verbs = {}
        for role in roles(objects()):
            if role["metadata"]["name"] == "crossover-extender" and role["kind"] == "ClusterRole":
                for rule in role["rules"]:
                    for resource in rule["resources"]:
                        verbs.setdefault(resource, set()).update(rule["verbs"])
        self.assertEqual(verbs["pods"], {"get", "list", "watch", "patch"})
        self.assertEqual(verbs["pods/eviction"], {"create"})
        self.assertEqual(verbs["poddisruptionbudgets"], {"list", "watch"})

    def test_users_are_let_to_profiles_by_kubernetes_own_roles(self):
        found = {}
        for role in roles(objects()):
            joined = {key.removeprefix(_JOINS) for key in role["metadata"]["labels"] if key.startswith(_JOINS)}
            if joined:
                found[role["metadata"]["name"]] = (joined, role["rules"])
        # Users may not change what was measured, nor read GPUNodes, which name the pods of all namespaces.
        profiles = {"apiGroups": ["crossover.dev"], "resources": ["jobprofiles"]}
        self.assertEqual(found, {
            "crossover-view": ({"view"}, [profiles | {"verbs": ["get", "list", "watch"]}]),
            "crossover-edit": ({"edit", "admin"}, [profiles | {"verbs": ["create", "update", "patch", "delete"]}])})

    def test_unless_that_is_not_wanted(self):
        names = [{role["metadata"]["name"] for role in roles(objects(*values))}
                 for values in ((), ("rbac.aggregate=false",))]
        self.assertEqual(names[0] - names[1], {"crossover-view", "crossover-edit"})


if __name__ == "__main__":
    unittest.main()
