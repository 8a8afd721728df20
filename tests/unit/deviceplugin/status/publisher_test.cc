#include "deviceplugin/status/publisher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>

#include "tests/unit/common/kube/server.h"

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;

TEST(PublisherTest, ToldIsEachPublisherWhoseObjectTheServerTook) {
  kube::Server server;
  std::promise<std::string> published;
  std::atomic<int> looks{0};
  std::once_flag once;
  server.Answer(200, "{}");
  const Publisher publisher(
      {.server = server.url(), .ca_file = "", .token_file = ""},
      [&]() -> std::optional<GpuNode> {
        ++looks;
        GpuNode node;
        node.name = "n1";
        return node;
      },
      [&] { std::call_once(once, [&] { published.set_value("yes"); }); });
  const std::string request = server.AwaitRequest(0);
  EXPECT_THAT(request, HasSubstr("PATCH /apis/crossover.dev/v1alpha1/gpunodes/n1?"));
  EXPECT_EQ(published.get_future().get(), "yes");
  EXPECT_EQ(publisher.failures(), 0u);
  EXPECT_GE(looks, 1);
}

}  // namespace
}  // namespace crossover::deviceplugin
