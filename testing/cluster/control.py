"""Runs the part of Crossover that a cluster has once, beside a test cluster's control plane: replicas of a scheduler
with its extender. Each pair has a host name of its own, as two containers of a pod have it."""

import contextlib
import json
import os
import re
import time
from pathlib import Path

import yaml

from testing.cluster.rig.families import IPV4
from testing.cluster.services import service
from testing.processes import Failed

NAMESPACE = "crossover-system"
SCHEDULER = "crossover-scheduler"
_ACCOUNT = "crossover-extender"
_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
_LEARNT_WITHIN_S = 90.0  # a node reports at most every 30 s what no pod waits for
_ENDS_WITHIN_S = 10.0
_HEARD_WITHIN_S = 30.0  # an API server learns of changed roles by a watch
_FIRST_PORT = 18100  # each replica takes five ports from a range of ten


class Replica:
    """Holds the ports of one pair of scheduler and extender, and the names of its processes."""

    def __init__(self, number):
        first = _FIRST_PORT + 10 * number
        self.verbs, self.health, self.metrics, self.webhook, self.scheduler_port = range(first, first + 5)
        self.host = f"control-{number}"
        self.extender, self.scheduler = f"extender-{number}", f"scheduler-{number}"


class Control:
    """Prepares, starts and stops the replicas.

    `lease_s` is how long the leading scheduler may go without renewing its Lease. `settings` overrides the extender's
    usual configuration."""

    def __init__(self, cluster, build, replicas=1, lease_s=15, webhook=True, settings=None):
        self._cluster, self._build, self._lease_s = cluster, build, lease_s
        self._webhook, self._settings = webhook, settings or {}
        self._directory = cluster.directory / "control"
        self._directory.mkdir()
        self.replicas = [Replica(number) for number in range(replicas)]
        self._tokens = 0

    def prepare(self):
        """Creates the objects and permissions that the replicas need. Call it before the first is started."""
        cluster = self._cluster
        cluster.namespace(NAMESPACE, enforce="privileged")
        cluster.kubectl("apply", "--server-side", "--filename", str(_MANIFESTS / "crds"))
        for name in ("extender-account", "extender", "extender-policy", "admission"):
            cluster.kubectl("apply", "--server-side", "--filename", str(self._build.rights / f"{name}.yaml"))
        if self._webhook:
            cluster.apply(service("crossover-extender", NAMESPACE, cluster.address, self.replicas[0].webhook))
            cluster.kubectl("apply", "--filename", str(_MANIFESTS / "webhook" / "configuration.yaml"))
        cluster.apply(_scheduler_permissions())
        self.renew_token()

    @contextlib.contextmanager
    def without(self, verb, resource):
        """Takes a permission from the extender in all of its cluster roles while the context lasts. `resource` includes
        its API group."""
        kubectl = self._cluster.kubectl
        name, _, group = resource.partition(".")
        roles = self._roles()
        thing, _, subresource = name.partition("/")
        may = ["auth", "can-i", verb, f"{thing}.{group}" if group else thing, "--all-namespaces", "--as",
               f"system:serviceaccount:{NAMESPACE}:{_ACCOUNT}",
               *(["--subresource", subresource] if subresource else [])]
        try:
            for role in roles:
                left = [rule for rule in role["rules"]
                        if name not in rule.get("resources", ()) or group not in rule["apiGroups"]]
                kubectl("replace", "--filename", "-", input=json.dumps(role | {"rules": left}))
            end = time.monotonic() + _HEARD_WITHIN_S
            while kubectl(*may, check=False).stdout.strip() != "no":  # until the API server has learned of it
                if time.monotonic() > end:
                    raise Failed(f"{_ACCOUNT} may {verb} {resource} by a role of its namespace, too")
                time.sleep(0.05)
            yield
        finally:
            for role in roles:
                kubectl("replace", "--filename", "-", input=json.dumps(role))

    def _roles(self):
        """Returns the extender's cluster roles, without resourceVersion: so they can be put back whatever their version
        is then."""
        bindings = self._cluster.get("clusterrolebindings")
        names = {binding["roleRef"]["name"] for binding in bindings
                 if any(subject["name"] == _ACCOUNT for subject in binding.get("subjects", ()))}
        roles = [self._cluster.get("clusterrole", name) for name in sorted(names)]
        for role in roles:
            del role["metadata"]["resourceVersion"]
        return roles

    def renew_token(self):
        """Gives all replicas a new token and revokes the one before. API servers may accept the old one for some
        seconds more, while they have it cached."""
        self._tokens += 1
        name = f"token-{self._tokens}"
        self._cluster.kubectl("create", "secret", "generic", name, "--namespace", NAMESPACE)
        token = self._cluster.kubectl("create", "token", _ACCOUNT, "--namespace", NAMESPACE, "--bound-object-kind",
                                      "Secret", "--bound-object-name", name)
        fresh = self._directory / "token.new"
        fresh.write_text(token, encoding="utf-8")
        fresh.rename(self._directory / "token")
        if self._tokens > 1:
            self._cluster.kubectl("delete", "secret", f"token-{self._tokens - 1}", "--namespace", NAMESPACE)

    def start(self, numbers=None):
        for number in range(len(self.replicas)) if numbers is None else numbers:
            self.start_pair(number)
        self.await_ready()

    def start_pair(self, number):
        self.start_extender(number)
        self.start_scheduler(number)

    def stop_pair(self, number):
        """Stops a pair as the kubelet stops a pod that is replaced."""
        replica = self.replicas[number]
        self._cluster.processes.stop([replica.scheduler, replica.extender], _ENDS_WITHIN_S)

    def await_ready(self):
        """Blocks until all extenders are ready. They need not lead."""
        self._cluster.wait_for_servers(*[f"http://127.0.0.1:{replica.health}/readyz" for replica in self.replicas])

    def start_extender(self, number):
        replica = self.replicas[number]
        config = self._directory / f"{replica.extender}.yaml"
        config.write_text(json.dumps(self._configuration(replica)), encoding="utf-8")
        self._start(replica, replica.extender,
                    [str(self._build.program("crossover-extender")), "--config", str(config)])

    def start_scheduler(self, number, **unusual):
        """Starts the scheduler of a replica. `unusual` is passed to _scheduler_configuration."""
        replica = self.replicas[number]
        config = self._directory / f"{replica.scheduler}.json"
        config.write_text(json.dumps(self._scheduler_configuration(replica, **unusual)), encoding="utf-8")
        self._start(replica, replica.scheduler, [
            self._cluster.setup.programs.path("kube-scheduler"), "--config", str(config), "--bind-address", "127.0.0.1",
            "--secure-port", str(replica.scheduler_port), "--cert-dir", str(self._directory / replica.scheduler),
            "--authorization-always-allow-paths", "/healthz,/readyz,/livez,/metrics", "--v", "2"])

    def stop_scheduler(self, number):
        self._cluster.processes.stop([self.replicas[number].scheduler])

    def await_profile(self, namespace, key):
        """Blocks until the memory of jobs with this profile key is known. Until then no other job is placed on their
        GPUs."""
        def learnt(profile):
            return profile["spec"].get("key") == key and profile.get("status", {}).get("peakMemoryBytes")
        self._cluster.wait_for_any("jobprofiles", learnt, namespace, _LEARNT_WITHIN_S)

    def threads(self, name):
        """Returns how many threads a process has now."""
        status = Path(f"/proc/{self._cluster.processes.inner(name)}/status").read_text(encoding="ascii")
        return int(re.search(r"^Threads:\s*(\d+)$", status, re.MULTILINE).group(1))

    def files(self, name):
        """Returns how many files a process has open now."""
        return len(list(Path(f"/proc/{self._cluster.processes.inner(name)}/fd").iterdir()))

    def leader(self):
        """Returns the replica whose scheduler holds the Lease, or None."""
        lease = self._cluster.get("lease", SCHEDULER, NAMESPACE)
        holder = (lease or {"spec": {}})["spec"].get("holderIdentity", "")
        return next((replica for replica in self.replicas if holder.startswith(f"{replica.host}_")), None)

    def said(self, name):
        return (self._cluster.setup.logs / f"{name}.log").read_text(errors="replace")

    def check(self):
        """Raises Failed if an extender has ended that no test ended. A scheduler may end: it is started again."""
        self._cluster.setup.check()

    def reviving(self):
        """Returns a context in which parts may end for any reason. They are started again, as a kubelet does."""
        return self._cluster.setup.supervisor.reviving()

    def _start(self, replica, name, command):
        words = ["unshare", "--uts", "--", "sh", "-c", f'hostname {replica.host} && exec "$@"', "sh", *command]
        setup = self._cluster.setup
        path = f"{setup.programs.search_path}:{os.environ['PATH']}"
        setup.start(name, self._cluster.enter(words), env={"PATH": path}, product=name == replica.extender)

    def _configuration(self, replica):
        whole = self._whole_configuration(replica)
        for key in self._build.unknown_keys:
            section, _, name = key.partition(".")
            whole.get(section, {}).pop(name, None)
        return whole

    def _whole_configuration(self, replica):
        whole = {
            "api_server": {"server": self._cluster.server, "token_file": str(self._directory / "token"),
                           "ca_file": str(self._cluster.setup.certificates.authority)},
            "namespace": NAMESPACE, "host": replica.host,
            "scheduler": {"listen": f"127.0.0.1:{replica.verbs}"},
            "health": {"listen": f"127.0.0.1:{replica.health}"},
            "metrics": {"listen": f"127.0.0.1:{replica.metrics}"},
            "webhook": {"listen": f"{IPV4.control_plane}:{replica.webhook}" if self._webhook else "off",
                        "file": str(self._directory / f"{replica.extender}.pem"),
                        "shm": "node"}}  # as the chart has it if jobs share through MPS, as in the tests
        webhook = {**whole["webhook"], **self._settings.get("webhook", {})}
        return {**whole, **self._settings, "webhook": webhook}

    def _scheduler_configuration(self, replica, address=None, extended=True, lease=SCHEDULER, qps=None):
        """Returns the scheduler configuration that the manifests install, with this test's addresses and Lease.

        `address` is the host and port of a relay in front of the extender. Without `extended` the scheduler uses no
        extender. `lease` names the Lease for which it stands for election."""
        manifest = yaml.safe_load((_MANIFESTS / "control" / "scheduler-config.yaml").read_text(encoding="utf-8"))
        config = yaml.safe_load(manifest["data"]["scheduler.yaml"])
        config["clientConnection"] |= {"kubeconfig": str(self._cluster.setup.kubeconfig("scheduler")),
                                       **({"qps": qps, "burst": 2 * qps} if qps else {})}
        config["leaderElection"] |= {"leaseDuration": f"{self._lease_s}s", "resourceName": lease,
                                     "renewDeadline": f"{self._lease_s * 2 // 3}s"}
        for extender in config["extenders"]:
            extender["urlPrefix"] = f"http://{address or f'127.0.0.1:{replica.verbs}'}"
        return config if extended else {**config, "extenders": []}


def _scheduler_permissions():
    """Returns a Role and a RoleBinding for the scheduler's Lease in our namespace. Here the scheduler is a user;
    manifests/ grant the same to a service account under another name. All other rights it has as any scheduler."""
    subject = {"kind": "User", "name": "system:kube-scheduler", "apiGroup": "rbac.authorization.k8s.io"}
    group = "rbac.authorization.k8s.io"
    name = f"{SCHEDULER}-user"
    meta = {"name": name, "namespace": NAMESPACE}
    return [
        {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": meta,
         "rules": [{"apiGroups": ["coordination.k8s.io"], "resources": ["leases"],
                    "verbs": ["get", "list", "watch", "create", "update"]}]},
        {"apiVersion": f"{group}/v1", "kind": "RoleBinding", "metadata": meta, "subjects": [subject],
         "roleRef": {"apiGroup": group, "kind": "Role", "name": name}}]

