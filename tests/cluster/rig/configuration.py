"""What the nodes' daemons are told. Kubernetes reads JSON where it reads YAML."""

_CONTAINERD = """version = 3
root = "{root}"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ["io.containerd.tracing.processor.v1.otlp", "io.containerd.snapshotter.v1.erofs",
                    "io.containerd.nri.v1.nri"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins.'io.containerd.internal.v1.opt']
  path = "{root}/opt"
[plugins.'io.containerd.cri.v1.images']
  snapshotter = "overlayfs"
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = "{pause}"
[plugins.'io.containerd.grpc.v1.cri']
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
[plugins.'io.containerd.cri.v1.runtime']
  # No profiles to load here; RuntimeDefault seccomp is another matter, and on.
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE no process may be protected from running out of memory, and every sandbox would fail.
  restrict_oom_score_adj = true
  enable_cdi = true
  cdi_spec_dirs = ["/etc/cdi", "/run/cdi"]
  # Elsewhere a file per pod would be made in the machine's /run/netns.
  netns_mounts_under_state_dir = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ["{plugins}"]
    conf_dir = "{cni}"
  [plugins.'io.containerd.cri.v1.runtime'.containerd]
    default_runtime_name = "runc"
    [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
        BinaryName = "{runc}"
        SystemdCgroup = false
"""

PAUSE_IMAGE = "crossover.test/pause:1"
_SOCKET = "unix:///run/containerd/containerd.sock"


def containerd(root, cni, programs):
    """The text of containerd's configuration."""
    return _CONTAINERD.format(root=root, cni=cni, pause=PAUSE_IMAGE, plugins=programs.cni, runc=programs.path("runc"))


def pod_network(subnet):
    """Pods on routed cables of their own: on a bridge, a service would not reach back to a pod of the same node."""
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [
        {"type": "ptp", "ipMasq": False,
         "ipam": {"type": "host-local", "dataDir": "/run/cni", "ranges": [[{"subnet": subnet}]],
                  "routes": [{"dst": "0.0.0.0/0"}]}}]}


def kubelet(node, setup):
    """A kubelet that has its state in its node alone, refuses no machine, and tells news quickly."""
    certificates = setup.certificates
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "address": node.address, "port": 10250, "readOnlyPort": 0, "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                           "x509": {"clientCAFile": str(certificates.authority)}},
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(certificates.crt(f"{node.name}-server")),
        "tlsPrivateKeyFile": str(certificates.key(f"{node.name}-server")),
        "containerRuntimeEndpoint": _SOCKET, "imageServiceEndpoint": _SOCKET,
        "cgroupDriver": "cgroupfs", "cgroupRoot": f"/{node.cgroup}", "failCgroupV1": False, "failSwapOn": False,
        "volumePluginDir": str(node.directory / "volume-plugins"), "resolvConf": "/etc/resolv.conf",
        "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100,
        "makeIPTablesUtilChains": False, "nodeStatusUpdateFrequency": "1s", "syncFrequency": "2s",
        **setup.kubelet_options}


def proxy(node_name, address, kubeconfig):
    """A kube-proxy that leaves the machine's connection tracking as it is."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "iptables",
        "clusterCIDR": "10.78.0.0/16", "hostnameOverride": node_name, "bindAddress": address,
        "healthzBindAddress": "127.0.0.1:10256", "metricsBindAddress": "127.0.0.1:10249",
        "clientConnection": {"kubeconfig": str(kubeconfig)}, "conntrack": {"maxPerCore": 0, "min": 0},
        "iptables": {"minSyncPeriod": "100ms"}}


def scheduler(kubeconfig, extenders):
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig)}, "leaderElection": {"leaderElect": False},
        **({"extenders": list(extenders)} if extenders else {})}
