#include "extender/admission/kube_certificates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/common/kube/server.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class KubeCertificatesTest : public ::testing::Test {
 protected:
  json BodyOf(std::size_t number) {
    const std::string request = server_.AwaitRequest(number);
    return json::parse(request.substr(request.find("\r\n\r\n") + 4));
  }

  kube::Server server_;
  KubeCertificates objects_{{.server = server_.url(), .ca_file = "", .token_file = ""},
                            {.name_space = "space", .secret = "secret", .configuration = "hook"}};
};

TEST_F(KubeCertificatesTest, ASecretThatIsThereIsChangedOverTheVersionThatWasRead) {
  server_.Answer(
      200, R"({"metadata": {"resourceVersion": "7"}, "data": {"tls.crt": "YQ==", "odd": 3, "bad": "!"}})");
  const auto secret = objects_.ReadSecret();
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->version, "7");
  EXPECT_EQ(secret->data, (std::map<std::string, std::string>{{"bad", ""}, {"odd", ""}, {"tls.crt", "a"}}));
  EXPECT_THAT(server_.AwaitRequest(0), StartsWith("GET /api/v1/namespaces/space/secrets/secret "));
  server_.Answer(200, "{}");
  EXPECT_TRUE(objects_.WriteSecret({"7", {{"tls.crt", "b"}}}));
  EXPECT_THAT(server_.AwaitRequest(1), StartsWith("PATCH /api/v1/namespaces/space/secrets/secret "));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("application/merge-patch+json"));
  EXPECT_EQ(BodyOf(1), json::parse(R"({"metadata": {"resourceVersion": "7"}, "data": {"tls.crt": "Yg=="}})"));
  server_.Answer(409, "{}");
  EXPECT_FALSE(objects_.WriteSecret({"7", {}})) << "another writer was faster";
}

TEST_F(KubeCertificatesTest, ASecretThatIsNotThereIsMade) {
  server_.Answer(404, "{}");
  const auto secret = objects_.ReadSecret();
  ASSERT_TRUE(secret);
  EXPECT_EQ(secret->version, "");
  server_.Answer(201, "{}");
  EXPECT_TRUE(objects_.WriteSecret({"", {{"tls.crt", "b"}}}));
  EXPECT_THAT(server_.AwaitRequest(1), StartsWith("POST /api/v1/namespaces/space/secrets "));
  EXPECT_EQ(BodyOf(1)["type"], "kubernetes.io/tls");
  EXPECT_EQ(BodyOf(1)["metadata"], json({{"name", "secret"}}));
}

TEST_F(KubeCertificatesTest, WhatCannotBeReadIsNothing) {
  for (const auto& [status, body] : {std::pair(500, "{}"), {200, "garbage"}, {200, "[]"}, {403, "{}"}}) {
    server_.Answer(status, body);
    EXPECT_FALSE(objects_.ReadSecret()) << status << body;
    server_.Answer(status, body);
    EXPECT_FALSE(objects_.ReadBundles()) << status << body;
    server_.Answer(status, body);
    EXPECT_FALSE(objects_.WriteBundles("x")) << status << body;
  }
  server_.Answer(404, "{}");
  EXPECT_FALSE(objects_.ReadBundles()) << "a configuration is not made";
}

TEST_F(KubeCertificatesTest, TheBundleOfEachWebhookIsSet) {
  const char* configuration = R"({"metadata": {"resourceVersion": "9"}, "webhooks": [
    {"name": "a", "clientConfig": {"caBundle": "YQ=="}}, {"name": "b", "clientConfig": {}}]})";
  server_.Answer(200, configuration);
  EXPECT_EQ(*objects_.ReadBundles(), (std::map<std::string, std::string>{{"a", "a"}, {"b", ""}}));
  server_.Answer(200, configuration);
  server_.Answer(200, "{}");
  EXPECT_TRUE(objects_.WriteBundles("c"));
  EXPECT_THAT(server_.AwaitRequest(2),
              StartsWith("PATCH /apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/hook "));
  EXPECT_EQ(BodyOf(2), json::parse(R"([
    {"op": "test", "path": "/metadata/resourceVersion", "value": "9"},
    {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": "Yw=="},
    {"op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": "Yw=="}])"));
}

}  // namespace
}  // namespace crossover::extender::admission
