// Keeps the table of the processes of a machine: which entry is this process's, and which processes are
// dead. state.h says how a process shows that it is alive.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "simgpu/machine/lock.h"

namespace simgpu {

struct SharedState;

// A ClientTable holds this process's entry in the shared table and answers questions about the other
// entries. It never releases the entry.
class ClientTable final : public Coroner {
 public:
  // Takes an entry of the table for this process and keeps it until the process dies. `directory` is the
  // state directory. Returns false, with one line in *error, if a file cannot be opened or the table is
  // full. REQUIRES: no other process calls this at the same time.
  bool Claim(SharedState* state, const std::string& directory, std::string* error);

  // Returns true if the process that `token` names is gone.
  bool IsDead(std::uint32_t token) override;
  // Returns true if an entry names a process that is gone. Opens the lock file of the entry, which takes a
  // few system calls.
  bool EntryIsDead(int entry) const;
  // Returns the process ID of an entry in this process's PID namespace. Returns 0 if the process is gone or
  // in a namespace that cannot be seen from here.
  pid_t PidOf(int entry) const;
  // Returns true if `token` still has its entry. Makes no system call.
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
  int lock_fd_ = -1;  // never closed: if it were, this process would look dead
};

}  // namespace simgpu
