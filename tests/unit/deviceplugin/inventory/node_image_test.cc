#include "deviceplugin/inventory/node_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::StartsWith;

TEST(NodeImageTest, ImagesWithABuiltInPluginAreRecognised) {
  const std::map<std::string, std::string> none, auto_mode = {{"eks.amazonaws.com/compute-type", "auto"}},
                                                 gke = {{"cloud.google.com/gke-accelerator", "nvidia-l4"}};
  struct Case {
    const char* os_image;
    const std::map<std::string, std::string>& labels;
    NodeImage image;
  };
  const Case cases[] = {
      {"Bottlerocket OS 1.39.1 (aws-k8s-1.31-nvidia)", none, NodeImage::kBottlerocket},
      {"Bottlerocket (EKS Auto, Nvidia) 2025.8.6 (aws-k8s-1.33-nvidia)", none, NodeImage::kEksAuto},
      {"Bottlerocket OS 1.39.1", auto_mode, NodeImage::kEksAuto},
      {"", auto_mode, NodeImage::kEksAuto},
      {"Container-Optimized OS from Google", gke, NodeImage::kGkeCos},
      {"Container-Optimized OS from Google", none, NodeImage::kOther},
      {"Ubuntu 24.04.1 LTS", gke, NodeImage::kOther},
      {"Amazon Linux 2023", none, NodeImage::kOther},
      {"An image on Bottlerocket", none, NodeImage::kOther},
      {"", none, NodeImage::kOther},
  };
  for (const Case& one : cases) EXPECT_EQ(ImageOf(one.os_image, one.labels), one.image) << one.os_image;
}

TEST(NodeImageTest, WhatCanBeDoneFollowsFromWhoRunsThePlugin) {
  const std::map<std::string, std::string> none, gke = {{"cloud.google.com/gke-accelerator", "nvidia-l4"}};
  EXPECT_THAT(RemedyFor("Bottlerocket OS 1.39.1", none), StartsWith("; Bottlerocket runs this plugin: "));
  EXPECT_THAT(RemedyFor("Bottlerocket (EKS Auto, Nvidia)", none),
              StartsWith("; EKS Auto Mode runs this plugin, and "));
  EXPECT_THAT(RemedyFor("Container-Optimized OS from Google", gke), StartsWith("; GKE runs this plugin: "));
  EXPECT_EQ(RemedyFor("Ubuntu 24.04.1 LTS", none), "");
  const char* label = "nvidia.com/gpu.deploy.device-plugin";
  EXPECT_EQ(RemedyFor("Ubuntu 24.04.1 LTS", {{label, "false"}}), "");
  EXPECT_THAT(RemedyFor("Ubuntu 24.04.1 LTS", {{label, "true"}}),
              StartsWith("; the GPU Operator runs this plugin because of the label "
                         "nvidia.com/gpu.deploy.device-plugin=true: "));
}

}  // namespace
}  // namespace crossover::deviceplugin
