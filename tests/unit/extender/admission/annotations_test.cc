#include "extender/admission/annotations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/extender/admission/made_pod.h"

namespace crossover::extender::admission {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string Refusal(const json& annotations, const json& labels = json::object()) {
  json pod = MadePod(annotations);
  pod["metadata"]["labels"] = labels;
  return RefusalOf(pod).value_or("");
}

TEST(AnnotationsTest, WhatIsAllowedPasses) {
  EXPECT_EQ(Refusal(json::object()), "");
  EXPECT_EQ(Refusal({{"other.dev/gangs", "x"}, {"crossover.devil/x", "y"}}, {{"app", "a"}}), "");
  EXPECT_EQ(Refusal({{"crossover.dev/share", "true"},
                     {"crossover.dev/gang", "a"},
                     {"crossover.dev/gang-size", "8"},
                     {"crossover.dev/gpu-memory", "20Gi"},
                     {"crossover.dev/profile-key", "llama"},
                     {"crossover.dev/turn-priority", "high"},
                     {"crossover.dev/max-slowdown", "1.5"},
                     {"crossover.dev/share-with", "cluster"},
                     {"crossover.dev/mode", "observe"}}),
            "");
  EXPECT_EQ(RefusalOf(json(3)), std::nullopt);
}

TEST(AnnotationsTest, ValuesThatAreNotAllowedAreNamed) {
  EXPECT_EQ(Refusal({{"crossover.dev/gang-size", "many"}}),
            "crossover.dev/gang-size: expected a number of pods from 1 to 1000000, got many");
}

TEST(AnnotationsTest, UnknownKeysAreRefusedWithTheNearest) {
  EXPECT_EQ(Refusal({{"crossover.dev/gangsize", "8"}}),
            "crossover.dev/gangsize: there is no such annotation; crossover.dev/gang-size is the nearest");
}

TEST(AnnotationsTest, WhatCrossoverWritesIsRefused) {
  for (const char* key : {"status-gain", "assignment", "reservation", "admitted", "requeue"})
    EXPECT_THAT(Refusal({{std::string("crossover.dev/") + key, "x"}}), HasSubstr("only Crossover writes"))
        << key;
  for (const char* key : {"maintenance", "configuration"})
    EXPECT_THAT(Refusal({{std::string("crossover.dev/") + key, "true"}}), HasSubstr("belongs on a node"));
}

TEST(AnnotationsTest, LabelsAreNotAnnotations) {
  EXPECT_EQ(Refusal(json::object(), {{"crossover.dev/gang", "a"}}),
            "crossover.dev/gang: expected an annotation, got a label with the value a");
  EXPECT_EQ(Refusal(json::object(), {{"crossover.dev/size", "8"}}),
            "crossover.dev/size: there is no such label");
  EXPECT_EQ(Refusal(json::object(), {{"crossover.dev/configuration", "a"}}),
            "crossover.dev/configuration: expected no such label, because it belongs on a node, got a");
  EXPECT_THAT(Refusal(json::object(), {{"crossover.dev/managed", "true"}}), HasSubstr("only Crossover sets"));
  EXPECT_EQ(Refusal({{"crossover.dev/share", "true"}}, {{"crossover.dev/managed", "true"}}), "");
}

TEST(AnnotationsTest, AMarkIsNoRefusalAlsoWhereAnotherWebhookAddedAnAnnotationSince) {
  const annotations::Annotations ours = {{"crossover.dev/share", "true"}};
  const std::string mark = AdmittedMark("team", ours);
  EXPECT_EQ(Refusal({{"crossover.dev/share", "true"}, {"crossover.dev/admitted", mark}}), "");
  EXPECT_EQ(Refusal({{"crossover.dev/share", "true"},
                     {"crossover.dev/max-slowdown", "1.5"},
                     {"crossover.dev/admitted", mark}}),
            "");
  EXPECT_NE(AdmittedMark("other", ours), mark);
  for (const char* none : {"", "true", "0123456789ABCDEF", "0123456789abcdef0"})
    EXPECT_NE(Refusal({{"crossover.dev/share", "true"}, {"crossover.dev/admitted", none}}), "") << none;
}

}  // namespace
}  // namespace crossover::extender::admission
