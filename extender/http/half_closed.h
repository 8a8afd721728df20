// Tells the C++ REST SDK again of connections that their clients have ended.
//
// If the SDK answers by itself (400 to a path that it cannot decode), it waits for the next request of the
// connection. It does so also after it has read the end of the connection in the middle of a body. The kernel
// reports that end once, because asio asks for edges: the second read then waits forever, and each such
// request keeps a descriptor. shutdown(SHUT_RD) makes the kernel report the end again. It changes nothing
// else: bytes that were not read stay, and the client receives its answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace crossover::extender {

// Reports the end again on each TCP connection of this process at the local `port` whose client has ended its
// side. Returns the number of these connections. Thread-safe.
int ReportEndsAgain(int port);

// Calls ReportEndsAgain() in each `period` on a thread of its own.
class HalfClosedWatch {
 public:
  HalfClosedWatch(int port, std::chrono::milliseconds period);
  HalfClosedWatch(const HalfClosedWatch&) = delete;
  HalfClosedWatch& operator=(const HalfClosedWatch&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable_any change_;
  std::jthread thread_;  // the last member: it ends before what it uses
};

}  // namespace crossover::extender
