"""Starts etcd, the API server, the controllers and the scheduler in the cluster's own namespaces."""

import json

from testing.cluster.rig import configuration

# A short list starts sooner. Controllers for clouds, storage, certificates and autoscaling are left out.
_CONTROLLERS = [f"{name}-controller" for name in (
    "namespace", "serviceaccount", "serviceaccount-token", "node-lifecycle", "taint-eviction", "pod-garbage-collector",
    "garbage-collector", "endpoints", "endpointslice", "endpointslice-mirroring", "daemonset", "deployment",
    "replicaset", "job", "statefulset", "disruption", "resourcequota", "clusterrole-aggregation",
    "validatingadmissionpolicy-status", "ttl-after-finished")] + ["root-ca-certificate-publisher-controller"]


class ControlPlane:
    """A ControlPlane runs in `namespace`. Each part may be started before the parts it needs, and waits for them."""

    def __init__(self, setup, namespace):
        self._setup = setup
        self._namespace = namespace

    def start_store(self):
        """Starts etcd. Its files are in memory and go with the cluster, so it need not wait for a disk."""
        self._start("etcd", [
            "--name", "etcd", "--data-dir", str(self._setup.directory / "etcd"), "--unsafe-no-fsync",
            "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
            "--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380",
            "--initial-cluster", "etcd=http://127.0.0.1:2380", "--logger", "zap", "--log-outputs", "stderr",
            "--heartbeat-interval", "20", "--election-timeout", "200"])

    def start_api_server(self, more=()):
        pki = self._setup.certificates
        self._start("kube-apiserver", [
            "--etcd-servers", "http://127.0.0.1:2379", "--bind-address", "0.0.0.0", "--secure-port", "443",
            "--advertise-address", self._setup.families[0].control_plane, "--endpoint-reconciler-type", "lease",
            "--tls-cert-file", str(pki.crt("api-server")), "--tls-private-key-file", str(pki.key("api-server")),
            "--client-ca-file", str(pki.authority), "--cert-dir", str(self._setup.directory / "api-server"),
            "--kubelet-client-certificate", str(pki.crt("api-server-client")),
            "--kubelet-client-key", str(pki.key("api-server-client")),
            "--kubelet-certificate-authority", str(pki.authority), "--kubelet-preferred-address-types", "InternalIP",
            "--service-account-issuer", "https://kubernetes.default.svc",
            "--service-account-key-file", str(pki.key("tokens")),
            "--service-account-signing-key-file", str(pki.key("tokens")),
            "--authorization-mode", "Node,RBAC", "--enable-admission-plugins", "NodeRestriction",
            "--service-cluster-ip-range", ",".join(family.services for family in self._setup.families),
            "--allow-privileged=true",
            # The API server then reaches a webhook behind a service at the addresses of its pods, without a kube-proxy
            # here.
            "--enable-aggregator-routing=true", "--v", "1", *more])

    def start_controllers(self, more=()):
        pki = self._setup.certificates
        self._start("kube-controller-manager", [
            "--kubeconfig", str(self._setup.kubeconfig("controller-manager")), "--bind-address", "127.0.0.1",
            "--leader-elect=false", "--use-service-account-credentials=false",
            "--service-account-private-key-file", str(pki.key("tokens")), "--root-ca-file", str(pki.authority),
            "--controllers", ",".join(_CONTROLLERS), "--cert-dir", str(self._setup.directory / "controllers"),
            "--v", "1", *more])

    def start_scheduler(self, extenders=()):
        """Starts the default scheduler. `extenders` are as in KubeSchedulerConfiguration."""
        config = self._setup.directory / "scheduler.json"
        config.write_text(json.dumps(configuration.scheduler(self._setup.kubeconfig("scheduler"), extenders)),
                          encoding="utf-8")
        self._start("kube-scheduler", ["--config", str(config), "--bind-address", "127.0.0.1",
                                       "--cert-dir", str(self._setup.directory / "scheduler"), "--v", "2"])

    def restart_scheduler(self, extenders=()):
        self._setup.processes.stop(["kube-scheduler"], 10.0)
        self.start_scheduler(extenders)

    def start_proxy(self, node_name):
        """Starts a kube-proxy here too, which routes services for the scheduler's extenders. It needs a node's name and
        uses that of `node_name`."""
        self._setup.start_proxy(node_name, self._setup.families[0].control_plane, self._namespace.enter,
                                "kube-proxy-control-plane")

    def _start(self, program, arguments):
        self._setup.start(program, self._namespace.enter([self._setup.programs.path(program), *arguments]))
