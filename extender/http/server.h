// Listens for HTTP. It routes by path alone, and a handler may answer later without holding a thread.
//
// Only GET and POST requests, and only bodies with a Content-Length, reach a handler. All servers of a
// process share one thread that reads and writes. Each server has a few threads for its handlers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace crossover::extender {

struct HttpRequest {
  std::string method;
  std::string path;  // without the query
  std::string query;
  std::string body;
  std::string authorization;  // the Authorization header; empty: none
};

struct HttpAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

// The C++ REST SDK takes what is before the first colon for the host, so an address of IPv6 needs a name.
inline constexpr char kNameOfAllAddresses[] = "all-addresses";

class HttpServer {
 public:
  using Reply = std::function<void(HttpAnswer)>;
  // Answers a request. It runs on one of a few threads that all requests to this server share: a handler that
  // blocks delays the others. It calls `reply` once, on any thread, now or later.
  using Handler = std::function<void(const HttpRequest& request, Reply reply)>;

  struct Settings {
    // `address` is of IPv4, or [::] for all addresses of both families. For [::], /etc/hosts must give the
    // name kNameOfAllAddresses the address ::. If the kernel has no IPv6, [::] means 0.0.0.0.
    std::string address = "127.0.0.1";
    int port = 0;  // at least 1
    // These are PEM files; if empty, the server speaks plain HTTP. The server reads them again when they
    // change. It closes connections until there is a certificate that fits its key.
    std::string certificate_file{}, key_file{};
    // Clients must show a certificate of this authority. If empty, none is requested.
    std::string client_ca_file{};
    std::size_t most_bytes = 16u << 20;  // of a request's body; larger ones get status 413
    // While true, each answer is the last of its connection. So clients connect to another server before this
    // one ends. Null means never.
    std::shared_ptr<const std::atomic<bool>> drains{};
  };

  // Starts to serve. Throws std::runtime_error, with address and port, if it cannot listen there.
  HttpServer(const Settings& settings, std::map<std::string, Handler> handlers_by_path);
  // Answers all open requests with 503 and closes the listener.
  ~HttpServer();
  // Returns when the certificate in use expires, in seconds since 1970, or 0 if there is none.
  std::int64_t certificate_until_s() const;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Impl;
  // Requests that are not answered yet share it.
  std::shared_ptr<Impl> impl_;
};

}  // namespace crossover::extender
