"""Returns the configuration of a node's containerd. Version 2 names its plugins differently from 1.6, which knows no
CDI devices."""

from testing.cluster.rig import versions

PAUSE_IMAGE = "crossover.test/pause:1"

_OF_2 = """version = 3
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
        SystemdCgroup = {systemd}
"""

_OF_1_6 = """version = 2
root = "{root}"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ["io.containerd.tracing.processor.v1.otlp", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "{root}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
  stream_server_port = "0"
  sandbox_image = "{pause}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{plugins}"
    conf_dir = "{cni}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "{runc}"
        SystemdCgroup = {systemd}
"""


def configuration(root, cni, programs, cgroup_driver):
    """Returns the text of its configuration file."""
    text = _OF_2 if versions.has_cdi(programs.containerd_version) else _OF_1_6
    return text.format(root=root, cni=cni, pause=PAUSE_IMAGE, plugins=programs.cni, runc=programs.path("runc"),
                       systemd=str(cgroup_driver == "systemd").lower())
