// Starts real processes for tests: a daemon, and children that run a part of the test.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "common/base/fd.h"

namespace crossover::testing {

// Makes a directory under the system's temporary one and removes it at the end.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs a program with its standard error in a pipe. The destructor kills it if it still runs.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command);
  ~Program();

  // Reads standard error until it contains `text`. Returns false if it ends before.
  bool AwaitLine(const std::string& text);
  void Signal(int signal) const;
  // Waits for the end. Returns the exit status, or minus the signal.
  int Wait();
  pid_t pid() const { return pid_; }
  const std::string& seen() const { return seen_; }  // standard error, as AwaitLine and Wait have read it

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  base::UniqueFd stderr_;
  std::string seen_;
  std::size_t searched_ = 0;
};

// Forks a child that runs `body`, which may report bytes to the parent. The destructor kills it if it still
// runs.
class Child {
 public:
  class Reporter {
   public:
    explicit Reporter(int fd) : fd_(fd) {}
    // Sends one byte to the parent. Ends the child if the parent has gone.
    void Report(char what) const;

   private:
    int fd_;
  };

  explicit Child(const std::function<void(const Reporter&)>& body);
  ~Child();

  // Returns the next byte reported, or 0 if the child ends without one.
  char Await();
  // Kills the child and waits for its end. Does nothing if that is done already.
  void Kill();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  base::UniqueFd reports_;
};

}  // namespace crossover::testing
