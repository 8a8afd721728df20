#include "extender/http/server.h"

#include <cpprest/http_listener.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/thread_pool.hpp>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/base/all_addresses.h"
#include "common/base/refusal.h"
#include "common/logging/log.h"
#include "extender/http/certificate.h"
#include "extender/http/half_closed.h"

namespace crossover::extender {
namespace {

namespace http = web::http;
using http::experimental::listener::http_listener;
using http::experimental::listener::http_listener_config;

constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kMethodNotAllowed = 405;
constexpr int kLengthRequired = 411;
constexpr int kTooLarge = 413;
constexpr int kServerError = 500;
constexpr int kUnavailable = 503;
constexpr std::size_t kHandlerThreads = 4;
constexpr std::chrono::seconds kLastAnswersWithin{2};
constexpr std::chrono::seconds kEndsAreReportedWithin{2};

// Holds the threads of the C++ REST SDK. One thread reads and writes for all servers. The SDK may read a
// request's body while Take() runs; with one thread, Take() checks the request before any of its body is
// read. A second thread stands by. When a listener closes, the SDK blocks one of its own threads until the
// listener's connections end.
class LibraryThreads {
 public:
  static LibraryThreads& Get() {
    static LibraryThreads threads;  // destroyed before the SDK's threads, which the SDK joins
    return threads;
  }

  // Makes both threads run until the matching EndClosing().
  void BeginClosing() {
    const std::lock_guard lock(mutex_);
    ++closing_;
    change_.notify_all();
  }
  void EndClosing() {
    const std::lock_guard lock(mutex_);
    if (--closing_ == 0) Park();
  }

 private:
  LibraryThreads() {
    crossplat::threadpool::initialize_with_threads(2);
    Park();
  }
  ~LibraryThreads() { BeginClosing(); }

  // Blocks one thread until a listener closes. REQUIRES: mutex_ is held. At most one thread may be blocked
  // here or about to be: if both were, no thread would be left.
  void Park() {
    if (std::exchange(stands_by_, true)) return;
    crossplat::threadpool::shared_instance().service().post([this] {
      std::unique_lock lock(mutex_);
      change_.wait(lock, [this] { return closing_ > 0; });
      stands_by_ = false;
    });
  }

  std::mutex mutex_;
  std::condition_variable change_;
  int closing_ = 0;
  bool stands_by_ = false;
};

struct TwoThreads {
  TwoThreads() { LibraryThreads::Get().BeginClosing(); }
  ~TwoThreads() { LibraryThreads::Get().EndClosing(); }
  TwoThreads(const TwoThreads&) = delete;
  TwoThreads& operator=(const TwoThreads&) = delete;
};

HttpAnswer Plain(int status, std::string text) {
  return {.status = status, .body = std::move(text) + "\n", .content_type = "text/plain; charset=utf-8"};
}

// Sends the answer. If `close` is true, the answer ends its connection. Returns the task of the sending.
pplx::task<void> Send(const http::http_request& request, const HttpAnswer& answer, bool close = false) {
  http::http_response response(static_cast<http::status_code>(answer.status));
  response.set_body(answer.body, answer.content_type);
  if (close) response.headers()["Connection"] = "close";
  return request.reply(response);
}

void Observe(const pplx::task<void>& task) {
  task.then([](const pplx::task<void>& done) {
    try {
      done.get();
    } catch (...) {  // the client is gone
    }
  });
}

// Reads and drops the `left` bytes of a body, so that the client is ready to receive the answer. Calls
// `then` with whether all bytes came.
void Drain(const concurrency::streams::istream& body, std::size_t left,
           const std::function<void(bool whole)>& then) {
  const auto scratch = std::make_shared<std::array<std::uint8_t, 4096>>();
  body.streambuf()
      .getn(scratch->data(), scratch->size())
      .then([scratch, body, left, then](const pplx::task<std::size_t>& read) {
        std::size_t size = 0;
        try {
          size = read.get();
        } catch (...) {  // the rest of the body will not come
        }
        if (size > 0) {
          Drain(body, left - std::min(left, size), then);
        } else {
          then(left == 0);
        }
      });
}

// Returns Content-Length, 0 if the header is missing, or nothing if it is not decimal digits: the SDK takes
// "-1" for a size.
std::optional<std::size_t> LengthOf(const http::http_request& request) {
  std::string text;
  if (!request.headers().match("Content-Length", text)) return 0;
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

// Returns the host that the SDK must listen on.
std::string HostOf(const std::string& address) {
  if (address != base::kAllAddresses) return address;
  return base::HasIpv6() ? kNameOfAllAddresses : "0.0.0.0";
}

// An Objection is an answer that needs no handler. If `abort` is true, the rest of the body is not read.
struct Objection {
  HttpAnswer answer;
  bool abort = false;
};

}  // namespace

// Lives as long as any of its requests, so that late answers find it.
struct HttpServer::Impl : std::enable_shared_from_this<HttpServer::Impl> {
  // An Open is a request that has not been answered.
  struct Open {
    http::http_request request;
    std::atomic<bool> answered{false};
  };

  Settings settings;
  std::map<std::string, Handler> handlers;
  std::optional<Certificate> certificate;
  std::optional<http_listener> listener;
  std::optional<HalfClosedWatch> half_closed;
  boost::asio::thread_pool workers{kHandlerThreads};

  std::mutex mutex;
  std::condition_variable sent;
  std::set<std::shared_ptr<Open>> open;
  int sending = 0;
  bool closing = false;

  std::optional<Objection> Objects(const http::http_request& request) const;
  void Take(const http::http_request& request);
  bool Drains() const { return settings.drains != nullptr && *settings.drains; }
  void Handle(const std::shared_ptr<Open>& open_request, const std::string& body);
  // Answers the request, unless it is answered already. If `last` is true, the answer ends its connection.
  void Answer(const std::shared_ptr<Open>& open_request, const HttpAnswer& answer, bool last = false);
  void Secure(boost::asio::ssl::context* context);
};

std::optional<Objection> HttpServer::Impl::Objects(const http::http_request& request) const {
  const auto length = LengthOf(request);
  const http::method& method = request.method();
  const auto refused = [](int status, const char* what, const std::string& expected, const std::string& got,
                          bool abort) {
    return Objection{.answer = Plain(status, base::Refusal(what, expected, base::Shown(got))),
                     .abort = abort};
  };
  std::string text;
  if (request.headers().match("Transfer-Encoding", text))
    return refused(kLengthRequired, "Transfer-Encoding", "none, and Content-Length", text, true);
  if (!length) {
    request.headers().match("Content-Length", text);
    return refused(kBadRequest, "Content-Length", "a number of bytes", text, true);
  }
  if (*length > settings.most_bytes)
    return refused(kTooLarge, "the body", "at most " + std::to_string(settings.most_bytes) + " bytes",
                   std::to_string(*length), false);
  if (method != http::methods::GET && method != http::methods::POST)
    return refused(kMethodNotAllowed, "method", "GET or POST", method, false);
  if (handlers.count(request.request_uri().path()) == 0)
    return Objection{.answer = Plain(kNotFound, "no such path")};
  return std::nullopt;
}

void HttpServer::Impl::Take(const http::http_request& request) {
  if (const auto objection = Objects(request)) {
    if (objection->abort) {
      request.body().streambuf().close(std::ios_base::out,
                                       std::make_exception_ptr(http::http_exception("refused")));
      Observe(Send(request, objection->answer, true));
    } else {
      // After a body that ended early, the connection closes: a next request cannot come (half_closed.h).
      const auto answer = [request, answer = objection->answer, close = Drains()](bool whole) {
        Observe(Send(request, answer, close || !whole));
      };
      Drain(request.body(), LengthOf(request).value_or(0), answer);
    }
    return;
  }
  auto taken = std::make_shared<Open>();
  taken->request = request;
  {
    const std::lock_guard lock(mutex);
    if (!closing) open.insert(taken);
  }
  request.extract_vector().then([self = shared_from_this(),
                                 taken](const pplx::task<std::vector<unsigned char>>& read) {
    std::string body;
    try {
      const auto bytes = read.get();
      body.assign(bytes.begin(), bytes.end());
    } catch (...) {
      self->Answer(taken, Plain(kBadRequest, "the body ended early"), true);
      return;
    }
    boost::asio::post(self->workers, [self, taken, body = std::move(body)] { self->Handle(taken, body); });
  });
}

void HttpServer::Impl::Handle(const std::shared_ptr<Open>& open_request, const std::string& body) {
  if (open_request->answered) return;
  const http::http_request& request = open_request->request;
  HttpRequest asked{.method = request.method(),
                    .path = request.request_uri().path(),
                    .query = request.request_uri().query(),
                    .body = body,
                    .authorization = {}};
  request.headers().match("Authorization", asked.authorization);
  try {
    handlers.at(asked.path)(asked, [self = shared_from_this(), open_request](const HttpAnswer& answer) {
      self->Answer(open_request, answer);
    });
  } catch (const std::exception& fault) {
    logging::Error("http: " + asked.path + ": " + fault.what());
    Answer(open_request, Plain(kServerError, "the request could not be answered"));
  }
}

void HttpServer::Impl::Answer(const std::shared_ptr<Open>& open_request, const HttpAnswer& answer,
                              bool last) {
  if (open_request->answered.exchange(true)) return;
  bool close = last || Drains();
  {
    const std::lock_guard lock(mutex);
    open.erase(open_request);
    ++sending;
    close |= closing;
  }
  Send(open_request->request, answer, close).then([self = shared_from_this()](const pplx::task<void>& done) {
    try {
      done.get();
    } catch (...) {  // the client is gone
    }
    {
      const std::lock_guard lock(self->mutex);
      --self->sending;
    }
    self->sent.notify_all();
  });
}

// Sets up TLS for one connection. The SDK calls it for each, so a new certificate is used from the next
// connection on.
void HttpServer::Impl::Secure(boost::asio::ssl::context* context) {
  using boost::asio::ssl::context_base;
  const auto pair = certificate->Current();
  if (pair == nullptr) throw boost::system::system_error(boost::asio::error::no_permission);
  context->set_options(context_base::default_workarounds | context_base::no_sslv2 | context_base::no_sslv3 |
                       context_base::no_tlsv1 | context_base::no_tlsv1_1);
  context->use_certificate_chain(boost::asio::buffer(pair->chain));
  context->use_private_key(boost::asio::buffer(pair->key), context_base::pem);
  if (settings.client_ca_file.empty()) return;
  context->load_verify_file(settings.client_ca_file);
  context->set_verify_mode(boost::asio::ssl::verify_peer | boost::asio::ssl::verify_fail_if_no_peer_cert);
}

HttpServer::HttpServer(const Settings& settings, std::map<std::string, Handler> handlers_by_path)
    : impl_(std::make_shared<Impl>()) {
  LibraryThreads::Get();
  impl_->settings = settings;
  impl_->handlers = std::move(handlers_by_path);
  const bool secure = !settings.certificate_file.empty();
  http_listener_config config;
  if (secure) {
    impl_->certificate.emplace(settings.certificate_file, settings.key_file);
    // The SDK keeps this callback longer than the listener.
    config.set_ssl_context_callback([weak = std::weak_ptr(impl_)](boost::asio::ssl::context& context) {
      const auto self = weak.lock();
      if (self == nullptr) throw boost::system::system_error(boost::asio::error::operation_aborted);
      self->Secure(&context);
    });
  }
  const std::string host = HostOf(settings.address), port = ":" + std::to_string(settings.port);
  try {
    impl_->listener.emplace(http::uri((secure ? "https://" : "http://") + host + port + "/"), config);
    // The handler must not own the listener, which owns the handler.
    const auto take = [weak = std::weak_ptr(impl_)](const http::http_request& request) {
      if (const auto self = weak.lock()) self->Take(request);
    };
    impl_->listener->support(take);
    impl_->listener->support(http::methods::TRCE, take);  // else the SDK itself answers both
    impl_->listener->support(http::methods::OPTIONS, take);
    const TwoThreads both;  // an open that failed closes the listener again
    impl_->listener->open().get();
  } catch (const std::exception& fault) {
    const std::string needs = "; the port must be free, and for " + settings.address +
                              " /etc/hosts must have the line \":: " + host + "\"";
    throw std::runtime_error(settings.address + port + ": cannot listen there: " + fault.what() +
                             (host == kNameOfAllAddresses ? needs : ""));
  }
  impl_->half_closed.emplace(settings.port, kEndsAreReportedWithin);
}

std::int64_t HttpServer::certificate_until_s() const {
  if (!impl_->certificate) return 0;
  const auto pair = impl_->certificate->Current();
  return pair == nullptr ? 0 : pair->until_s;
}

HttpServer::~HttpServer() {
  impl_->half_closed.reset();
  std::set<std::shared_ptr<Impl::Open>> open;
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
    open = impl_->open;
  }
  for (const auto& request : open) impl_->Answer(request, Plain(kUnavailable, "the extender is ending"));
  {
    std::unique_lock lock(impl_->mutex);
    impl_->sent.wait_for(lock, kLastAnswersWithin, [this] { return impl_->sending == 0; });
  }
  try {
    const TwoThreads both;
    impl_->listener->close().get();
  } catch (const std::exception& fault) {
    logging::Warn(std::string("http: ") + fault.what());
  }
  impl_->workers.join();
}

}  // namespace crossover::extender
