// A server of HTTP that answers as it is told.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/fd.h"

namespace crossover::kube {

// Answers each request, in order, with what a test has prepared: a whole answer, after which the connection
// ends.
class Server {
 public:
  Server() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_.get(), 16);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

  void Answer(int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    answers_.push_back("HTTP/1.1 " + std::to_string(status) + " x\r\nConnection: close\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
    changed_.notify_all();
  }
  std::string AwaitRequest(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() > number; });
    return requests_[number];
  }
  const std::string& url() const { return url_; }

 private:
  // How long a request is, by what has come of it.
  static std::size_t BytesOf(const std::string& request) {
    constexpr char kLength[] = "Content-Length: ";
    const std::size_t head = request.find("\r\n\r\n");
    const std::size_t length = request.find(kLength);
    if (head == std::string::npos || length == std::string::npos) return 0;
    return head + 4 + std::strtoul(request.c_str() + length + sizeof kLength - 1, nullptr, 10);
  }

  void Run() {
    for (;;) {
      const base::UniqueFd connection(accept(socket_.get(), nullptr, nullptr));
      if (!connection) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = recv(connection.get(), buffer, sizeof buffer, 0);
        if (size <= 0) break;
        request.append(buffer, static_cast<std::size_t>(size));
      }
      while (request.size() < BytesOf(request)) {
        const ssize_t size = recv(connection.get(), buffer, sizeof buffer, 0);
        if (size <= 0) break;
        request.append(buffer, static_cast<std::size_t>(size));
      }
      std::unique_lock lock(mutex_);
      requests_.push_back(request);
      changed_.notify_all();
      changed_.wait(lock, [this] { return stop_ || !answers_.empty(); });
      if (stop_) return;
      const std::string answer = answers_.front();
      answers_.pop_front();
      lock.unlock();
      send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  base::UniqueFd socket_;
  std::string url_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> answers_;
  std::vector<std::string> requests_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace crossover::kube
