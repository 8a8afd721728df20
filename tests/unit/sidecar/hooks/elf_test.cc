#include "sidecar/hooks/elf.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace crossover::hooks {
namespace {

// Runs `look` on the first loaded object whose name contains `name`. Returns false if there is none.
bool WithObject(const char* name, const std::function<void(const dl_phdr_info&)>& look) {
  struct Search {
    const char* name;
    const std::function<void(const dl_phdr_info&)>* look;
  } search{name, &look};
  return dl_iterate_phdr(
             [](dl_phdr_info* info, std::size_t, void* argument) {
               const auto* wanted = static_cast<Search*>(argument);
               if (strstr(info->dlpi_name, wanted->name) == nullptr) return 0;
               (*wanted->look)(*info);
               return 1;
             },
             &search) != 0;
}

TEST(ElfTest, FindsWhatTheLoaderFinds) {
  void* handle = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  const auto look = [handle](const dl_phdr_info& object) {
    for (const char* name : {"abort", "getppid", "qsort", "write", "dl_iterate_phdr"}) {
      EXPECT_EQ(FindInObject(object, name), dlsym(handle, name)) << name;
    }
  };
  EXPECT_TRUE(WithObject("libc.so.6", look));
  dlclose(handle);
}

TEST(ElfTest, WhatIsNotThereIsNotFound) {
  const auto look = [](const dl_phdr_info& object) {
    for (const char* name : {"", "crossover_no_such_name", "getppi", "getppidd"}) {
      EXPECT_EQ(FindInObject(object, name), nullptr) << name;
    }
    EXPECT_EQ(FindInObject(object, "environ"), nullptr) << "no function";
  };
  EXPECT_TRUE(WithObject("libc.so.6", look));
}

TEST(ElfTest, TheKernelsOwnObjectIsReadToo) {
  WithObject("vdso", [](const dl_phdr_info& object) {
    EXPECT_NE(FindInObject(object, "__vdso_clock_gettime"), nullptr);
    EXPECT_EQ(FindInObject(object, "dlsym"), nullptr);
  });
}

TEST(ElfTest, AnObjectWithoutTablesHasNothing) {
  const dl_phdr_info nothing{};
  EXPECT_EQ(FindInObject(nothing, "abort"), nullptr);
}

}  // namespace
}  // namespace crossover::hooks
