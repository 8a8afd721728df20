// The gangs' writes, by the API server. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/kube/client.h"
#include "common/kube/events.h"
#include "extender/gang/api.h"

namespace crossover::extender {

// The request that carries an action out. Pure.
kube::Client::Request RequestOf(const Action& action);
// The request before that, of an action that tells the scheduler which node to try first, or takes it back.
std::optional<kube::Client::Request> NominationOf(const Action& action);
// Where an object of the API server is; empty for a kind whose name cannot be part of a path.
std::string PathOf(const OwnerRef& owner);

class KubeApi : public Api {
 public:
  // `instance`: who tells of events.
  KubeApi(const kube::Access& access, const std::string& instance)
      : client_(access), events_(access, "crossover.dev/extender", instance) {}

  Result Write(const Action& action) override;
  nlohmann::json Read(const OwnerRef& owner, std::string* error) override;
  void Tell(const Action& action) override;

  // How often a pod could not be nominated, or not be left without a nomination.
  std::uint64_t nomination_failures() const { return nomination_failures_; }

  // Ends what is under way; all later calls fail.
  void Stop() { client_.Stop(); }

 private:
  void Nominate(const kube::Client::Request& request);
  Result AfterConflict(const Action& action, const kube::Response& response);

  kube::Client client_;
  kube::Events events_;
  std::atomic<std::uint64_t> nomination_failures_{0};
};

}  // namespace crossover::extender
