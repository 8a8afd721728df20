// Compares what the kubelet has handed out with what was wanted, says what differs, once, and finds what is
// to be done about it. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/pods/drift.h"

namespace crossover::deviceplugin {

class KubeletCheck {
 public:
  using Time = std::int64_t;
  // How often pods of a gang are made anew until it has been well for a while, and how long is between two
  // tries: a kubelet that does the same again and again is not helped.
  static constexpr int kMostRestarts = 3;
  static constexpr Time kBetweenRestarts = 30'000'000'000;
  static constexpr Time kForgetRestarts = 3'600'000'000'000;

  struct Found {
    std::vector<Drift> drifts;
    std::vector<Collision> collisions;
    std::vector<Double> doubles;

    friend bool operator==(const Found&, const Found&) = default;
  };

  // `tell` is called for each difference that is new.
  explicit KubeletCheck(std::function<void(kube::Event)> tell) : tell_(std::move(tell)) {}

  // Pods that are to be made anew elsewhere: of those that must not be where they are, and were not meant to
  // be, whichever came last, where whoever made it makes another, and none of them is leaving already. `now`:
  // ns of any clock.
  std::vector<Pod> Look(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out, Time now);

  // The API server has accepted that one of them goes: tries that it refuses are no restarts.
  void NoteMadeAnew(const Pod& pod);

  Found found() const;
  // GPUs on which no turns are to be taken, and why.
  std::map<std::string, std::string> held() const;

 private:
  struct Restarts {
    int count = 0;
    std::optional<Time> tried;  // last
    Time seen = 0;              // when it last had to be
  };

  void Say(const Drift& drift, const Pod& pod) const;
  bool MayTry(const std::string& gang, Time now);

  const std::function<void(kube::Event)> tell_;
  mutable std::mutex mutex_;
  Found found_;
  std::map<std::string, Restarts> restarts_;  // by gang
};

}  // namespace crossover::deviceplugin
