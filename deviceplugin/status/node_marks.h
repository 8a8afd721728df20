// Writes on the own Node object what an administrator asks for: the labels by which the GPU Operator leaves
// the node to this daemon, and the annotation by which Cluster Autoscaler keeps the node while pods hold
// slots. The chart lets the daemon write these keys alone, and only if they are asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "common/kube/client.h"
#include "common/threads/periodic_task.h"

namespace crossover::deviceplugin {

// Holds what the Node object has now of what the daemon may write, and whether slots are held.
struct NodeMarks {
  std::map<std::string, std::string> labels;  // all of the node
  std::optional<std::string> scale_down;      // value of base::kScaleDownAnnotation
  bool slots_held = false;

  friend bool operator==(const NodeMarks&, const NodeMarks&) = default;
};

struct NodeMarksWanted {
  bool operator_labels = false;      // set the labels of the GPU Operator
  bool scale_down_disabled = false;  // set the annotation while slots are held, and remove it otherwise
};

// Holds the values to write, by key. An annotation without a value must be removed.
struct NodeMarksChange {
  std::map<std::string, std::string> labels;
  std::map<std::string, std::optional<std::string>> annotations;

  bool empty() const { return labels.empty() && annotations.empty(); }
};

// Returns what has to be written so that the node is as wanted. Pure.
NodeMarksChange ChangeOf(const NodeMarks& now, const NodeMarksWanted& wanted);
// Returns the body of a JSON merge patch. Pure.
std::string PatchOf(const NodeMarksChange& change);

// Bounds how often labels are written that another program takes back. Pure; the caller passes the time, in
// ns of any clock.
class Insistence {
 public:
  static constexpr std::size_t kMost = 5;                     // times within kWithin
  static constexpr std::int64_t kWithin = 3'600'000'000'000;  // ns

  // Returns whether the labels may be written once more at `now`, and notes that they are.
  bool Once(std::int64_t now);

 private:
  std::deque<std::int64_t> written_;
};

// Writes the marks, on a thread of its own. Not thread-safe.
class NodeMarker {
 public:
  // Returns the present state, or nullopt if it is not known. It is called on the thread of the marker.
  using Look = std::function<std::optional<NodeMarks>()>;
  // Is called when another program has changed a label that the marker had written. `again` says whether the
  // marker writes it once more.
  using OnTakenBack = std::function<void(bool again)>;

  NodeMarker(kube::Access access, std::string node, NodeMarksWanted wanted, Look look, OnTakenBack taken_back,
             std::chrono::milliseconds period = std::chrono::seconds(5));
  ~NodeMarker() { client_.Stop(); }

 private:
  void Round();
  bool Write(const NodeMarksChange& change);

  kube::Client client_;
  const std::string node_;
  const NodeMarksWanted wanted_;
  const Look look_;
  const OnTakenBack taken_back_;
  Insistence insistence_;
  bool labelled_ = false;  // the labels were as wanted, since this daemon has started
  bool given_up_ = false;  // taken_back_ was told that they are not written again
  std::string complaint_;
  std::optional<threads::PeriodicTask> task_;  // must be the last member; unset: nothing is wanted
};

}  // namespace crossover::deviceplugin
