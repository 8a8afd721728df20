// Holds GPUNodes, byte for byte as node daemons apply them, and what the first says. The writer makes its
// text of what it says, and the reader reads that of it. Each broken twin is a golden object with one change,
// which an API server or a daemon never writes.
#pragma once

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "common/api/gpu_node.h"

namespace crossover::api {

inline constexpr char kGoldenGpuNode[] =
    R"json({"apiVersion":"crossover.dev/v1alpha1","kind":"GPUNode","metadata":{"name":"n1","ownerReferences":[{)json"
    R"json("apiVersion":"v1","kind":"Node","name":"n1","uid":"u"}]},"status":{"configuration":"big","gpus":[{"h)json"
    R"json(ealthy":true,"holders":[{"container":"init","gang":"team/g","namespace":"team","pod":"p","slots":["G)json"
    R"json(PU-a::0","GPU-a::1"]},{"container":"main","gang":"team/g","namespace":"team","pod":"p","slots":["GPU)json"
    R"json(-a::0"]}],"memoryBytes":85899345920,"model":"NVIDIA H100","noTurns":"its mode is off","signals":{"cp)json"
    R"json(uSeconds":120.0,"deviceMemoryBytes":2097152,"deviceMemorySource":"exported","hostMemoryBytes":943718)json"
    R"json(4,"late":3,"signallers":2},"slots":2,"uuid":"GPU-a"},{"healthy":false,"holders":[],"memoryBytes":0,")json"
    R"json(model":"","reason":"Xid","slots":2,"uuid":"GPU-b","withheld":"Xid 79"},{"healthy":true,"holders":[],)json"
    R"json("memoryBytes":0,"model":"GB10","reason":"MemoryUnknown","signals":{"late":0,"signallers":0},"slots":)json"
    R"json(1,"uuid":"GPU-c"}],"healthyGPUs":2,"jobs":[{"beganAt":"2020-09-13T12:26:40Z","communication":[{"byte)json"
    R"json(s":64,"communicator":"0000000000000abc","function":"Send","peer":2,"pod":"p","rank":1,"size":4},{"by)json"
    R"json(tes":8,"communicator":"0000000000000abd","function":"AllReduce","pod":"p","rank":0,"size":2}],"compu)json"
    R"json(teSeconds":0.01235,"disturbedAt":"2022-04-15T05:20:00Z","ended":true,"exposedSeconds":0.0,"gang":"te)json"
    R"json(am/g","gangSize":4,"gpus":2,"iterations":500,"jitter":0.05,"measuredAt":"2023-11-14T22:13:20Z","meet)json"
    R"json(ings":[{"beside":[{"gang":"other/h","namespace":"other","profileKey":"l"}],"gain":1.312,"measuredAt")json"
    R"json(:"2023-11-14T22:13:20Z"}],"namespace":"team","peakMemoryBytes":12345678901,"profileKey":"k","ranks":)json"
    R"json([{"computeSeconds":0.01235,"gpu":"GPU-a","inputSeconds":0.009877,"pod":"p","rank":3,"waitSeconds":0.)json"
    R"json(002},{"computeSeconds":0.01,"gpu":"GPU-b","pod":"q","rank":0}],"source":"estimated","stepAloneSecond)json"
    R"json(s":0.02},{"beganAt":"2023-11-14T22:13:20Z","ended":false,"gang":"team/s","gpus":1,"iterations":0,"me)json"
    R"json(asuredAt":"2023-11-14T22:13:20Z","namespace":"team","profileKey":""}],"linkBytesPerSecond":250000000)json"
    R"json(00,"maintenance":true,"mode":"observe","modeLimitedBy":"the cluster","requested":{"memoryBytes":1048)json"
    R"json(576,"milliCPU":1500,"others":{"example.com/nic":1},"pods":3},"sharing":{"kind":"mps","multiUser":tru)json"
    R"json(e,"reason":"it runs","servedUser":1000},"slots":5,"usedSlots":2,"version":"1.2"}})json";

// Its daemon has just started.
inline constexpr char kGoldenYoungGpuNode[] =
    R"json({"apiVersion":"crossover.dev/v1alpha1","kind":"GPUNode","metadata":{"name":"n2"},"status":{"gpus":[])json"
    R"json(,"healthyGPUs":0,"jobs":[],"maintenance":false,"mode":"","requested":{"memoryBytes":0,"milliCPU":0,")json"
    R"json(pods":0},"slots":0,"usedSlots":0,"version":""}})json";

inline GpuNode::Job GoldenJob() {
  return {.name_space = "team",
          .gang = "team/g",
          .key = "k",
          .node = "n1",
          .gpus = 2,
          .compute_s = 0.01235,
          .exposed_s = 0,
          .step_alone_s = 0.02,
          .jitter = 0.05,
          .peak_memory = 12345678901,
          .source = "estimated",
          .iterations = 500,
          .began_s = 1.6e9,
          .at_s = 1.7e9,
          .disturbed_s = 1.65e9,
          .ended = true,
          .ranks = {{.pod = "p",
                     .compute_s = 0.01235,
                     .wait_s = 0.002,
                     .number = 3,
                     .input_s = 0.009877,
                     .gpu = "GPU-a",
                     .model = "NVIDIA H100"},
                    {.pod = "q", .compute_s = 0.01, .wait_s = 0, .number = 0, .gpu = "GPU-b"}},
          .communication = {{"p", 0xabc, 4, 1, NcclFunction::kSend, 2, 64},
                            {"p", 0xabd, 2, 0, NcclFunction::kAllReduce, std::nullopt, 8}},
          .meetings = {{.beside = {{"other", "other/h", "l"}}, .gain = 1.312, .at_s = 1.7e9}},
          .gang_size = 4};
}

// Returns what kGoldenGpuNode says.
inline GpuNode GoldenGpuNode() {
  GpuNode node{
      .name = "n1",
      .mode = "observe",
      .maintenance = true,
      .sharing = "mps",
      .multi_user = true,
      .link_bytes_per_s = 25e9,
      .gpus = {{.uuid = "GPU-a",
                .model = "NVIDIA H100",
                .memory = 85899345920,
                .slots = 2,
                .healthy = true,
                .withheld = "",
                .holders = {{"team", "p", "init", {"GPU-a::0", "GPU-a::1"}, "team/g"},
                            {"team", "p", "main", {"GPU-a::0"}, "team/g"}},
                .notes = GpuNode::Notes{.no_turns = "its mode is off",
                                        .signals = GpuNode::Signals{.signallers = 2,
                                                                    .late = 3,
                                                                    .host_memory = 9 << 20,
                                                                    .cpu_seconds = 120,
                                                                    .device_memory = 2 << 20,
                                                                    .device_memory_source = "exported"}}},
               {.uuid = "GPU-b",
                .slots = 2,
                .withheld = "Xid 79",
                .holders = {},
                .notes = GpuNode::Notes{.reason = "Xid"}},
               {.uuid = "GPU-c",
                .model = "GB10",
                .slots = 1,
                .healthy = true,
                .withheld = "",
                .holders = {},
                .notes = GpuNode::Notes{.reason = "MemoryUnknown", .signals = GpuNode::Signals{}}}},
      .requested = {.milli_cpu = 1500,
                    .memory_bytes = 1 << 20,
                    .others = {{"example.com/nic", 1}, {"pods", 3}}},
      .jobs = {GoldenJob()},
      .node_uid = "u",
      .version = "1.2",
      .mode_limited_by = "the cluster",
      .configuration = "big",
      .sharing_reason = "it runs",
      .mps_served = 1000};
  node.jobs.push_back({.name_space = "team",
                       .gang = "team/s",
                       .key = "",
                       .node = "n1",
                       .gpus = 1,
                       .began_s = 1.7e9,
                       .at_s = 1.7e9});
  return node;
}

// A BrokenGpuNode is kGoldenGpuNode after an RFC 7386 merge patch. What the patch does not touch says the
// same.
struct BrokenGpuNode {
  const char* patch;
  const char* mode;  // that the reader takes from it; null: it is no GPUNode
  std::size_t gpus, holders, jobs;
  std::int64_t pods;  // that `requested` counts
};

inline constexpr std::array<BrokenGpuNode, 18> kBrokenGpuNodes = {{
    {R"({"metadata": null})", nullptr, 0, 0, 0, 0},
    {R"({"metadata": {"name": ""}})", nullptr, 0, 0, 0, 0},
    {R"({"metadata": {"name": ["n1"]}})", nullptr, 0, 0, 0, 0},
    {R"({"metadata": {"ownerReferences": 3}})", "observe", 3, 2, 2, 3},
    {R"({"status": "none"})", "", 0, 0, 0, 0},
    {R"({"status": {"mode": 1}})", "", 3, 2, 2, 3},
    {R"({"status": {"sharing": "mps"}})", "observe", 3, 2, 2, 3},
    {R"({"status": {"sharing": {"servedUser": -1}}})", "observe", 3, 2, 2, 3},
    {R"({"status": {"linkBytesPerSecond": "fast"}})", "observe", 3, 2, 2, 3},
    {R"({"status": {"requested": [1]}})", "observe", 3, 2, 2, 0},
    {R"({"status": {"requested": {"pods": -3}}})", "observe", 3, 2, 2, 0},
    {R"({"status": {"gpus": {"uuid": "GPU-a"}}})", "observe", 0, 0, 2, 3},
    {R"({"status": {"gpus": [1, null, {}, {"uuid": ""}, {"uuid": 3}]}})", "observe", 0, 0, 2, 3},
    {R"({"status": {"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-a", "slots": 9}]}})", "observe", 1, 0, 2, 3},
    {R"({"status": {"gpus": [{"uuid": "GPU-a", "holders": {"pod": "p"}}]}})", "observe", 1, 0, 2, 3},
    {R"({"status": {"jobs": {"gang": "team/g"}}})", "observe", 3, 2, 0, 3},
    {R"({"status": {"jobs": [1, null, {}, {"namespace": "team", "gang": ""}]}})", "observe", 3, 2, 0, 3},
    {R"({"status": {"jobs": [{"namespace": "team", "gang": "team/g", "measuredAt": "today"}]}})", "observe",
     3, 2, 0, 3},
}};

// Returns the broken twin as an object.
inline nlohmann::json Broken(const BrokenGpuNode& twin) {
  nlohmann::json object = nlohmann::json::parse(kGoldenGpuNode);
  object.merge_patch(nlohmann::json::parse(twin.patch));
  return object;
}

}  // namespace crossover::api
