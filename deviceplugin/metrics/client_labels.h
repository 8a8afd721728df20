// Makes the labels of the series of one client.
#pragma once

#include "common/metrics/families.h"
#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {

// Returns the labels of a client. They include `namespace` and `pod` only if the client has a pod.
inline metrics::Labels LabelsOf(const arbiter::Member& member) {
  metrics::Labels labels = {{"gpu_uuid", member.gpu->uuid}, {"gang", member.gang}};
  if (!member.pod.empty()) {
    labels.push_back({"namespace", member.name_space});
    labels.push_back({"pod", member.pod});
  }
  return labels;
}

}  // namespace crossover::deviceplugin
