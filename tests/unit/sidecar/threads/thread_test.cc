#include "sidecar/threads/thread.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>
#include <future>

namespace crossover::threads {
namespace {

// Returns the bytes of the calling thread's stack, 0 if they cannot be known.
std::size_t OwnStack() {
  pthread_attr_t attributes;
  std::size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  pthread_attr_getstacksize(&attributes, &bytes);
  pthread_attr_destroy(&attributes);
  return bytes;
}

// The driver runs on these threads, and a program may have hundreds of KiB of thread-local variables.
TEST(ThreadTest, HasAStackForTheDriver) {
  constexpr std::size_t kNeeded = 1000 * 1024;  // a C library may keep some pages of the MiB for itself
  static std::promise<std::size_t> stack;       // the thread is not joined
  std::future<std::size_t> bytes = stack.get_future();
  const auto tell = [](void* to) -> void* {
    static_cast<std::promise<std::size_t>*>(to)->set_value(OwnStack());
    return nullptr;
  };
  ASSERT_TRUE(StartThread(tell, &stack));
  EXPECT_GE(bytes.get(), kNeeded);
}

}  // namespace
}  // namespace crossover::threads
