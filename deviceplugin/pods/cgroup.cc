#include "deviceplugin/pods/cgroup.h"

#include <poll.h>

#include <algorithm>

#include "common/files/read_file.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kKubelets = "kubepods";
constexpr std::string_view kSlice = ".slice";
constexpr std::string_view kPodPrefix = "pod";

bool StartsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}
bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Returns whether `text` is a pod UID: a UUID, or the 32 hex digits by which a kubelet knows static pods,
// which do not come from the API server.
bool IsUid(std::string_view text) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() == 32) return std::all_of(text.begin(), text.end(), is_digit);
  constexpr std::string_view kShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return std::equal(text.begin(), text.end(), kShape.begin(), kShape.end(),
                    [&](char c, char shape) { return shape == 'x' ? is_digit(c) : c == shape; });
}

// Returns whether `folder` is the cgroup in which the kubelet puts all pods (kubepods). Under systemd, the
// name of this folder starts with the names of its parent groups, as in a-kubepods.slice.
bool IsKubelets(std::string_view folder) {
  return folder == kKubelets || folder == "kubepods.slice" || EndsWith(folder, "-kubepods.slice");
}

// Returns the pod UID in one folder of a path. The folder is pod<uid>, or ..kubepods-<class>-pod<uid, with
// underscores>.slice under systemd.
std::optional<std::string> UidOfFolder(std::string_view folder) {
  std::string uid;
  if (EndsWith(folder, kSlice)) {
    const std::size_t pod = folder.rfind("-pod");
    if (folder.find(kKubelets) == std::string_view::npos || pod == std::string_view::npos)
      return std::nullopt;
    uid = folder.substr(pod + 4, folder.size() - pod - 4 - kSlice.size());
    std::replace(uid.begin(), uid.end(), '_', '-');
  } else if (StartsWith(folder, kPodPrefix)) {
    uid = folder.substr(kPodPrefix.size());
  }
  if (!IsUid(uid)) return std::nullopt;
  return uid;
}

std::string_view TakeFolder(std::string_view* path) {
  const std::size_t slash = path->find('/');
  const std::string_view folder = path->substr(0, slash);
  *path = slash == std::string_view::npos ? "" : path->substr(slash + 1);
  return folder;
}

// Returns the pod UID in `path`. The path has the kubelet's group, then possibly a group for a QoS class,
// then the pod's group. The pod itself makes the deeper groups, and other software makes groups elsewhere.
// Both are ignored.
std::optional<std::string> UidOfPath(std::string_view path, std::string_view root) {
  if (StartsWith(path, "/")) path.remove_prefix(1);
  // The kernel writes the path relative to the root of our cgroup namespace. If that root is below the
  // kubelet's group, the path starts with ../ and lacks the common part, which may include the kubelet's
  // group.
  bool from_below = false;
  while (StartsWith(path, "../")) {
    from_below = true;
    path.remove_prefix(3);
  }
  while (!from_below && !root.empty()) {
    if (TakeFolder(&path) != TakeFolder(&root)) return std::nullopt;
  }
  std::string_view folder = TakeFolder(&path);
  if (IsKubelets(folder)) {
    folder = TakeFolder(&path);
  } else if (!from_below) {
    return std::nullopt;
  }
  if (auto uid = UidOfFolder(folder)) return uid;
  const bool is_class = folder.find("burstable") != std::string_view::npos ||
                        folder.find("besteffort") != std::string_view::npos;
  return is_class ? UidOfFolder(TakeFolder(&path)) : std::nullopt;
}

// Takes one line, hierarchy:controllers:path, from `cgroups` and returns the path.
std::string_view PathOfLine(std::string_view* cgroups) {
  const std::size_t feed = cgroups->find('\n');
  std::string_view line = cgroups->substr(0, feed);
  *cgroups = feed == std::string_view::npos ? "" : cgroups->substr(feed + 1);
  for (int colon = 0; colon < 2; ++colon) line = line.substr(std::min(line.find(':'), line.size() - 1) + 1);
  return line;
}

bool Ended(const arbiter::Peer& peer) {
  pollfd process{peer.pidfd.get(), POLLIN, 0};
  return poll(&process, 1, 0) != 0;
}

}  // namespace

std::string KubeletsRootIn(std::string_view cgroups) {
  while (!cgroups.empty()) {
    std::string_view path = PathOfLine(&cgroups);
    std::string root;
    while (!path.empty()) {
      const std::string_view folder = TakeFolder(&path);
      if (IsKubelets(folder)) return root;
      if (!folder.empty()) root += (root.empty() ? "" : "/") + std::string(folder);
    }
  }
  return "";
}

std::optional<std::string> PodUidOf(std::string_view cgroups, std::string_view root) {
  std::optional<std::string> found;
  while (!cgroups.empty()) {
    auto uid = UidOfPath(PathOfLine(&cgroups), root);
    if (!uid) continue;
    if (found && found != uid) return std::nullopt;
    found = std::move(uid);
  }
  return found;
}

std::optional<std::string> CgroupsOf(const arbiter::Peer& peer) {
  // The process ID alone proves nothing, because it may be reused. A pidfd shows whether the process has
  // ended.
  if (peer.pid <= 0 || !peer.pidfd) return std::nullopt;
  auto text = files::ReadOfProcess(peer.pid, "cgroup");
  if (!text || Ended(peer)) return std::nullopt;
  return text;
}

std::optional<std::string> PodUidOf(const arbiter::Peer& peer, std::string_view root) {
  const auto text = CgroupsOf(peer);
  return text ? PodUidOf(*text, root) : std::nullopt;
}

std::optional<std::string> PodUidOf(pid_t pid, std::string_view root) {
  const auto text = files::ReadOfProcess(pid, "cgroup");
  return text ? PodUidOf(*text, root) : std::nullopt;
}

}  // namespace crossover::deviceplugin
