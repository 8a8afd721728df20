// Tests which of several drivers is searched, in a process that opens them itself.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "sidecar/hooks/library.h"

namespace crossover::hooks {
namespace {

// The stub has its symbols in the table of older linkers alone.
TEST(DriversTest, AStubOfAnOldLinkerIsNotTakenForTheDriverAndTheDriverStays) {
  void* const stub = dlopen(OLD_STUB, RTLD_NOW);
  ASSERT_NE(stub, nullptr) << dlerror();
  EXPECT_FALSE(IsSearched(Library::kCuda, dlsym(stub, "cuCtxSynchronize")));
  void* const driver = dlopen(DRIVER, RTLD_NOW);
  ASSERT_NE(driver, nullptr) << dlerror();
  EXPECT_TRUE(IsSearched(Library::kCuda, dlsym(driver, "cuInit")));
  // Another file could come to lie at the address by which the driver is known.
  dlclose(driver);
  void* const again = dlopen(DRIVER, RTLD_NOW | RTLD_NOLOAD);
  EXPECT_NE(again, nullptr) << "it is unloaded";
}

}  // namespace
}  // namespace crossover::hooks
