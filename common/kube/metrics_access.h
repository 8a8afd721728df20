// Decides which clients may read metrics, which contain names of namespaces and jobs. A client may read them
// if the API server allows its token to GET the path /metrics. Thread-safe.
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

  // `access` is that of the account that asks the API server.
  explicit MetricsAccess(const Access& access, Clock clock = std::chrono::steady_clock::now)
      : client_(access), clock_(std::move(clock)) {}

  // Returns the HTTP status for a request with this Authorization header: 200, 401 without a valid token,
  // 403 if access is denied, or 503 if the API server does not answer.
  //
  // Blocks until the API server answers, with four exceptions: the header has no text that could be a token,
  // the API server allowed the token less than two minutes ago, it refused the token less than ten seconds
  // ago, or two other requests wait for the API server already. So invented tokens cannot occupy all threads
  // of the caller's HTTP server.
  //
  // A token that was allowed stays allowed for an hour while the API server does not answer: metrics are
  // needed most when much is down.
  int StatusFor(const std::string& authorization);

  // Returns in words why a client with this status of StatusFor(), which is not 200, gets no metrics.
  static const char* WhyNot(int status);

  // Ends the requests in progress and all later ones, with 503.
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
  std::map<std::string, Time> let_in_;      // time of the last permission, by token
  std::map<std::string, Known> sent_away_;  // last refusal, by token
};

}  // namespace crossover::kube
