// Sends HTTPS requests to an API server: single requests, and watches that last for minutes. Thread-safe.
// An API server that accepts a request and never answers blocks the caller for 30 seconds, unless Stop() is
// called.
//
// The client keeps connections open. Sequential requests share one connection and one handshake; concurrent
// requests use one connection each. If the server has closed an idle connection, the client opens a new
// one and sends the request again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/kube/access.h"

namespace crossover::kube {

struct Response {
  long status = 0;    // HTTP status; 0: no complete answer (a watch that broke off keeps 200)
  std::string body;   // at most Client::kMostBytes
  std::string error;  // why there was no answer
  std::chrono::seconds retry_after{0};  // for how long the server asks not to be called
};

// A longer Retry-After of the server is cut to this.
inline constexpr std::chrono::seconds kLongestRetryAfter{300};

// Returns in words why the answer is not the expected one: the error, or else the status and the beginning of
// the body.
std::string WhyNot(const Response& response);

class Transfer;

class Client {
 public:
  static constexpr std::size_t kMostBytes = 64u << 20;
  static constexpr std::size_t kMostIdle = 16;  // idle connections that are kept
  static constexpr char kJson[] = "application/json";

  explicit Client(Access access);
  // Closes the idle connections. REQUIRES: no request is in progress.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends a GET request and returns the answer. `path` includes the query, percent-encoded. `accept` lists
  // content types, the preferred one first.
  Response Get(const std::string& path, const std::string& accept = kJson) const;

  struct Request {
    std::string method;  // POST, PATCH, DELETE, ..
    std::string path;
    std::string body;
    std::string content_type = kJson;
  };
  // Sends the request and returns the answer.
  Response Send(const Request& request) const;

  // Calls `on_open` when the server begins to answer with status 200, then `on_line` with each line of the
  // answer as it arrives. Blocks until the server ends the answer or falls silent, Stop() is called, or
  // `on_line` returns false. An answer with another status is not split into lines: it is the Response's
  // body.
  using OnLine = std::function<bool(std::string_view line)>;
  using OnOpen = std::function<void()>;
  Response Watch(const std::string& path, const OnLine& on_line, const std::string& accept = kJson,
                 const OnOpen& on_open = {}) const;

  // Ends all requests in progress, and all later requests before they begin. Their Response has status 0.
  // Only a watch that the server had begun to answer keeps its status 200. May be called from any thread.
  void Stop();

 private:
  template <class Make>
  Response Ask(const Make& make) const;
  Response Perform(const std::unique_ptr<Transfer>& transfer) const;
  void* TakeLine() const;
  void GiveBack(void* line, bool sound) const;
  bool stopped() const;

  const Access access_;
  mutable std::mutex mutex_;
  // Each element is a CURLM handle, which keeps one connection.
  mutable std::set<void*> under_way_;
  mutable std::vector<void*> idle_;
  bool stopped_ = false;
};

}  // namespace crossover::kube
