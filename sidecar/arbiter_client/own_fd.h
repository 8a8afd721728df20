// Owns a file descriptor inside the user's program. The program may close any number, or use it for a file of
// its own (closefrom, dup2, daemons that begin with a clean table). So these classes remember which file the
// number stands for, and check before each use that it still does.
//
// A program that takes the number between the check and the use is not noticed. The check is made right
// before the use, on the same thread.
#pragma once

#include <sys/types.h>

#include <atomic>

namespace crossover::arbiter_client {

// A File tells files apart. No two sockets or memory files that exist at the same time are equal.
struct File {
  dev_t device = 0;
  ino_t number = 0;
};

// Returns whether `fd` is open and stands for `file`.
bool StandsFor(int fd, const File& file);

// An OwnFd owns one descriptor, or none.
class OwnFd {
 public:
  constexpr OwnFd() = default;
  // Takes ownership of `fd`, which the caller has just got.
  explicit OwnFd(int fd);
  OwnFd(OwnFd&& other) noexcept;
  OwnFd& operator=(OwnFd&& other) noexcept;
  OwnFd(const OwnFd&) = delete;
  OwnFd& operator=(const OwnFd&) = delete;
  ~OwnFd() { Reset(); }

  // Returns the descriptor. Returns -1 if it owns none, or if the program has closed or taken the number.
  int get() const { return StandsFor(fd_, file_) ? fd_ : -1; }
  // Returns whether it was given a descriptor, without a check of what the number stands for.
  explicit operator bool() const { return fd_ >= 0; }
  const File& file() const { return file_; }

  // Closes the descriptor, unless the number is no longer ours.
  void Reset();

 private:
  int fd_ = -1;
  File file_;
};

// A SharedFd lets the child of a fork close the descriptor that another thread of its parent owns.
class SharedFd {
 public:
  constexpr SharedFd() = default;
  // Shows `fd`, or none if it owns none, to children from now on. REQUIRES: the owner's thread calls it.
  void Show(const OwnFd& fd);
  void Hide() { fd_.store(-1, std::memory_order_release); }
  // Closes it in the calling process, unless the number is no longer ours. REQUIRES: the calling thread is
  // the only one of a forked child.
  void CloseInChild();

 private:
  std::atomic<int> fd_{-1};
  File file_;  // valid while `fd_` is not negative
};

}  // namespace crossover::arbiter_client
