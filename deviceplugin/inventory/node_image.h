// Recognises who runs NVIDIA's device plugin on a node: the node's image, which has it built in, or the GPU
// Operator. Says how to switch it off there. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace crossover::deviceplugin {

enum class NodeImage : std::uint8_t {
  kOther,         // any image without a built-in plugin, or one that is not known
  kBottlerocket,  // the variants for NVIDIA's GPUs run the plugin as a service of the system
  kEksAuto,       // EKS Auto Mode runs Bottlerocket, and its settings cannot be changed
  kGkeCos         // GKE runs its own plugin as a DaemonSet on nodes with the label gke-accelerator
};

// Returns the image of a node. `os_image` is what the kubelet says of its system, such as "Bottlerocket OS
// 1.39.1 (aws-k8s-1.31-nvidia)". `labels` are those of the Node object.
NodeImage ImageOf(std::string_view os_image, const std::map<std::string, std::string>& labels);

// Returns what an administrator can do so that no other plugin gives out GPUs on that node, as the end of a
// sentence that says that one does. Returns an empty string if nothing is known of that plugin.
std::string RemedyFor(std::string_view os_image, const std::map<std::string, std::string>& labels);

}  // namespace crossover::deviceplugin
