// Locks a word in memory that several processes share. A waiting process takes the lock over if the owner
// is dead.
#pragma once

#include <cstdint>

namespace simgpu {

// A Coroner tells whether the process that holds a lock is gone. It is asked after a long wait only.
class Coroner {
 public:
  virtual bool IsDead(std::uint32_t token) = 0;

 protected:
  ~Coroner() = default;
};

// Takes *word for `token`; blocks until it has it. Returns true if the lock was taken over from a dead
// owner, whose change may be half done.
bool LockShared(std::uint32_t* word, std::uint32_t token, Coroner* coroner);
// Releases *word and wakes one waiting thread. REQUIRES: the caller holds it.
void UnlockShared(std::uint32_t* word);

}  // namespace simgpu
