// HTTPS to an API server: one request, or a watch that goes on for minutes. Thread-safe. An API server that
// accepts a request and never answers holds up its caller for half a minute, unless Stop() is called.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "common/kube/access.h"

namespace crossover::kube {

struct Response {
  long status = 0;    // 0: there was none
  std::string body;   // cut at Client::kMostBytes
  std::string error;  // why there was none
};

// Why an answer is not the one that was wanted, in words.
std::string WhyNot(const Response& response);

class Client {
 public:
  static constexpr std::size_t kMostBytes = 64u << 20;
  static constexpr char kJson[] = "application/json";

  explicit Client(Access access);
  ~Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // `path` with its query, percent-encoded. `accept`: content types, the best first.
  Response Get(const std::string& path, const std::string& accept = kJson) const;

  struct Request {
    std::string method;  // POST, PATCH, DELETE, ..
    std::string path;
    std::string body;
    std::string content_type = kJson;
  };
  Response Send(const Request& request) const;

  // Calls `on_line` with each line of the answer as it comes, until the server ends it, it falls silent,
  // Stop() is called, or `on_line` returns false. The answer of another status than 200 is not split: it is
  // the Response's body.
  using OnLine = std::function<bool(std::string_view line)>;
  Response Watch(const std::string& path, const OnLine& on_line, const std::string& accept = kJson) const;

  // Ends whatever is under way, and all later requests before they begin: their Response has no status. From
  // any thread.
  void Stop();

 private:
  struct Transfer;

  Response Perform(Transfer* transfer) const;

  const Access access_;
  mutable std::mutex mutex_;
  mutable std::set<void*> under_way_;  // the CURLM of each request
  bool stopped_ = false;
};

}  // namespace crossover::kube
