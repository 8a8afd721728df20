#include "common/kube/client.h"

#include <curl/curl.h>

#include <mutex>
#include <utility>

#include "common/kube/status_codes.h"
#include "common/kube/transfer.h"
#include "common/text/truncate.h"

namespace crossover::kube {
namespace {

void StartLibraryOnce() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

}  // namespace

std::string WhyNot(const Response& response) {
  constexpr std::size_t kMuch = 300;
  if (response.status == 0) return response.error;
  return "status " + std::to_string(response.status) + ": " +
         std::string(text::Truncate(response.body, kMuch));
}

Client::Client(Access access) : access_(std::move(access)) { StartLibraryOnce(); }

Client::~Client() {
  for (void* line : idle_) curl_multi_cleanup(line);
}

// Sends the request that `make` creates, and returns the answer. After status 401 it creates and sends the
// request again: by then the token file may hold a newer token.
template <class Make>
Response Client::Ask(const Make& make) const {
  Response response = Perform(make());
  return response.status == kUnauthorized ? Perform(make()) : response;
}

Response Client::Get(const std::string& path, const std::string& accept) const {
  return Ask([&] { return std::make_unique<Transfer>(access_, path, accept, Transfer::Watching{}); });
}

Response Client::Send(const Request& request) const {
  return Ask([&] {
    auto transfer = std::make_unique<Transfer>(access_, request.path, kJson, Transfer::Watching{});
    transfer->Send(request.method, request.content_type, request.body);
    return transfer;
  });
}

Response Client::Watch(const std::string& path, const OnLine& on_line, const std::string& accept,
                       const OnOpen& on_open) const {
  return Ask([&] {
    return std::make_unique<Transfer>(access_, path, accept, Transfer::Watching{&on_line, &on_open});
  });
}

Response Client::Perform(const std::unique_ptr<Transfer>& transfer) const {
  constexpr int kLookMs = 1000;
  CURLM* line = TakeLine();
  curl_multi_add_handle(line, transfer->handle());
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  for (int running = 1; running > 0 && !stopped();) {
    if (curl_multi_perform(line, &running) != CURLM_OK) break;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(line, &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    if (running > 0) curl_multi_poll(line, nullptr, 0, kLookMs, nullptr);
  }
  curl_multi_remove_handle(line, transfer->handle());
  GiveBack(line, code == CURLE_OK);
  return transfer->Finish(code);
}

void* Client::TakeLine() const {
  const std::lock_guard lock(mutex_);
  void* line = nullptr;
  if (idle_.empty()) {
    line = curl_multi_init();
  } else {
    line = idle_.back();  // used last: its connection is the most likely to be open
    idle_.pop_back();
  }
  under_way_.insert(line);
  return line;
}

// Keeps the handle for later requests, or closes it. A handle whose request failed is not used again: with
// HTTP/2, and only there, libcurl keeps a connection whose request timed out, although its other end may be
// gone.
void Client::GiveBack(void* line, bool sound) const {
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(line);
    if (sound && idle_.size() < kMostIdle) {
      idle_.push_back(line);
      return;
    }
  }
  curl_multi_cleanup(line);
}

bool Client::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Client::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (void* line : under_way_) curl_multi_wakeup(line);
}

}  // namespace crossover::kube
