#include "common/kube/client.h"

#include <curl/curl.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <utility>

namespace crossover::kube {
namespace {

constexpr long kConnectWithinS = 10;
constexpr long kAnswerWithinS = 30;
// A watch that is alive says something once a minute, if only a bookmark.
constexpr long kSilenceS = 150;
constexpr long kOk = 200;

struct EasyCloser {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyCloser>;

struct MultiCloser {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
using Multi = std::unique_ptr<CURLM, MultiCloser>;

struct HeadersCloser {
  void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
};
using Headers = std::unique_ptr<curl_slist, HeadersCloser>;

void StartLibraryOnce() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

// Without the line feed at its end.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string WhyNot(const Response& response) {
  constexpr std::size_t kMuch = 300;
  if (response.status == 0) return response.error;
  return "status " + std::to_string(response.status) + ": " + response.body.substr(0, kMuch);
}

// One request on its way.
struct Client::Transfer {
  Easy easy;
  Headers headers;
  Response response;
  const OnLine* on_line = nullptr;  // null: everything is the body
  std::string rest;                 // of a line that is not complete
  char error[CURL_ERROR_SIZE] = {};

  Transfer(const Access& access, const std::string& path, const std::string& accept, const OnLine* lines)
      : on_line(lines) {
    easy.reset(curl_easy_init());
    Set(CURLOPT_URL, (access.server + path).c_str());
    if (!access.ca_file.empty()) Set(CURLOPT_CAINFO, access.ca_file.c_str());
    AddHeader("Accept: " + accept);
    if (!access.token_file.empty()) AddHeader("Authorization: Bearer " + FirstLine(access.token_file));
    Set(CURLOPT_PROTOCOLS_STR, "https,http");
    Set(CURLOPT_PROXY, "");  // an API server is reached directly
    Set(CURLOPT_CONNECTTIMEOUT, kConnectWithinS);
    Set(CURLOPT_TCP_KEEPALIVE, 1L);
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_ERRORBUFFER, error);
    Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBytes);
    Set(CURLOPT_WRITEDATA, this);
    if (on_line == nullptr) {
      Set(CURLOPT_TIMEOUT, kAnswerWithinS);
    } else {
      Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
      Set(CURLOPT_LOW_SPEED_TIME, kSilenceS);
    }
  }

  template <class Value>
  void Set(CURLoption option, Value value) {
    curl_easy_setopt(easy.get(), option, value);
  }
  void AddHeader(const std::string& header) {
    headers.reset(curl_slist_append(headers.release(), header.c_str()));
    Set(CURLOPT_HTTPHEADER, headers.get());
  }

  void Finish(CURLcode code) {
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &response.status);
    if (code == CURLE_OK) return;
    response.error = error[0] != '\0' ? error : curl_easy_strerror(code);
    if (response.status != kOk || on_line == nullptr) response.status = 0;
  }

  static std::size_t OnBytes(char* bytes, std::size_t size, std::size_t count, void* self) {
    auto* transfer = static_cast<Transfer*>(self);
    return transfer->Take({bytes, size * count}) ? size * count : 0;
  }

  bool Take(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    std::string& target = on_line != nullptr && status == kOk ? rest : response.body;
    if (target.size() + bytes.size() > kMostBytes) return false;
    target += bytes;
    if (&target != &rest) return true;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != std::string::npos; begin = end + 1) {
      if (end > begin && !(*on_line)(std::string_view(rest).substr(begin, end - begin))) return false;
    }
    rest.erase(0, begin);
    return true;
  }
};

Client::Client(Access access) : access_(std::move(access)) { StartLibraryOnce(); }

Response Client::Get(const std::string& path, const std::string& accept) const {
  Transfer transfer(access_, path, accept, nullptr);
  return Perform(&transfer);
}

Response Client::Send(const Request& request) const {
  Transfer transfer(access_, request.path, kJson, nullptr);
  transfer.AddHeader("Content-Type: " + request.content_type);
  transfer.Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  transfer.Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  transfer.Set(CURLOPT_POSTFIELDS, request.body.c_str());
  return Perform(&transfer);
}

Response Client::Watch(const std::string& path, const OnLine& on_line, const std::string& accept) const {
  Transfer transfer(access_, path, accept, &on_line);
  return Perform(&transfer);
}

Response Client::Perform(Transfer* transfer) const {
  constexpr int kLookMs = 1000;
  const Multi multi(curl_multi_init());
  {
    const std::lock_guard lock(mutex_);
    under_way_.insert(multi.get());
  }
  const auto stopped = [this] {
    const std::lock_guard lock(mutex_);
    return stopped_;
  };
  curl_multi_add_handle(multi.get(), transfer->easy.get());
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  for (int running = 1; running > 0 && !stopped();) {
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg == CURLMSG_DONE) code = message->data.result;
    }
    if (running > 0) curl_multi_poll(multi.get(), nullptr, 0, kLookMs, nullptr);
  }
  {
    const std::lock_guard lock(mutex_);
    under_way_.erase(multi.get());
  }
  curl_multi_remove_handle(multi.get(), transfer->easy.get());
  transfer->Finish(code);
  return std::move(transfer->response);
}

void Client::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (void* multi : under_way_) curl_multi_wakeup(multi);
}

}  // namespace crossover::kube
