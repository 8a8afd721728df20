// Identifies a client by its pod. The pod follows from the cgroup of the process that connected, not from
// what the process says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/pods/allocation_index.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/switches/namespaces.h"

namespace crossover::deviceplugin {

class PodIdentity : public arbiter::IdentitySource {
 public:
  // REQUIRES: all pointers outlive this object. `cgroup_root` is the kubelet's (cgroup.h). `own_namespace` is
  // the namespace of the installation: of pods, only those there may be signallers.
  PodIdentity(const PodTable* pods, const Namespaces* namespaces, const AllocationIndex* slots,
              std::string cgroup_root, std::string own_namespace = "")
      : pods_(pods),
        namespaces_(namespaces),
        slots_(slots),
        cgroup_root_(std::move(cgroup_root)),
        own_namespace_(std::move(own_namespace)) {}

  std::variant<arbiter::Hello, arbiter::Unidentified> Identify(const arbiter::Peer& peer,
                                                               const arbiter::Hello& hello) const override;
  arbiter::Permissions PermissionsOf(const arbiter::Member& member) const override;
  std::optional<std::uint32_t> MemoryOf(const arbiter::Account& account) const override;
  arbiter::Account AccountOf(const arbiter::Peer& peer) const override;
  bool MaySignal(const arbiter::Account& account) const override;

 private:
  const PodTable* pods_;
  const Namespaces* namespaces_;
  const AllocationIndex* slots_;
  const std::string cgroup_root_;
  const std::string own_namespace_;
};

// Returns the account of a process with these control groups (the text of /proc/PID/cgroup). `cgroups` is
// unset if they could not be read; the account is then that of the user.
arbiter::Account AccountIn(const std::optional<std::string>& cgroups, const std::string& cgroup_root,
                           const arbiter::Peer& peer);

// Returns `hello` with the identity and gang of the pod, and with the values that the pod's annotations
// set. An invalid annotation counts as not set; admission rejects pods with invalid annotations.
arbiter::Hello HelloOf(const Pod& pod, const arbiter::Hello& hello);

}  // namespace crossover::deviceplugin
