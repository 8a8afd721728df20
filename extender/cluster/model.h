// Names what the extender keeps of a cluster's objects. Most of it is read by common/api.
//
// They are plain values, read from what the API server says. No code relies on two objects agreeing with each
// other: each comes by a watch of its own. Instants are seconds since 1970, memory is in bytes.
#pragma once

#include <string>

#include "common/api/gpu_node.h"
#include "common/api/job_profile.h"
#include "common/api/node.h"
#include "common/api/pod.h"
#include "common/kube/label_selector.h"
#include "extender/cluster/communication.h"

namespace crossover::extender {

using api::Container;
using api::GpuNode;
using api::JobProfile;
using api::kMostGains;
using api::kMostMeetings;
using api::kMostRuns;
using api::Labels;
using api::Node;
using api::Owner;
using api::Pod;
using api::Scheduled;
using api::Shm;
using api::Taint;
using api::Toleration;

// Resources are what a pod asks for, or what a node has. GPU slots are among `others`.
using Resources = kube::Requests;

// A Budget is a PodDisruptionBudget: it limits how many of the pods that it selects may be evicted.
struct Budget {
  std::string name_space, name;
  kube::LabelSelector selector;
  int allowed = 0;  // pods that may be evicted now (status.disruptionsAllowed)

  friend bool operator==(const Budget&, const Budget&) = default;
};

}  // namespace crossover::extender
