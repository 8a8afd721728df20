// The gangs' writes, by the API server. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/kube/client.h"
#include "common/kube/events.h"
#include "extender/gang/api.h"

namespace crossover::extender {

// The request that carries an action out. Pure.
kube::Client::Request RequestOf(const Action& action);
// The request before that: which node the scheduler is to try first, or none any more.
std::optional<kube::Client::Request> NominationOf(const Action& action);
// Where an object of the API server is; empty for a kind whose name cannot be part of a path.
std::string PathOf(const OwnerRef& owner);

class KubeApi : public Api {
 public:
  // `instance`: who tells of events. `leads`: asked between two requests of one action, on any thread; it
  // must not wait.
  KubeApi(const kube::Access& access, const std::string& instance, std::function<bool()> leads)
      : client_(access), events_(access, "crossover.dev/extender", instance), leads_(std::move(leads)) {}

  Result Write(const Action& action) override;
  nlohmann::json Read(const OwnerRef& owner, std::string* error) override;
  void Tell(const Action& action) override;
  std::size_t TellRoom() override { return events_.room(); }

  // How often the API server did not take that a pod is nominated, or no more.
  std::uint64_t nomination_failures() const { return nomination_failures_; }

  // Events that the API server did not take, or not in time.
  std::uint64_t lost_events() const { return events_.lost(); }

  // Ends what is under way; all later calls fail.
  void Stop() { client_.Stop(); }

 private:
  // Nothing, or why the action ends here.
  std::optional<Result> Nominate(const Action& action, const kube::Client::Request& request);
  Result AfterConflict(const Action& action, const kube::Response& response);

  kube::Client client_;
  kube::Events events_;
  const std::function<bool()> leads_;
  std::atomic<std::uint64_t> nomination_failures_{0};
  std::atomic<std::int64_t> nominates_from_ns_{0};
};

}  // namespace crossover::extender
