// The table of processes of a machine: who we are, and who is dead. See state.h for how liveness works.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "simgpu/machine/lock.h"

namespace simgpu {

struct SharedState;

class ClientTable final : public Coroner {
 public:
  // Takes an entry of the table for this process and keeps it until death. Call it while no other process can
  // be doing the same. `directory` is the state directory.
  bool Claim(SharedState* state, const std::string& directory, std::string* error);

  bool IsDead(std::uint32_t token) override;
  // True when an entry names a process that is gone. Opens the entry's lock file: a few system calls.
  bool EntryIsDead(int entry) const;
  // Process of an entry, in this process's PID namespace; 0 when it is gone, or in a namespace that cannot be
  // seen from here.
  pid_t PidOf(int entry) const;
  // True when `token` still has its entry; no system call.
  bool Listed(std::uint32_t token) const;

  std::uint32_t token() const { return token_; }
  std::uint64_t process() const { return process_; }
  int entry() const { return static_cast<int>(token_ & 0xff); }

 private:
  friend class Machine;
  void Use(SharedState* state, const std::string& directory);
  std::string FileOf(int entry) const;

  SharedState* state_ = nullptr;
  std::string directory_;
  std::uint64_t process_ = 0;
  std::uint32_t token_ = 0;
  int lock_fd_ = -1;  // never closed: closing it would declare us dead
};

}  // namespace simgpu
