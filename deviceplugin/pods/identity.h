// Clients are who their pods are: by the control group of the process that connected, not by what it says.
#pragma once

#include <string>

#include "deviceplugin/arbiter/identity_source.h"
#include "deviceplugin/pods/pod_table.h"
#include "deviceplugin/switches/namespaces.h"

namespace crossover::deviceplugin {

class PodIdentity : public arbiter::IdentitySource {
 public:
  // Both outlive it.
  PodIdentity(const PodTable* pods, const Namespaces* namespaces) : pods_(pods), namespaces_(namespaces) {}

  std::variant<arbiter::Hello, arbiter::Unidentified> Identify(const arbiter::Peer& peer,
                                                               const arbiter::Hello& hello) const override;
  arbiter::Standing StandingOf(const arbiter::Member& member) const override;

 private:
  const PodTable* pods_;
  const Namespaces* namespaces_;
};

// What `hello` becomes in a pod: its gang, and of its wishes those that annotations say. An annotation that
// is not allowed counts as not set: whoever admits pods refuses them.
arbiter::Hello HelloOf(const Pod& pod, const arbiter::Hello& hello);

}  // namespace crossover::deviceplugin
