// Holds JobProfiles as an API server sends them, and what each says. Each reader of JobProfiles has a test
// that reads all of them, so that placement and ProfileKeeper agree on what a profile is. Each broken twin is
// a golden object with one change, which an API server or the extender never writes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace crossover::api {

struct GoldenProfile {
  const char* object;  // as JSON
  const char* key;     // that jobs find it by
  bool hinted;         // placement uses the times of its user
  bool has_hints;      // its user wrote figures
  double compute_s;
  std::uint64_t peak_memory;
  std::size_t meetings;  // that placement knows
  std::size_t runs;      // of the history
  std::size_t met;       // other profiles of the history
};

// Its user applied this one: it has no part that the extender writes.
inline constexpr char kGoldenHinted[] =
    R"({"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile",
        "metadata": {"name": "bert", "namespace": "team", "uid": "5d0c5a1e-9a62-4a0e-8a37-6f4b8d5b3d11",
                     "resourceVersion": "418", "generation": 1, "creationTimestamp": "2026-11-21T01:44:45Z"},
        "spec": {"key": "bert-large", "computeSeconds": 0.5, "exposedSeconds": 0.25, "peakMemoryBytes": 100}})";

inline constexpr char kGoldenMeasured[] =
    R"({"apiVersion": "crossover.dev/v1alpha1", "kind": "JobProfile",
        "metadata": {"name": "gpt-3a1f", "namespace": "team", "uid": "e1f7c0b2-0f0e-4d3d-9a0b-0c6f6f6a7a52",
                     "resourceVersion": "977", "generation": 1, "creationTimestamp": "2026-11-21T02:00:00Z"},
        "spec": {"key": "gpt"},
        "status": {"samples": 1, "computeSeconds": 0.02, "exposedSeconds": 0.01, "jitter": 0.1,
                   "peakMemoryBytes": 12345, "gpus": 4, "lastSeen": "2023-11-14T22:13:20Z",
                   "runs": [{"gang": "team/a", "beganAt": "2023-11-14T21:13:20Z",
                             "lastSeen": "2023-11-14T22:13:20Z", "gpus": 4, "iterations": 100, "estimated": true,
                             "disturbed": true, "shared": true, "computeSeconds": 0.02, "exposedSeconds": 0.01,
                             "jitter": 0.1, "peakMemoryBytes": 12345}],
                   "meetings": [{"namespace": "other", "key": "l", "gain": 1.2,
                                 "gains": [{"gang": "team/a", "otherGang": "other/b", "gain": 1.2,
                                            "measuredAt": "2023-11-14T22:13:20Z"}]}]}})";

inline constexpr std::array<GoldenProfile, 6> kGoldenProfiles = {{
    {kGoldenHinted, "bert-large", true, true, 0.5, 100, 0, 0, 0},
    {kGoldenMeasured, "gpt", false, false, 0.02, 12345, 1, 1, 1},
    {R"({"metadata": {"name": "mine", "namespace": "team"}})", "mine", false, false, 0, 0, 0, 0, 0},
    {R"({"metadata": {"name": "m", "namespace": "team"}, "spec": {"peakMemoryBytes": 5}})", "m", false, true,
     0, 5, 0, 0, 0},
    {R"({"metadata": {"name": "m", "namespace": "team"}, "spec": {"computeSeconds": 1, "exposedSeconds": 0},
         "status": {"computeSeconds": 2, "runs": [{"gang": "g"}, {"gang": "h"}]}})",
     "m", false, true, 2, 0, 0, 2, 0},
    {R"({"metadata": {"name": "m", "namespace": "team"}, "status": {"meetings": [{"key": "l", "gain": 1.1}]}})",
     "m", false, false, 0, 0, 1, 0, 0},
}};

// A BrokenProfile is kGoldenMeasured after an RFC 7386 merge patch.
struct BrokenProfile {
  const char* patch;
  bool is_profile;  // whether it still names an object
  const char* key;
  double compute_s;
  std::size_t meetings, runs, met;
};

inline constexpr std::array<BrokenProfile, 16> kBrokenProfiles = {{
    {R"({"metadata": null})", false, "", 0, 0, 0, 0},
    {R"({"metadata": {"name": null}})", false, "", 0, 0, 0, 0},
    {R"({"metadata": {"namespace": ""}})", false, "", 0, 0, 0, 0},
    {R"({"metadata": {"name": 7}})", false, "", 0, 0, 0, 0},
    {R"({"spec": 3})", true, "gpt-3a1f", 0.02, 1, 1, 1},
    {R"({"spec": {"key": ["gpt"]}})", true, "gpt-3a1f", 0.02, 1, 1, 1},
    {R"({"status": "none"})", true, "gpt", 0, 0, 0, 0},
    {R"({"status": {"computeSeconds": "0.02"}})", true, "gpt", 0, 1, 1, 1},
    {R"({"status": {"computeSeconds": -1}})", true, "gpt", 0, 1, 1, 1},
    {R"({"status": {"runs": {"gang": "team/a"}}})", true, "gpt", 0.02, 1, 0, 1},
    {R"({"status": {"runs": [1, null, {}, {"gang": ""}, {"gang": 3}]}})", true, "gpt", 0.02, 1, 0, 1},
    {R"({"status": {"meetings": [1, null, {}, {"key": "l"}]}})", true, "gpt", 0.02, 0, 1, 0},
    {R"({"status": {"meetings": [{"key": "l", "gain": -1}]}})", true, "gpt", 0.02, 0, 1, 0},
    {R"({"status": {"meetings": [{"key": "l", "gain": 1.2, "gains": 5}]}})", true, "gpt", 0.02, 1, 1, 0},
    {R"({"status": {"meetings": [{"key": "l", "gains": [{"gain": 1.2}]}]}})", true, "gpt", 0.02, 0, 1, 1},
    {R"({"status": {"meetings": [{"gain": 1.2, "gains": [{"gain": 1.2}]}]}})", true, "gpt", 0.02, 1, 1, 0},
}};

// Returns the broken twin as an object.
inline nlohmann::json Broken(const BrokenProfile& twin) {
  nlohmann::json object = nlohmann::json::parse(kGoldenMeasured);
  object.merge_patch(nlohmann::json::parse(twin.patch));
  return object;
}

}  // namespace crossover::api
