"""Returns the configuration of the nodes' daemons (containerd's is in containerd.py). Kubernetes reads JSON where it
reads YAML."""

_SOCKET = "unix:///run/containerd/containerd.sock"


def pod_network(number, families):
    """Returns a network in which each pod has a routed veth pair. On a bridge, a service could not route back to a pod
    of the same node."""
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [
        {"type": "ptp", "ipMasq": False,
         "ipam": {"type": "host-local", "dataDir": "/run/cni",
                  "ranges": [[{"subnet": family.pods_of(number)}] for family in families],
                  "routes": [{"dst": family.everywhere} for family in families]}}]}


def kubelet(node, setup):
    """Returns a kubelet's configuration. It keeps its state in its node alone, accepts any machine, and reports changes
    quickly."""
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
        "cgroupDriver": node.cgroup_driver, "cgroupRoot": f"/{node.cgroup}", "failCgroupV1": False, "failSwapOn": False,
        "volumePluginDir": str(node.directory / "volume-plugins"), "resolvConf": "/etc/resolv.conf",
        "evictionHard": {"memory.available": "100Mi"}, "imageGCHighThresholdPercent": 100,
        "makeIPTablesUtilChains": False, "nodeStatusUpdateFrequency": "1s", "syncFrequency": "2s",
        **node.kubelet_options, **setup.kubelet_options}


def proxy(node_name, address, kubeconfig, families):
    """Returns the configuration of a kube-proxy that leaves the machine's connection tracking as it is."""
    return {
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "iptables",
        "clusterCIDR": ",".join(family.pods for family in families), "hostnameOverride": node_name,
        "bindAddress": address,
        "healthzBindAddress": "127.0.0.1:10256", "metricsBindAddress": "127.0.0.1:10249",
        "clientConnection": {"kubeconfig": str(kubeconfig)}, "conntrack": {"maxPerCore": 0, "min": 0},
        "iptables": {"minSyncPeriod": "100ms"}}


def scheduler(kubeconfig, extenders):
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(kubeconfig)}, "leaderElection": {"leaderElect": False},
        **({"extenders": list(extenders)} if extenders else {})}
