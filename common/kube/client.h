// HTTPS to an API server: one request, or a watch that goes on for minutes. Thread-safe. An API server that
// accepts a request and never answers holds up its caller for half a minute, unless Stop() is called.
//
// Connections are kept: one request after another costs one handshake, requests side by side one each. One
// that the server has closed while it was idle is made anew, and the request sent again.
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
  long status = 0;                      // 0: there was none
  std::string body;                     // cut at Client::kMostBytes
  std::string error;                    // why there was none
  std::chrono::seconds retry_after{0};  // the server wants to be left alone for so long
};

// A server that wants more gets this.
inline constexpr std::chrono::seconds kLongestRetryAfter{300};

// Why an answer is not the one that was wanted, in words.
std::string WhyNot(const Response& response);

class Transfer;

class Client {
 public:
  static constexpr std::size_t kMostBytes = 64u << 20;
  static constexpr std::size_t kMostIdle = 16;  // connections that are kept
  static constexpr char kJson[] = "application/json";

  explicit Client(Access access);
  // No request is under way.
  ~Client();
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

  // Calls `on_open` when the server begins to answer with status 200, then `on_line` with each line of the
  // answer as it comes, until the server ends it, it falls silent, Stop() is called, or `on_line` returns
  // false. The answer of another status than 200 is not split: it is the Response's body.
  using OnLine = std::function<bool(std::string_view line)>;
  using OnOpen = std::function<void()>;
  Response Watch(const std::string& path, const OnLine& on_line, const std::string& accept = kJson,
                 const OnOpen& on_open = {}) const;

  // Ends whatever is under way, and all later requests before they begin: their Response has no status. From
  // any thread.
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
  // A CURLM each, with the connection that it keeps.
  mutable std::set<void*> under_way_;
  mutable std::vector<void*> idle_;
  bool stopped_ = false;
};

}  // namespace crossover::kube
