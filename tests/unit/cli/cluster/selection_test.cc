#include "cli/cluster/selection.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::cli {
namespace {

using nlohmann::json;

const json kNode = {{"metadata", {{"labels", {{"pool", "training"}, {"gpu", ""}}}}}};

json Required(const json& terms) {
  return {{"spec",
           {{"affinity",
             {{"nodeAffinity",
               {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}}}}}};
}

json Term(const char* key, const char* how, const json& values = json::array()) {
  json expression = {{"key", key}, {"operator", how}};
  if (!values.empty()) expression["values"] = values;
  return {{"matchExpressions", json::array({expression})}};
}

TEST(SelectionTest, ANodeHasAllThatTheSelectorNames) {
  const auto with = [](const json& selector) { return json{{"spec", {{"nodeSelector", selector}}}}; };
  EXPECT_TRUE(MayBeOn(json::object(), kNode)) << "it names nothing";
  EXPECT_TRUE(MayBeOn(with({{"pool", "training"}, {"gpu", ""}}), kNode));
  EXPECT_FALSE(MayBeOn(with({{"pool", "training"}, {"gpu", "true"}}), kNode));
  EXPECT_FALSE(MayBeOn(with({{"other", ""}}), kNode));
}

TEST(SelectionTest, OperatorsAreKubernetesOwn) {
  struct Case {
    json term;
    bool lets_in;
  };
  const json mine = {"other", "training"}, others = {"other"};
  for (const Case& one : {Case{Term("pool", "In", mine), true}, Case{Term("pool", "In", others), false},
                          Case{Term("none", "In", mine), false}, Case{Term("pool", "NotIn", mine), false},
                          Case{Term("pool", "NotIn", others), true}, Case{Term("none", "NotIn", mine), true},
                          Case{Term("gpu", "Exists"), true}, Case{Term("none", "Exists"), false},
                          Case{Term("gpu", "DoesNotExist"), false}, Case{Term("none", "DoesNotExist"), true}})
    EXPECT_EQ(MayBeOn(Required(json::array({one.term})), kNode), one.lets_in) << one.term;
}

TEST(SelectionTest, OfTermsOneIsEnoughOfExpressionsNone) {
  const json yes = Term("gpu", "Exists"), no = Term("none", "Exists");
  EXPECT_TRUE(MayBeOn(Required(json::array({no, yes})), kNode));
  json both = yes;
  both["matchExpressions"].push_back(no["matchExpressions"][0]);
  EXPECT_FALSE(MayBeOn(Required(json::array({both})), kNode));
  EXPECT_FALSE(MayBeOn(Required(json::array({json::object()})), kNode)) << "a term that says nothing";
  json selected = Required(json::array({yes}));
  selected["spec"]["nodeSelector"] = {{"pool", "inference"}};
  EXPECT_FALSE(MayBeOn(selected, kNode)) << "both count";
}

TEST(SelectionTest, WhatIsNotLookedAtExcludesNothing) {
  EXPECT_TRUE(MayBeOn(Required(json::array({Term("pool", "Gt", {"5"})})), kNode));
  const json fields = {{"matchFields", json::array({{{"key", "metadata.name"}, {"operator", "In"}}})}};
  EXPECT_TRUE(MayBeOn(Required(json::array({fields})), kNode));
}

TEST(SelectionTest, ObjectsMayBeAnything) {
  for (const json& junk : {json(7), json("x"), json::array({1, json::array()}), json()}) {
    MayBeOn(junk, kNode);
    MayBeOn({{"spec", {{"nodeSelector", junk}, {"affinity", junk}}}}, junk);
    MayBeOn(Required(junk), junk);
    MayBeOn(Required(json::array({junk, {{"matchExpressions", junk}}})), kNode);
  }
}

}  // namespace
}  // namespace crossover::cli
