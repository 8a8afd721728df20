// Carries out the actions of the gang logic as requests to the API server.
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

// Returns the request that carries out an action. REQUIRES: its kind has a result and is not kReadOwner.
// Pure.
kube::Client::Request RequestOf(const Action& action);
// Returns the request that must be sent before RequestOf(action), or nothing if there is none. It sets or
// removes the node that the scheduler tries first (status.nominatedNodeName). Pure.
std::optional<kube::Client::Request> NominationOf(const Action& action);
// Returns the path of an object in the API server, or "" if a part of the reference cannot be in a path.
std::string PathOf(const OwnerRef& owner);

// A KubeApi is thread-safe.
class KubeApi : public Api {
 public:
  // `instance` is the source of events. `leads` says whether this process leads. It is called between two
  // requests of one action, on any thread, and must not block.
  KubeApi(const kube::Access& access, const std::string& instance, std::function<bool()> leads)
      : client_(access), events_(access, "crossover.dev/extender", instance), leads_(std::move(leads)) {}

  Result Write(const Action& action) override;
  nlohmann::json Read(const OwnerRef& owner, std::string* error) override;
  void Tell(const Action& action) override;
  std::size_t TellRoom() override { return events_.room(); }

  // Returns how many writes of a nomination failed. The answers 404, 409, 422 and 429 do not count.
  std::uint64_t nomination_failures() const { return nomination_failures_; }

  // Returns how many events were lost: the API server refused them, or did not take them in time.
  std::uint64_t lost_events() const { return events_.lost(); }

  // Aborts requests in flight. All later calls fail.
  void Stop() { client_.Stop(); }

 private:
  // Sends the request of NominationOf(). Returns the action's result if the action must end here, else
  // nothing.
  std::optional<Result> Nominate(const Action& action, const kube::Client::Request& request);
  // Reads the pod after a refused write, and returns what became of it.
  Result AfterConflict(const Action& action, const kube::Response& response);

  kube::Client client_;
  kube::Events events_;
  const std::function<bool()> leads_;
  std::atomic<std::uint64_t> nomination_failures_{0};
  std::atomic<std::int64_t> nominates_from_ns_{0};
};

}  // namespace crossover::extender
