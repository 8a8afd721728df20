// HTTPS to an API server: one request, or a watch that goes on for minutes. Thread-safe but for Watch(),
// which is for one thread at a time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
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

  // Calls `on_line` with each line of the answer as it comes, until the server ends it, it falls silent,
  // Stop() is called, or `on_line` returns false. The answer of another status than 200 is not split: it is
  // the Response's body.
  using OnLine = std::function<bool(std::string_view line)>;
  Response Watch(const std::string& path, const OnLine& on_line, const std::string& accept = kJson);

  // Ends a Watch that is under way and all later ones. From any thread.
  void Stop();

 private:
  struct Transfer;

  Access access_;
  std::atomic<bool> stopped_{false};
  void* multi_;  // CURLM of Watch()
};

}  // namespace crossover::kube
