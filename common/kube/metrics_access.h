// Who may read metrics: whoever the API server says may get the path /metrics, by the token that comes with
// the request. Names of namespaces and jobs are in them. Thread-safe.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "common/kube/client.h"

namespace crossover::kube {

class MetricsAccess {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  explicit MetricsAccess(const Access& access, Clock clock = std::chrono::steady_clock::now)
      : client_(access), clock_(std::move(clock)) {}

  // The status of an answer to a request with this header: 200, 401 without a token that is anybody's, 403
  // where they may not, 503 where nobody can say. Waits for the API server, unless it let them in some
  // minutes ago, sent them away some seconds ago, or others wait already: tokens that are made up must not
  // take all of a server's threads.
  //
  // Who may stays one who may for an hour while nobody can say: metrics are wanted most when much is down.
  int StatusFor(const std::string& authorization);

  // Ends what is under way and all that would come, with 503.
  void Stop() { client_.Stop(); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Known {
    int status;
    Time said;
  };

  int Ask(const std::string& token) const;
  void Keep(const std::string& token, int status);

  kube::Client client_;
  const Clock clock_;
  std::mutex mutex_;
  int asking_ = 0;
  std::map<std::string, Time> let_in_;      // by token: when it was last said
  std::map<std::string, Known> sent_away_;  // by token
};

}  // namespace crossover::kube
