// Real processes for tests: a daemon, and children that run a piece of the test.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/fd.h"

namespace crossover::testing {

// A directory of its own under the system's temporary one, removed at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// A program with its standard error in a pipe, killed at the end if it still runs.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command);
  ~Program();

  // Reads standard error until a line contains `text`. False at its end.
  bool AwaitLine(const std::string& text);
  void Signal(int signal) const;
  // Waits for the end: exit status, or minus the signal.
  int Wait();
  pid_t pid() const { return pid_; }
  const std::string& seen() const { return seen_; }  // of standard error, by AwaitLine and Wait

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  base::UniqueFd stderr_;
  std::string seen_;
  std::size_t searched_ = 0;
};

// A forked child running `body`, which may report bytes to the parent. Killed at the end if it still runs.
class Child {
 public:
  class Reporter {
   public:
    explicit Reporter(int fd) : fd_(fd) {}
    void Report(char what) const;

   private:
    int fd_;
  };

  explicit Child(const std::function<void(const Reporter&)>& body);
  ~Child();

  // The next byte reported; 0 when the child is gone without one.
  char Await();
  void Kill();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  base::UniqueFd reports_;
};

}  // namespace crossover::testing
