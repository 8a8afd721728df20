#include "deviceplugin/inventory/node_image.h"

#include "common/base/foreign_keys.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kEksComputeType[] = "eks.amazonaws.com/compute-type";
constexpr char kGkeAccelerator[] = "cloud.google.com/gke-accelerator";

}  // namespace

NodeImage ImageOf(std::string_view os_image, const std::map<std::string, std::string>& labels) {
  const bool bottlerocket = os_image.starts_with("Bottlerocket");
  const auto type = labels.find(kEksComputeType);
  if (type != labels.end() && type->second == "auto") return NodeImage::kEksAuto;
  if (bottlerocket && os_image.find("EKS Auto") != std::string_view::npos) return NodeImage::kEksAuto;
  if (bottlerocket) return NodeImage::kBottlerocket;
  const bool cos = os_image.starts_with("Container-Optimized OS");
  return cos && labels.contains(kGkeAccelerator) ? NodeImage::kGkeCos : NodeImage::kOther;
}

std::string RemedyFor(std::string_view os_image, const std::map<std::string, std::string>& labels) {
  const auto label = labels.find(base::kOperatorPluginLabel);
  if (label != labels.end() && label->second == "true")
    return "; the GPU Operator runs this plugin because of the label " +
           std::string(base::kOperatorPluginLabel) + "=true: set node.gpu_operator to labels";
  switch (ImageOf(os_image, labels)) {
    case NodeImage::kBottlerocket:
      return "; Bottlerocket runs this plugin: set settings.kubelet-device-plugins.nvidia.enabled=false, or "
             "use an image without the plugin";
    case NodeImage::kEksAuto:
      return "; EKS Auto Mode runs this plugin, and does not let you switch it off: use a node group of your "
             "own";
    case NodeImage::kGkeCos:
      return "; GKE runs this plugin: make the node pool with the label "
             "gke-no-default-nvidia-gpu-device-plugin=true";
    case NodeImage::kOther:
      break;
  }
  return "";
}

}  // namespace crossover::deviceplugin
