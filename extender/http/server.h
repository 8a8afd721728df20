// An HTTP listener: routes by path alone, answers later without holding a thread.
//
// Only GET and POST, and only bodies that say their length, get as far as a handler. All servers of a process
// share one thread that reads and writes, and each has a few for its handlers.
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
  std::string authorization;  // the header; empty: none
};

struct HttpAnswer {
  int status = 200;
  std::string body{};
  std::string content_type = "application/json";
};

class HttpServer {
 public:
  using Reply = std::function<void(HttpAnswer)>;
  // Called on one of a few threads shared by all requests: it must not wait. `reply` once, from any thread.
  using Handler = std::function<void(const HttpRequest& request, Reply reply)>;

  struct Settings {
    std::string address = "127.0.0.1";
    int port = 0;  // of an IPv4 address, from 1
    // PEM files; empty: plain HTTP. Read anew when they change. While they are not there, or do not fit
    // together and never did, connections are closed.
    std::string certificate_file{}, key_file{};
    // Clients must have a certificate of this authority; empty: none is asked for.
    std::string client_ca_file{};
    std::size_t most_bytes = 16u << 20;  // of a request's body; larger ones are answered with 413
    // While this is true each answer is the last of its connection: clients come anew, and elsewhere, before
    // the end. Null: it never is.
    std::shared_ptr<const std::atomic<bool>> drains{};
  };

  // Serves from here on. Throws std::runtime_error, naming address and port, where it cannot listen.
  HttpServer(const Settings& settings, std::map<std::string, Handler> handlers_by_path);
  ~HttpServer();  // what has not been answered is answered with 503
  // When the certificate that is served now ends, since 1970; 0: there is none.
  std::int64_t certificate_until_s() const;
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;  // with requests that are still to be answered
};

}  // namespace crossover::extender
