"""Creates nodes that exist as objects only: KWOK plays their kubelets. Thousands of them cost no more than their
objects.

Pods on them are Running at once. A pod with the annotation crossover.test/runs-for, a duration such as "5s", Succeeds
after it. A pod that is deleted goes at once, whatever its phase. With the annotation crossover.test/ends it Fails
first, with exit code 143, as a kubelet lets it: a Job with a podFailurePolicy waits for that. The nodes have no device
plugin and no daemon: a test that needs GPUs on them publishes GPUNodes (fake_gpus.py).
"""

import json

_FAKE = {"kwok.x-k8s.io/node": "fake"}
RUNS_FOR = "crossover.test/runs-for"
ENDS = "crossover.test/ends"


# These are flags for the API server of a cluster with KWOK. KWOK's client asks for a list within a watch. API servers
# on an etcd before 3.4.25 refuse that in the middle of the watch: the client then tries again at ever longer intervals,
# and pods begin and end up to half a minute late. If the API server refuses at once, the client lists instead.
API_SERVER = ("--feature-gates", "WatchList=false")


# These are flags for the controllers of a cluster whose nodes report Ready once and never again.
READY_FOR_EVER = ("--node-monitor-grace-period", "24h")


def start(cluster, heartbeats=True):
    """Starts KWOK for the nodes that `create_nodes` makes. With `heartbeats` it plays nodes and pods, else pods
    alone."""
    config = cluster.directory / "kwok.json"
    stages = [stage for stage in _STAGES if heartbeats or stage["spec"]["resourceRef"]["kind"] != "Node"]
    config.write_text("\n---\n".join(json.dumps(stage) for stage in stages), encoding="utf-8")
    cluster.start("kwok", [
        cluster.setup.programs.path("kwok"), "--kubeconfig", str(cluster.setup.kubeconfig("admin")),
        "--config", str(config), "--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake",
        "--cidr", "10.200.0.0/16"])


def create_nodes(api, names, resources, labels=None, ready=False):
    """Creates nodes. `resources` are their capacity, as Kubernetes writes it; CPU, memory and pods have defaults. With
    `ready` a node is Ready without heartbeats."""
    resources = {"cpu": "64", "memory": "512Gi", "pods": "110", **resources}
    for name in names:
        api.create("/api/v1/nodes", {
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": _FAKE,
                         "labels": {"kubernetes.io/hostname": name, "type": "kwok", **(labels or {})}},
            "spec": {}, "status": {"capacity": resources, "allocatable": resources,
                                   "conditions": [{"type": "Ready", "status": "True"}] if ready else []}})


def _stage(name, kind, conditions, status=None, delay=None, **following):
    chosen = [{"key": key, "operator": operator, **({"values": values} if values else {})}
              for key, operator, values in conditions]
    return {"apiVersion": "kwok.x-k8s.io/v1alpha1", "kind": "Stage", "metadata": {"name": name},
            "spec": {"resourceRef": {"apiGroup": "v1", "kind": kind}, "selector": {"matchExpressions": chosen},
                     **({"delay": delay} if delay else {}),
                     "next": {**({"statusTemplate": status} if status else {}), **following}}}


_IS_READY = '.status.conditions.[] | select( .type == "Ready" ) | .status'
_NOT_LEAVING = (".metadata.deletionTimestamp", "DoesNotExist", None)
_NODE_IS_READY = """
{{ $now := Now }}
conditions:
{{ range NodeConditions }}
- {lastHeartbeatTime: {{ $now | Quote }}, lastTransitionTime: {{ $now | Quote }}, message: {{ .message | Quote }},
   reason: {{ .reason | Quote }}, status: {{ .status | Quote }}, type: {{ .type | Quote }}}
{{ end }}
phase: Running
"""
_POD_RUNS = """
{{ $now := Now }}
phase: Running
startTime: {{ $now | Quote }}
conditions:
- {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: Ready, status: "True", lastTransitionTime: {{ $now | Quote }}}
- {type: ContainersReady, status: "True", lastTransitionTime: {{ $now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- {name: {{ .name | Quote }}, image: {{ .image | Quote }}, imageID: "", ready: true, restartCount: 0,
   state: {running: {startedAt: {{ $now | Quote }}}}}
{{ end }}
"""


def _ended(phase, code, reason):
    """Returns the status of a pod whose containers have ended so, as a template of KWOK's."""
    now = "{{ $now | Quote }}"
    return f"""
{{{{ $now := Now }}}}
phase: {phase}
containerStatuses:
{{{{ range .spec.containers }}}}
- {{name: {{{{ .name | Quote }}}}, image: {{{{ .image | Quote }}}}, imageID: "", ready: false, restartCount: 0,
   state: {{terminated: {{exitCode: {code}, reason: {reason}, startedAt: {now}, finishedAt: {now}}}}}}}
{{{{ end }}}}
"""


_POD_HAS_ENDED = _ended("Succeeded", 0, "Completed")
_POD_WAS_ENDED = _ended("Failed", 143, "Error")
_LEAVING = (".metadata.deletionTimestamp", "Exists", None)
_STAGES = (
    # Without this heartbeat a node is NotReady after 40 s.
    _stage("node-lives", "Node", [(_IS_READY, "In", ["True"])], _NODE_IS_READY,
           delay={"durationMilliseconds": 10_000, "jitterDurationMilliseconds": 12_000}),
    _stage("node-comes", "Node", [(_IS_READY, "NotIn", ["True"])], _NODE_IS_READY),
    _stage("pod-runs", "Pod", [_NOT_LEAVING, (".status.phase", "In", ["Pending"])], _POD_RUNS),
    _stage("pod-ends", "Pod", [_NOT_LEAVING, (".status.phase", "In", ["Running"]),
                               (f'.metadata.annotations["{RUNS_FOR}"]', "Exists", None)], _POD_HAS_ENDED,
           delay={"durationMilliseconds": 0,
                  "durationFrom": {"expressionFrom": f'.metadata.annotations["{RUNS_FOR}"]'}}),
    _stage("pod-goes", "Pod", [_LEAVING, (f'.metadata.annotations["{ENDS}"]', "DoesNotExist", None)], delete=True),
    _stage("pod-is-ended", "Pod", [_LEAVING, (f'.metadata.annotations["{ENDS}"]', "Exists", None),
                                   (".status.phase", "In", ["Pending", "Running"])], _POD_WAS_ENDED),
    _stage("pod-goes-ended", "Pod", [_LEAVING, (f'.metadata.annotations["{ENDS}"]', "Exists", None),
                                     (".status.phase", "In", ["Succeeded", "Failed"])], delete=True),
)
