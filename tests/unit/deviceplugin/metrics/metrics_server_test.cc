#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <atomic>

#include "common/metrics/families.h"
#include "deviceplugin/metrics/server.h"
#include "tests/http_get.h"

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class One : public prometheus::Collectable {
 public:
  explicit One(std::string name) : name_(std::move(name)) {}
  std::vector<prometheus::MetricFamily> Collect() const override {
    auto family = metrics::Family(name_, "Help.", prometheus::MetricType::Gauge);
    metrics::AddGauge(&family, {{"label", "a \"b\""}}, 2);
    return {family};
  }

 private:
  const std::string name_;
};

class MetricsServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ =
        MetricsServer::Start("127.0.0.1:0",
                             {.metrics = {std::make_shared<One>("first"), std::make_shared<One>("second")},
                              .alive = [this] { return alive_.load(); },
                              .missing =
                                  [this] {
                                    return ready_ ? std::vector<std::string>()
                                                  : std::vector<std::string>{"no kubelet", "no API server"};
                                  },
                              .access = [this](const std::string&) { return status_.load(); }},
                             &error_);
    ASSERT_NE(server_, nullptr) << error_;
  }
  std::string Get(const std::string& path) const { return test::HttpGet(server_->port(), path); }

  std::string error_;
  std::atomic<bool> alive_{true}, ready_{true};
  std::atomic<int> status_{200};
  std::unique_ptr<MetricsServer> server_;
};

TEST_F(MetricsServerTest, AllMetricsOnOnePage) {
  const std::string page = Get("/metrics");
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(page, HasSubstr("first{label=\"a \\\"b\\\"\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("# TYPE second gauge\n"));
}

TEST_F(MetricsServerTest, HealthIsWhetherItKeepsTurns) {
  EXPECT_THAT(Get("/healthz"), StartsWith("HTTP/1.1 200 OK"));
  alive_ = false;
  EXPECT_THAT(Get("/healthz"), StartsWith("HTTP/1.1 503 "));
}

TEST_F(MetricsServerTest, ReadinessNamesWhatIsMissing) {
  EXPECT_THAT(Get("/readyz"), HasSubstr("\r\n\r\nok\n"));
  ready_ = false;
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(Get("/readyz"), HasSubstr("no kubelet\nno API server\n"));
}

TEST_F(MetricsServerTest, MetricsAreForThoseWhoMay) {
  for (const auto& [status, line] : {std::pair{401, "HTTP/1.1 401 Unauthorized\r\n"},
                                     {403, "HTTP/1.1 403 Forbidden\r\n"},
                                     {503, "HTTP/1.1 503 Service Unavailable\r\n"}}) {
    status_ = status;
    const std::string page = Get("/metrics");
    EXPECT_THAT(page, StartsWith(line));
    EXPECT_THAT(page, Not(HasSubstr("first")));
    EXPECT_THAT(Get("/healthz"), StartsWith("HTTP/1.1 200 OK")) << "health is for everybody";
    EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 200 OK"));
  }
}

TEST_F(MetricsServerTest, NothingElseIsThere) {
  for (const char* path : {"/", "/metrics/x", "/../etc/passwd", "/healthzz"}) {
    EXPECT_THAT(Get(path), HasSubstr(" 404 Not Found\r\n")) << path;
  }
}

TEST_F(MetricsServerTest, AllAddressesAreThoseOfBothFamilies) {
  const auto of_ipv4 = MetricsServer::Start("0.0.0.0:0", {}, &error_);
  ASSERT_NE(of_ipv4, nullptr) << error_;
  EXPECT_EQ(test::HttpGet(of_ipv4->port(), "/", true), "no connection") << "the control";
  const auto all = MetricsServer::Start("[::]:0", {}, &error_);
  ASSERT_NE(all, nullptr) << error_;
  for (const bool by_ipv6 : {false, true})
    EXPECT_THAT(test::HttpGet(all->port(), "/", by_ipv6), HasSubstr(" 404 Not Found\r\n"));
  EXPECT_EQ(MetricsServer::Start("[::]:" + std::to_string(all->port()), {}, &error_), nullptr);
  EXPECT_THAT(error_, HasSubstr(": cannot listen there"));
}

TEST_F(MetricsServerTest, APortThatIsTakenIsAnError) {
  const std::string taken = "127.0.0.1:" + std::to_string(server_->port());
  EXPECT_EQ(MetricsServer::Start(taken, {}, &error_), nullptr);
  EXPECT_THAT(error_, HasSubstr("metrics.listen: " + taken));
}

}  // namespace
}  // namespace crossover::deviceplugin
