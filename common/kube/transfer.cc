#include "common/kube/transfer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "common/kube/status_codes.h"

namespace crossover::kube {
namespace {

constexpr long kConnectWithinS = 10;
constexpr long kAnswerWithinS = 30;
// A live watch sends at least a bookmark once a minute.
constexpr long kSilenceS = 150;
// TCP keepalive sends probes over an idle connection, first after kAskAfterS and then every kAskEveryS. The
// kernel gives up a connection whose peer acknowledges nothing for kDeadAfterMs: a machine that has died
// closes no connections.
constexpr long kAskAfterS = 20;
constexpr long kAskEveryS = 5;
constexpr unsigned kDeadAfterMs = 30'000;
constexpr long kAuthoritiesForS = 60;  // afterwards their file is read again

int OnSocket(void* /*client*/, curl_socket_t socket, curlsocktype /*purpose*/) {
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kDeadAfterMs, sizeof kDeadAfterMs);
  return CURL_SOCKOPT_OK;
}

// Returns the first line of the file, without its line feed.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

Transfer::Transfer(const Access& access, const std::string& path, const std::string& accept,
                   Watching watching)
    : watching_(watching), easy_(curl_easy_init()) {
  Set(CURLOPT_URL, (access.server + path).c_str());
  if (!access.ca_file.empty()) Set(CURLOPT_CAINFO, access.ca_file.c_str());
  Set(CURLOPT_CA_CACHE_TIMEOUT, kAuthoritiesForS);
  AddHeader("Accept: " + accept);
  if (!access.token_file.empty()) AddHeader("Authorization: Bearer " + FirstLine(access.token_file));
  Set(CURLOPT_ACCEPT_ENCODING, "gzip");
  Set(CURLOPT_PROTOCOLS_STR, "https,http");
  Set(CURLOPT_PROXY, "");  // API servers are reached directly
  Set(CURLOPT_CONNECTTIMEOUT, kConnectWithinS);
  Set(CURLOPT_TCP_KEEPALIVE, 1L);
  Set(CURLOPT_TCP_KEEPIDLE, kAskAfterS);
  Set(CURLOPT_TCP_KEEPINTVL, kAskEveryS);
  Set(CURLOPT_SOCKOPTFUNCTION, &OnSocket);
  Set(CURLOPT_NOSIGNAL, 1L);
  Set(CURLOPT_ERRORBUFFER, error_);
  Set(CURLOPT_WRITEFUNCTION, &Transfer::OnBytes);
  Set(CURLOPT_WRITEDATA, this);
  if (watching_.on_line == nullptr) {
    Set(CURLOPT_TIMEOUT, kAnswerWithinS);
    return;
  }
  Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  Set(CURLOPT_LOW_SPEED_TIME, kSilenceS);
  Set(CURLOPT_HEADERFUNCTION, &Transfer::OnHeader);
  Set(CURLOPT_HEADERDATA, this);
}

void Transfer::Send(const std::string& method, const std::string& content_type, const std::string& body) {
  AddHeader("Content-Type: " + content_type);
  Set(CURLOPT_CUSTOMREQUEST, method.c_str());
  Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(body.size()));
  Set(CURLOPT_POSTFIELDS, body.c_str());
}

void Transfer::AddHeader(const std::string& header) {
  headers_.reset(curl_slist_append(headers_.release(), header.c_str()));
  Set(CURLOPT_HTTPHEADER, headers_.get());
}

long Transfer::Status() const {
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  return status;
}

Response Transfer::Finish(CURLcode code) {
  response_.status = Status();
  curl_off_t seconds = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &seconds);
  response_.retry_after =
      std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, kLongestRetryAfter.count()));
  if (code != CURLE_OK) {
    response_.error = error_[0] != '\0' ? error_ : curl_easy_strerror(code);
    if (response_.status != kOk || watching_.on_line == nullptr) response_.status = 0;
  }
  return std::move(response_);
}

std::size_t Transfer::OnBytes(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->Take({bytes, size * count}) ? size * count : 0;
}

// Calls `on_open` at the empty line that ends the headers, if the status is 200.
std::size_t Transfer::OnHeader(char* bytes, std::size_t size, std::size_t count, void* self) {
  const auto* transfer = static_cast<Transfer*>(self);
  const Client::OnOpen* on_open = transfer->watching_.on_open;
  const bool end = std::string_view(bytes, size * count) == "\r\n";
  if (end && transfer->Status() == kOk && on_open != nullptr && *on_open) (*on_open)();
  return size * count;
}

bool Transfer::Take(std::string_view bytes) {
  if (watching_.on_line != nullptr && Status() == kOk) return cut_.Add(bytes, *watching_.on_line);
  if (response_.body.size() + bytes.size() > Client::kMostBytes) return false;
  response_.body += bytes;
  return true;
}

}  // namespace crossover::kube
