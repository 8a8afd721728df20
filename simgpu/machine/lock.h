// A lock in memory that several processes share, with an owner that can be found dead.
#pragma once

#include <cstdint>

namespace simgpu {

// Asked of the token that holds a lock for suspiciously long: true when that process is gone.
class Coroner {
 public:
  virtual bool IsDead(std::uint32_t token) = 0;

 protected:
  ~Coroner() = default;
};

// Takes *word for `token`. True when it was taken over from a dead owner, whose change may be half done.
bool LockShared(std::uint32_t* word, std::uint32_t token, Coroner* coroner);
void UnlockShared(std::uint32_t* word);

}  // namespace simgpu
