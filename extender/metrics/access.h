// Who may read the metrics: whoever the API server says may get the path /metrics, by the token that comes
// with the request. Names of namespaces and jobs are in them.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "common/kube/client.h"

namespace crossover::extender {

class MetricsAccess {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  explicit MetricsAccess(const kube::Access& access, Clock clock = std::chrono::steady_clock::now)
      : client_(access), clock_(std::move(clock)) {}

  // The status of an answer to a request with this header: 200, 401 without a token that is anybody's, 403
  // where they may not, 503 where nobody can say. Waits for the API server, unless it answered some seconds
  // ago.
  int StatusFor(const std::string& authorization);

  void Stop() { client_.Stop(); }

 private:
  int Ask(const std::string& token) const;

  struct Known {
    int status;
    std::chrono::steady_clock::time_point until;
  };

  kube::Client client_;
  const Clock clock_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;  // by token
};

}  // namespace crossover::extender
