"""The part of Crossover that a cluster has once, beside a test cluster's control plane: replicas of a scheduler with
its extender, each pair with a host name of its own, as two containers of a pod have it."""

import contextlib
import json
import os
import re
import time
from pathlib import Path

import yaml

from benchmarks.processes import Failed
from tests.cluster.rig.namespaces import CONTROL_PLANE
from tests.cluster.services import service

NAMESPACE = "crossover-system"
SCHEDULER = "crossover-scheduler"
_ACCOUNT = "crossover-extender"
_MANIFESTS = Path(__file__).resolve().parents[2] / "manifests"
_LEARNT_WITHIN_S = 90.0  # a node says at most every 30 s what nobody waits for
_ENDS_WITHIN_S = 10.0
_HEARD_WITHIN_S = 30.0  # an API server looks at its roles by a watch
_FIRST_PORT = 18100  # each replica has a row of ports


class Replica:
    """Ports of one pair, and the names of its processes."""

    def __init__(self, number):
        first = _FIRST_PORT + 10 * number
        self.verbs, self.health, self.metrics, self.webhook, self.scheduler_port = range(first, first + 5)
        self.host = f"control-{number}"
        self.extender, self.scheduler = f"extender-{number}", f"scheduler-{number}"


class Control:
    """`lease_s`: how long the scheduler that leads may be silent. `settings`: of the extender, over the usual ones."""

    def __init__(self, cluster, build, replicas=1, lease_s=15, webhook=True, settings=None):
        self._cluster, self._build, self._lease_s = cluster, build, lease_s
        self._webhook, self._settings = webhook, settings or {}
        self._directory = cluster.directory / "control"
        self._directory.mkdir()
        self.replicas = [Replica(number) for number in range(replicas)]
        self._tokens = 0

    def prepare(self):
        """Objects and permissions, before the first is started."""
        cluster = self._cluster
        cluster.namespace(NAMESPACE, enforce="privileged")
        cluster.kubectl("apply", "--server-side", "--filename", str(_MANIFESTS / "crds"))
        for name in ("extender-account", "extender", "extender-policy", "admission"):
            cluster.kubectl("apply", "--server-side", "--filename", str(_MANIFESTS / "rbac" / f"{name}.yaml"))
        if self._webhook:
            cluster.apply(service("crossover-extender", NAMESPACE, cluster.address, self.replicas[0].webhook))
            cluster.kubectl("apply", "--filename", str(_MANIFESTS / "webhook" / "configuration.yaml"))
        cluster.apply(_scheduler_permissions())
        self.renew_token()

    @contextlib.contextmanager
    def without(self, verb, resource):
        """The extender may not do this to any object meanwhile, by none of its roles. `resource`: with its group."""
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
            while kubectl(*may, check=False).stdout.strip() != "no":  # until API servers have heard of it
                if time.monotonic() > end:
                    raise Failed(f"{_ACCOUNT} may {verb} {resource} by a role of its namespace, too")
                time.sleep(0.05)
            yield
        finally:
            for role in roles:
                kubectl("replace", "--filename", "-", input=json.dumps(role))

    def _roles(self):
        """Those of the cluster that the extender has, of whatever version they are when they are put back."""
        bindings = self._cluster.get("clusterrolebindings")
        names = {binding["roleRef"]["name"] for binding in bindings
                 if any(subject["name"] == _ACCOUNT for subject in binding.get("subjects", ()))}
        roles = [self._cluster.get("clusterrole", name) for name in sorted(names)]
        for role in roles:
            del role["metadata"]["resourceVersion"]
        return roles

    def renew_token(self):
        """Another one for all replicas; the one before is good for nothing from then on, but for what is remembered of
        it for some seconds."""
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
        """As a pod is ended that is replaced."""
        replica = self.replicas[number]
        self._cluster.processes.stop([replica.scheduler, replica.extender], _ENDS_WITHIN_S)

    def await_ready(self):
        """Until all extenders are; whether they lead does not matter."""
        self._cluster.wait_for_servers(*[f"http://127.0.0.1:{replica.health}/readyz" for replica in self.replicas])

    def start_extender(self, number):
        replica = self.replicas[number]
        config = self._directory / f"{replica.extender}.yaml"
        config.write_text(json.dumps(self._configuration(replica)), encoding="utf-8")
        self._start(replica, replica.extender,
                    [str(self._build.program("crossover-extender")), "--config", str(config)])

    def start_scheduler(self, number, **unusual):
        """`unusual`: see _scheduler_configuration."""
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
        """Until it is known what jobs of this profile key need: before, nobody comes beside such a job."""
        def learnt(profile):
            return profile["spec"].get("key") == key and profile.get("status", {}).get("peakMemoryBytes")
        self._cluster.wait_for_any("jobprofiles", learnt, namespace, _LEARNT_WITHIN_S)

    def threads(self, name):
        """How many a process has now."""
        status = Path(f"/proc/{self._cluster.processes.inner(name)}/status").read_text(encoding="ascii")
        return int(re.search(r"^Threads:\s*(\d+)$", status, re.MULTILINE).group(1))

    def files(self, name):
        """How many it has open."""
        return len(list(Path(f"/proc/{self._cluster.processes.inner(name)}/fd").iterdir()))

    def leader(self):
        """The replica whose scheduler holds the Lease; None: none does."""
        lease = self._cluster.get("lease", SCHEDULER, NAMESPACE)
        holder = (lease or {"spec": {}})["spec"].get("holderIdentity", "")
        return next((replica for replica in self.replicas if holder.startswith(f"{replica.host}_")), None)

    def said(self, name):
        return (self._cluster.setup.logs / f"{name}.log").read_text(errors="replace")

    def check(self):
        """Failed if an extender has ended that no test ended. A scheduler may: it is started again."""
        self._cluster.setup.check()

    def reviving(self):
        """A context in which parts may end for any reason: they are started again, as a kubelet starts them."""
        return self._cluster.setup.supervisor.reviving()

    def _start(self, replica, name, command):
        words = ["unshare", "--uts", "--", "sh", "-c", f'hostname {replica.host} && exec "$@"', "sh", *command]
        setup = self._cluster.setup
        path = f"{setup.programs.search_path}:{os.environ['PATH']}"
        setup.start(name, self._cluster.enter(words), env={"PATH": path}, product=name == replica.extender)

    def _configuration(self, replica):
        return {
            "api_server": {"server": self._cluster.server, "token_file": str(self._directory / "token"),
                           "ca_file": str(self._cluster.setup.certificates.authority)},
            "namespace": NAMESPACE, "host": replica.host,
            "scheduler": {"listen": f"127.0.0.1:{replica.verbs}"},
            "health": {"listen": f"127.0.0.1:{replica.health}"},
            "metrics": {"listen": f"127.0.0.1:{replica.metrics}"},
            "webhook": {"listen": f"{CONTROL_PLANE}:{replica.webhook}" if self._webhook else "off",
                        "file": str(self._directory / f"{replica.extender}.pem")},
            **self._settings}

    def _scheduler_configuration(self, replica, address=None, extended=True, lease=SCHEDULER, qps=None):
        """The one that is installed, but for what is of this test. `address`: of who relays to the extender;
        `extended`: whether it asks one; `lease`: for which it stands."""
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
    """Its Lease in our namespace, for the user that it is here; manifests/ have it for an account, by another name. The
    rest it has as any scheduler."""
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

