// Holds pods as an API server sends them, and what each says. The extender, the node daemon and the CLI have
// a test that reads all of them, so that every program takes the same from a pod. Each broken twin is a
// golden object with one change, which an API server or the webhook never lets through.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "common/api/pod.h"

namespace crossover::api {

struct GoldenPod {
  const char* object;  // as JSON
  const char* name;    // with its namespace
  const char* node = "";
  const char* controller = "";  // kind/name
  std::size_t containers = 0;
  int slots = 0;
  Shm shm = Shm::kUsual;
  bool over = false;
  bool deleting = false;
  std::int64_t grace_s = 0;
  double created_s = 0;
  const char* gang = "";  // as the node daemon calls it
};

// A rank of a JobSet that runs, with a sidecar, a plain init container and a volume of its own at /dev/shm.
inline constexpr char kGoldenRank[] =
    R"({"metadata": {"name": "train-w-0-1-x7k2p", "namespace": "team", "uid": "u1", "resourceVersion": "7",
        "creationTimestamp": "2026-11-21T01:44:45Z",
        "labels": {"jobset.sigs.k8s.io/jobset-name": "train", "batch.kubernetes.io/job-name": "train-w-0",
                   "crossover.dev/managed": "true"},
        "annotations": {"crossover.dev/share": "true", "crossover.dev/gpu-memory": "40Gi", "other.dev/x": "y",
                        "crossover.dev/assignment": "{\"containers\": {\"main\": [\"GPU-a\", \"GPU-b\"]}}"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n"},
                            {"apiVersion": "batch/v1", "kind": "Job", "name": "train-w-0", "uid": "j",
                             "controller": true}]},
        "spec": {"nodeName": "n1", "schedulerName": "crossover-scheduler", "priority": 100,
                 "securityContext": {"runAsUser": 1000},
                 "initContainers": [
                   {"name": "log", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}},
                   {"name": "warm", "resources": {"limits": {"crossover.dev/slot": "2"},
                                                  "requests": {"crossover.dev/slot": "2"}}}],
                 "containers": [
                   {"name": "main", "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],
                    "resources": {"limits": {"crossover.dev/slot": "2"},
                                  "requests": {"crossover.dev/slot": "2", "cpu": "4", "memory": "8Gi"}}},
                   {"name": "side"}]},
        "status": {"phase": "Running"}})";

inline constexpr std::array<GoldenPod, 9> kGoldenPods = {{
    {.object = kGoldenRank,
     .name = "team/train-w-0-1-x7k2p",
     .node = "n1",
     .controller = "Job/train-w-0",
     .containers = 4,
     .slots = 2,
     .shm = Shm::kOwn,
     .created_s = 1795225485,
     .gang = "team/train"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p"}})", .name = "n/p", .gang = "n/p"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p",
          "annotations": {"crossover.dev/gang": "big"}, "labels": {"job-name": "small"}}})",
     .name = "n/p",
     .gang = "n/big"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p",
          "labels": {"leaderworkerset.sigs.k8s.io/name": "lws", "leaderworkerset.sigs.k8s.io/group-index": "3"}}})",
     .name = "n/p",
     .gang = "n/lws-3"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p",
          "deletionTimestamp": "2026-11-21T01:44:45Z", "deletionGracePeriodSeconds": 30}})",
     .name = "n/p",
     .deleting = true,
     .grace_s = 30,
     .gang = "n/p"},
    {.object =
         R"({"metadata": {"uid": "u", "namespace": "n", "name": "p"}, "status": {"phase": "Succeeded"}})",
     .name = "n/p",
     .over = true,
     .gang = "n/p"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p"}, "status": {"phase": "Failed"}})",
     .name = "n/p",
     .over = true,
     .gang = "n/p"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p"}, "spec": {"containers": [
          {"name": "a", "volumeMounts": [{"mountPath": "/run/crossover-shm"}],
           "resources": {"limits": {"crossover.dev/slot": 1}}}]}})",
     .name = "n/p",
     .containers = 1,
     .slots = 1,
     .shm = Shm::kMoved,
     .gang = "n/p"},
    {.object = R"({"metadata": {"uid": "u", "namespace": "n", "name": "p", "ownerReferences": [
          {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "s", "controller": true}]},
          "spec": {"containers": [{"name": "a", "volumeMounts": [{"mountPath": "/dev/shm"}]}]}})",
     .name = "n/p",
     .controller = "StatefulSet/web",
     .containers = 1,
     .gang = "n/p"},
}};

// A BrokenPod is kGoldenRank after an RFC 7386 merge patch.
struct BrokenPod {
  const char* patch;
  bool is_pod = true;  // whether it still names an object
  std::size_t containers = 4;
  int slots = 2;
  Shm shm = Shm::kOwn;
  const char* controller = "Job/train-w-0";
  bool deleting = false;
  std::int64_t grace_s = 0;
  double created_s = 1795225485;
  const char* gang = "team/train";
};

inline constexpr std::array<BrokenPod, 17> kBrokenPods = {{
    {.patch = R"({"metadata": null})", .is_pod = false},
    {.patch = R"({"metadata": {"uid": 3}})", .is_pod = false},
    {.patch = R"({"metadata": {"name": ""}})", .is_pod = false},
    {.patch = R"({"metadata": {"namespace": ["team"]}})", .is_pod = false},
    {.patch = R"({"metadata": {"labels": "train"}})", .gang = "team/train-w-0-1-x7k2p"},
    {.patch = R"({"metadata": {"labels": {"jobset.sigs.k8s.io/jobset-name": 7}}})", .gang = "team/train-w-0"},
    {.patch = R"({"metadata": {"annotations": ["crossover.dev/gang"]}})"},
    {.patch = R"({"metadata": {"creationTimestamp": "yesterday"}})", .created_s = 0},
    {.patch = R"({"metadata": {"deletionTimestamp": 5, "deletionGracePeriodSeconds": 30}})"},
    {.patch = R"({"metadata": {"deletionTimestamp": "2026-11-21T01:44:45Z",
                               "deletionGracePeriodSeconds": "30"}})",
     .deleting = true},
    {.patch = R"({"metadata": {"deletionTimestamp": "2026-11-21T01:44:45Z",
                               "deletionGracePeriodSeconds": -1}})",
     .deleting = true},
    {.patch = R"({"metadata": {"ownerReferences": {"controller": true}}})", .controller = ""},
    {.patch = R"({"metadata": {"ownerReferences": [3, null, {"name": "x", "controller": "true"}]}})",
     .controller = ""},
    {.patch = R"({"spec": 3})", .containers = 0, .slots = 0, .shm = Shm::kUsual},
    {.patch = R"({"spec": {"containers": {"name": "main"}}})", .containers = 2, .shm = Shm::kUsual},
    {.patch = R"({"spec": {"containers": [3], "initContainers": "x"}})",
     .containers = 1,
     .slots = 0,
     .shm = Shm::kUsual},
    {.patch = R"({"status": {"phase": ["Failed"]}})"},
}};

// Returns the broken twin as an object.
inline nlohmann::json Broken(const BrokenPod& twin) {
  nlohmann::json object = nlohmann::json::parse(kGoldenRank);
  object.merge_patch(nlohmann::json::parse(twin.patch));
  return object;
}

}  // namespace crossover::api
