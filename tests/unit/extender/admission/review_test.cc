#include "extender/admission/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "extender/admission/base64.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string Sample() {
  std::ifstream file(ADMISSION_SAMPLES "/create_pod.json");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string FaultOf(const std::string& body) {
  const auto parsed = ParseReview(body);
  const auto* fault = std::get_if<std::string>(&parsed);
  return fault != nullptr ? *fault : "";
}

TEST(ReviewTest, WhatAnApiServerSent) {
  const auto parsed = ParseReview(Sample());
  ASSERT_TRUE(std::holds_alternative<Review>(parsed));
  const Review& review = std::get<Review>(parsed);
  EXPECT_EQ(review.uid, "36c72ea1-c9df-46ab-9daa-6988690ef7f4");
  EXPECT_EQ(review.operation, "CREATE");
  EXPECT_EQ(review.resource, "pods");
  EXPECT_EQ(review.name_space, "default");
  EXPECT_EQ(review.user, "admin");
  EXPECT_FALSE(review.dry_run);
  EXPECT_EQ(review.object["metadata"]["generateName"], "train-");
  EXPECT_TRUE(review.old_object.is_null());
}

TEST(ReviewTest, ADryRunIsKnown) {
  json review = json::parse(Sample());
  review["request"]["dryRun"] = true;
  EXPECT_TRUE(std::get<Review>(ParseReview(review.dump())).dry_run);
  review["request"]["dryRun"] = "true";
  EXPECT_FALSE(std::get<Review>(ParseReview(review.dump())).dry_run);
}

TEST(ReviewTest, WhatIsNoReviewIsNamed) {
  EXPECT_EQ(FaultOf(""), "the review is no JSON");
  EXPECT_EQ(FaultOf("{"), "the review is no JSON");
  EXPECT_EQ(FaultOf("\"\xff\""), "the review is no JSON");
  EXPECT_THAT(FaultOf("[]"), HasSubstr("kind and apiVersion"));
  EXPECT_THAT(FaultOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1"})"),
              HasSubstr("expected AdmissionReview of admission.k8s.io/v1, got \"AdmissionReview\" of "
                        "\"admission.k8s.io/v1beta1\""));
  EXPECT_THAT(FaultOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"), HasSubstr("uid"));
  EXPECT_THAT(FaultOf(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":3}})"),
              HasSubstr("uid"));
}

TEST(ReviewTest, SizeAndDepthHaveBounds) {
  EXPECT_THAT(FaultOf(std::string(kMostBytes + 1, ' ')), HasSubstr("8388608"));
  for (const char* open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) deep += open;
    EXPECT_THAT(FaultOf(deep), HasSubstr("deeper than 100"));
  }
  json review = json::parse(Sample());
  json nested = 1;
  for (int i = 0; i < kDeepest - 3; ++i) nested = json::array({nested});
  review["request"]["object"] = nested;
  EXPECT_EQ(FaultOf(review.dump()), "");
  review["request"]["object"] = json::array({json::array({nested})});
  EXPECT_THAT(FaultOf(review.dump()), HasSubstr("deeper"));
}

TEST(AnswerTest, PatchAndItsTypeComeTogetherOrNotAtAll) {
  Verdict verdict;
  EXPECT_EQ(json::parse(AnswerTo("u", verdict)), json::parse(R"({"apiVersion":"admission.k8s.io/v1",
    "kind":"AdmissionReview","response":{"uid":"u","allowed":true}})"));
  verdict.patch = json::array({{{"op", "add"}, {"path", "/a"}, {"value", "ü"}}});
  json response = json::parse(AnswerTo("u", verdict))["response"];
  EXPECT_EQ(response["patchType"], "JSONPatch");
  EXPECT_EQ(json::parse(*BytesOf(response["patch"].get<std::string>())), verdict.patch);
  verdict.allowed = false;
  verdict.refusal = "no";
  response = json::parse(AnswerTo("u", verdict))["response"];
  EXPECT_EQ(response, json::parse(R"({"uid":"u","allowed":false,"status":{"code":403,"message":"no"}})"));
}

TEST(AnswerTest, WarningsAreCutBetweenLetters) {
  Verdict verdict;
  verdict.warnings = {std::string(120, 'x'), std::string(121, 'x'), std::string(117, 'x') + "üü", "\xff"};
  const json warnings = json::parse(AnswerTo("u", verdict))["response"]["warnings"];
  EXPECT_EQ(warnings[0], std::string(120, 'x'));
  EXPECT_EQ(warnings[1], std::string(118, 'x') + "..");
  EXPECT_EQ(warnings[2], std::string(117, 'x') + "..");
}

TEST(Base64Test, ThereAndBack) {
  for (const std::string& bytes : {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
                                   std::string("a\0\0", 3), std::string("\0", 1)})
    EXPECT_EQ(BytesOf(Base64Of(bytes)), bytes);
  EXPECT_EQ(Base64Of("abcd"), "YWJjZA==");
  EXPECT_EQ(BytesOf("YWJ"), std::nullopt);
  EXPECT_EQ(BytesOf("YW!j"), std::nullopt);
}

}  // namespace
}  // namespace crossover::extender::admission
