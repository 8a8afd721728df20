// Lets a test send signals to this process while it waits in a system call.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <utility>

namespace crossover {

// A Hearing handles SIGUSR1 while it lives. It makes a file once it has heard twenty signals. Another process
// sends signals until the file is there. By then this process was in the system call for most of them. At
// most one Hearing lives at a time.
class Hearing {
 public:
  explicit Hearing(std::string file) : file_(std::move(file)) {
    unlink(file_.c_str());
    path = file_.c_str();
    heard = 0;
    struct sigaction action {};
    action.sa_handler = Hear;  // without SA_RESTART
    sigaction(SIGUSR1, &action, &before_);
  }
  ~Hearing() {
    sigaction(SIGUSR1, &before_, nullptr);
    unlink(file_.c_str());
  }
  Hearing(const Hearing&) = delete;
  Hearing& operator=(const Hearing&) = delete;

 private:
  static constexpr int kEnough = 20;

  static void Hear(int) {
    if (++heard == kEnough) close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  }

  inline static const char* path = nullptr;
  inline static std::atomic<int> heard = 0;
  const std::string file_;
  struct sigaction before_ {};
};

}  // namespace crossover
