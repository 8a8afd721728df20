#include "simgpu/cuda/module_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ModuleImageTest, ReadsKernels) {
  std::string error;
  const auto image = ParseModuleImage(
      "// simgpu 1\n"
      "\n"
      "// a comment\n"
      "kernel fixed ns=333000 sms=132\r\n"
      "kernel timed ns=arg sms=64\n"
      "kernel real ns=arg sms=8 args=8,8,4 fn=do_it\n"
      "kernel ring ns=0 sms=4 spin",
      &error);
  ASSERT_TRUE(image) << error;
  ASSERT_EQ(image->kernels.size(), 4u);
  EXPECT_EQ(image->kernels[0].name, "fixed");
  EXPECT_EQ(image->kernels[0].ns, 333000u);
  EXPECT_EQ(image->kernels[0].sms, 132);
  EXPECT_TRUE(image->kernels[0].argument_bytes.empty());
  EXPECT_TRUE(image->kernels[1].ns_is_argument);
  EXPECT_THAT(image->kernels[1].argument_bytes, ElementsAre(8));
  EXPECT_THAT(image->kernels[2].argument_bytes, ElementsAre(8, 8, 4));
  EXPECT_EQ(image->kernels[2].function, "do_it");
  EXPECT_TRUE(image->kernels[3].spin);
  EXPECT_THAT(image->kernels[3].argument_bytes, ElementsAre(8, 4));
}

TEST(ModuleImageTest, RefusesMalformedLines) {
  struct Case {
    const char* line;
    const char* complaint;
  };
  const Case cases[] = {
      {"function f ns=1", "line 2: a line is 'kernel NAME"},
      {"kernel", "the kernel has no name of 1 to 1024 printable characters"},
      {"kernel k sms=1", "ns= is missing"},
      {"kernel k ns=-1", "'ns=-1': ns is 'arg' or a whole number"},
      {"kernel k ns=9999999999999999999999", "ns is 'arg' or a whole number"},
      {"kernel k ns=1 sms=0", "sms is a whole number from 1 to 1024"},
      {"kernel k ns=1 args=8,", ""},
      {"kernel k ns=1 args=0", "args is a list of sizes"},
      {"kernel k ns=1 args=8;8", "args is a list of sizes"},
      {"kernel k ns=1 fn=", "fn is the name of a function"},
      {"kernel k ns=1 fast", "'fast': known words are"},
      {"kernel k ns=arg args=4", "ns=arg needs a first parameter of 8 bytes"},
      {"kernel k ns=arg spin", "takes its word, not ns"},
      {"kernel k ns=0 spin args=8", "spin needs first parameters"},
      {"kernel k ns=1\nkernel k ns=2", "line 3: kernel 'k' twice"},
  };
  for (const Case& one : cases) {
    std::string error;
    const auto image = ParseModuleImage(std::string("// simgpu 1\n") + one.line, &error);
    if (*one.complaint == '\0') {
      EXPECT_TRUE(image) << one.line;
    } else {
      EXPECT_FALSE(image) << one.line;
      EXPECT_THAT(error, HasSubstr(one.complaint)) << one.line;
    }
  }
}

TEST(ModuleImageTest, NeedsItsFirstLine) {
  std::string error;
  for (const char* text :
       {"", "kernel k ns=1", "// simgpu 2\nkernel k ns=1", "\n// simgpu 1\n", "// simgpu 10"}) {
    EXPECT_FALSE(ParseModuleImage(text, &error)) << text;
    EXPECT_EQ(error, "line 1: an image begins with '// simgpu 1'");
  }
  EXPECT_TRUE(LooksLikeImage("// simgpu 1\nnonsense"));
  EXPECT_FALSE(
      LooksLikeImage("\x7f"
                     "ELF"));
}

}  // namespace
}  // namespace simgpu
