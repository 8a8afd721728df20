// Serves HTTP for tests, with the answers that they prepare.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/fd.h"

namespace crossover::kube {

// A Server answers each request with the first prepared reply that fits it, and waits for one as long as
// there is none.
class Server {
 public:
  struct Reply {
    int status = 200;
    std::string body;
    std::string headers{};          // each with its line end
    bool keep = false;              // the connection is kept for another request
    bool open = false;              // the body goes on with Say()
    std::string to{};               // what the first line of the request contains
    bool cut = false;               // the connection ends before the body is whole
    std::function<void()> first{};  // is called before the answer is sent
  };

  Server() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_.get(), 128);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      for (const base::UniqueFd& connection : connections_) shutdown(connection.get(), SHUT_RDWR);
    }
    changed_.notify_all();
    shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
    for (std::thread& thread : threads_) thread.join();
  }

  void Answer(int status, const std::string& body) { Answer({.status = status, .body = body}); }
  void Answer(Reply reply) {
    const std::lock_guard lock(mutex_);
    replies_.push_back(std::move(reply));
    changed_.notify_all();
  }
  // Sends `text` on the connection that was left open last, of those whose reply has this `to`. Blocks
  // until there is one.
  void Say(const std::string& text, const std::string& to = "") {
    std::unique_lock lock(mutex_);
    int connection = -1;
    changed_.wait(lock, [&] {
      for (const auto& [like, open] : open_) {
        if (like == to) connection = open;
      }
      return connection >= 0;
    });
    send(connection, text.data(), text.size(), MSG_NOSIGNAL);
  }

  std::string AwaitRequest(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() > number; });
    return requests_[number];
  }
  std::size_t requests() {
    const std::lock_guard lock(mutex_);
    return requests_.size();
  }
  std::size_t connections() {
    const std::lock_guard lock(mutex_);
    return connections_.size();
  }
  const std::string& url() const { return url_; }

 private:
  // Returns how long a request will be, according to its header. Returns 0 while the header is not whole, and
  // if it has no Content-Length.
  static std::size_t BytesOf(const std::string& request) {
    constexpr char kLength[] = "Content-Length: ";
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find(kLength);
    if (head == std::string::npos || length == std::string::npos) return 0;
    return head + 4 + std::strtoul(request.c_str() + length + sizeof kLength - 1, nullptr, 10);
  }
  static std::string TextOf(const Reply& reply) {
    std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " x\r\n" + reply.headers;
    if (!reply.keep) text += "Connection: close\r\n";
    if (!reply.open)
      text += "Content-Length: " + std::to_string(reply.body.size() + (reply.cut ? 1 : 0)) + "\r\n";
    return text + "\r\n" + reply.body;
  }

  void Run() {
    for (;;) {
      base::UniqueFd connection(accept(socket_.get(), nullptr, nullptr));
      const std::lock_guard lock(mutex_);
      if (!connection || stop_) return;
      const int number = connection.get();
      connections_.push_back(std::move(connection));
      threads_.emplace_back([this, number] { Serve(number); });
    }
  }

  static bool Receive(int connection, std::string* request) {
    char buffer[4096];
    while (request->find("\r\n\r\n") == std::string::npos || request->size() < BytesOf(*request)) {
      const ssize_t size = recv(connection, buffer, sizeof buffer, 0);
      if (size <= 0) return false;
      request->append(buffer, static_cast<std::size_t>(size));
    }
    return true;
  }

  // Takes the next reply that fits the request, and blocks until there is one. Returns false when the
  // server stops.
  bool Take(const std::string& request, Reply* reply) {
    const std::string line = request.substr(0, request.find("\r\n"));
    std::unique_lock lock(mutex_);
    requests_.push_back(request);
    changed_.notify_all();
    auto found = replies_.end();
    changed_.wait(lock, [&] {
      found = std::find_if(replies_.begin(), replies_.end(),
                           [&](const Reply& other) { return line.find(other.to) != std::string::npos; });
      return stop_ || found != replies_.end();
    });
    if (stop_) return false;
    *reply = std::move(*found);
    replies_.erase(found);
    return true;
  }

  void Serve(int connection) {
    Reply reply;
    do {
      std::string request;
      if (!Receive(connection, &request) || !Take(request, &reply)) break;
      if (reply.first) reply.first();
      const std::string text = TextOf(reply);
      send(connection, text.data(), text.size(), MSG_NOSIGNAL);
      if (!reply.open) continue;
      const std::lock_guard lock(mutex_);
      open_.emplace_back(reply.to, connection);
      changed_.notify_all();
      return;
    } while (reply.keep);
    shutdown(connection, SHUT_RDWR);
  }

  base::UniqueFd socket_;
  std::string url_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Reply> replies_;
  std::vector<std::string> requests_;
  std::vector<base::UniqueFd> connections_;  // all there have been
  std::vector<std::pair<std::string, int>> open_;
  std::list<std::thread> threads_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace crossover::kube
