// libs: crossover::http
// A client sends bytes to the extender's listener, in portions that the input chooses. Whatever the bytes
// are, the server ends the connection and lives on; each answer is one that it may give; and a handler sees
// only what it was promised.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/base/fd.h"
#include "extender/http/server.h"
#include "tests/fuzz/require.h"

namespace {

namespace base = crossover::base;
using crossover::fuzz::Require;
using namespace crossover::extender;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kMostBytes = 1000;
constexpr int kPatienceMs = 8000;  // of each wait, in place of the fuzzer's own limit: see AlarmsHeldBack
constexpr char kGoodRequest[] = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi";

// Holds back SIGALRM while it lives. libFuzzer asks for this signal every few seconds to look at the time,
// and the signal ends a connect() or poll() of the same thread that waits.
class AlarmsHeldBack {
 public:
  AlarmsHeldBack() {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    Require(::pthread_sigmask(SIG_BLOCK, &alarm, &before_) == 0);
  }
  ~AlarmsHeldBack() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AlarmsHeldBack(const AlarmsHeldBack&) = delete;
  AlarmsHeldBack& operator=(const AlarmsHeldBack&) = delete;

 private:
  sigset_t before_;
};

void Echo(const HttpRequest& request, const HttpServer::Reply& reply) {
  Require(request.method == "GET" || request.method == "POST");
  Require(request.path == "/echo" && request.body.size() <= kMostBytes);
  reply({.status = 200, .body = "<" + request.body + ">", .content_type = "text/plain"});
}

class Serving {
 public:
  static const Serving& Get() {
    static const Serving serving;
    return serving;
  }

  base::UniqueFd Connect() const {
    base::UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Require(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const int on = 1;
    ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
  }

 private:
  // Listens below the ports that the kernel gives to connections.
  Serving() {
    std::mt19937 random{std::random_device{}()};
    while (server_ == nullptr) {
      port_ = std::uniform_int_distribution{10'000, 30'000}(random);
      try {
        server_ = std::make_unique<HttpServer>(HttpServer::Settings{.port = port_, .most_bytes = kMostBytes},
                                               std::map<std::string, HttpServer::Handler>{{"/echo", Echo}});
      } catch (const std::runtime_error&) {  // another process has that port
      }
    }
  }

  int port_ = 0;
  std::unique_ptr<HttpServer> server_;
};

// Reads until the server ends the connection. A connection that it ends with bytes unread is reset.
std::string ReadToTheEnd(int fd) {
  std::string text;
  std::array<char, 4096> some{};
  for (;;) {
    pollfd readable{fd, POLLIN, 0};
    Require(::poll(&readable, 1, kPatienceMs) == 1);
    const ssize_t bytes = ::recv(fd, some.data(), some.size(), 0);
    if (bytes <= 0) return text;
    text.append(some.data(), static_cast<std::size_t>(bytes));
  }
}

std::string Ask(std::string_view bytes, std::size_t portion) {
  const base::UniqueFd fd = Serving::Get().Connect();
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    const std::string_view some = bytes.substr(at, portion);
    if (::send(fd.get(), some.data(), some.size(), MSG_NOSIGNAL) < 0) break;  // it has seen enough
  }
  ::shutdown(fd.get(), SHUT_WR);
  return ReadToTheEnd(fd.get());
}

// Takes the first answer off `text`. Returns its status, and sets `*body` unless a reset has cut off the
// header.
int TakeAnswer(std::string_view* text, std::string_view* body) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  Require(text->starts_with(kVersion) && text->size() >= kVersion.size() + 3);
  int status = 0;
  std::from_chars(text->data() + kVersion.size(), text->data() + kVersion.size() + 3, status);
  const std::size_t end = text->find("\r\n\r\n");
  if (end == text->npos) {  // cut off by a reset
    *text = {};
    return status;
  }
  constexpr std::string_view kLength = "Content-Length: ";
  const std::string_view head = text->substr(0, end + 2);
  std::size_t length = 0;
  if (const std::size_t at = head.find(kLength); at != head.npos) {
    std::from_chars(head.data() + at + kLength.size(), head.data() + head.size(), length);
  }
  text->remove_prefix(end + 4);
  *body = text->substr(0, length);
  text->remove_prefix(std::min(length, text->size()));
  return status;
}

}  // namespace

// The first byte says how long portions are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kAllowed[] = {100, 200, 400, 404, 405, 411, 413};
  static std::uint64_t inputs = 0;
  if (size == 0) return 0;
  const AlarmsHeldBack held_back;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string answers = Ask(bytes, data[0] == 0 ? size : std::size_t{data[0]});
  std::string_view left = answers, body;
  while (!left.empty()) {
    const int status = TakeAnswer(&left, &body);
    Require(std::find(std::begin(kAllowed), std::end(kAllowed), status) != std::end(kAllowed));
    if (status == 200) Require(!body.empty() && body.front() == '<');
  }
  if (inputs++ % 16 == 0) {
    const std::string answer = Ask(kGoodRequest, sizeof kGoodRequest);
    left = answer;
    Require(TakeAnswer(&left, &body) == 200 && body == "<hi>");
  }
  return 0;
}
