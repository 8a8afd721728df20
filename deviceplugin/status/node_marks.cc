#include "deviceplugin/status/node_marks.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/clock.h"
#include "common/base/foreign_keys.h"
#include "common/kube/json.h"
#include "common/logging/log.h"

namespace crossover::deviceplugin {
NodeMarksChange ChangeOf(const NodeMarks& now, const NodeMarksWanted& wanted) {
  NodeMarksChange change;
  if (wanted.operator_labels) {
    for (const char* key : {base::kOperatorPluginLabel, base::kOperatorValidatorLabel}) {
      const auto label = now.labels.find(key);
      if (label == now.labels.end() || label->second != "false") change.labels[key] = "false";
    }
  }
  if (wanted.scale_down_disabled) {
    if (now.slots_held && now.scale_down != "true") change.annotations[base::kScaleDownAnnotation] = "true";
    if (!now.slots_held && now.scale_down) change.annotations[base::kScaleDownAnnotation] = std::nullopt;
  }
  return change;
}

std::string PatchOf(const NodeMarksChange& change) {
  nlohmann::json metadata = nlohmann::json::object();
  for (const auto& [key, value] : change.labels) metadata["labels"][key] = value;
  for (const auto& [key, value] : change.annotations)
    metadata["annotations"][key] = value ? nlohmann::json(*value) : nlohmann::json();
  return kube::Dump({{"metadata", metadata}});
}

bool Insistence::Once(std::int64_t now) {
  while (!written_.empty() && now - written_.front() > kWithin) written_.pop_front();
  if (written_.size() >= kMost) return false;
  written_.push_back(now);
  return true;
}

NodeMarker::NodeMarker(kube::Access access, std::string node, NodeMarksWanted wanted, Look look,
                       OnTakenBack taken_back, std::chrono::milliseconds period)
    : client_(std::move(access)),
      node_(std::move(node)),
      wanted_(wanted),
      look_(std::move(look)),
      taken_back_(std::move(taken_back)) {
  if (wanted.operator_labels || wanted.scale_down_disabled)
    task_.emplace(
        "xo-marks", period, [this] { Round(); }, threads::PeriodicTask::First::kAtOnce);
}

void NodeMarker::Round() {
  const auto now = look_();
  if (!now) return;
  NodeMarksChange change = ChangeOf(*now, wanted_);
  if (change.labels.empty()) {
    labelled_ = labelled_ || wanted_.operator_labels;
  } else {
    const bool taken_back = std::exchange(labelled_, false);
    const bool again = insistence_.Once(base::MonotonicNs());
    if (!again) change.labels.clear();
    if (taken_back || (!again && !given_up_)) taken_back_(again);
    given_up_ = !again;
  }
  const bool labels = !change.labels.empty();
  if (!change.empty() && Write(change) && labels) labelled_ = true;
}

bool NodeMarker::Write(const NodeMarksChange& change) {
  const kube::Response response = client_.Send({.method = "PATCH",
                                                .path = "/api/v1/nodes/" + node_,
                                                .body = PatchOf(change),
                                                .content_type = "application/merge-patch+json"});
  const bool done = response.status == 200;
  std::string complaint = done ? "" : kube::WhyNot(response);
  if (!done && complaint != complaint_)
    logging::Warn("labels and annotations of this node cannot be written: " + complaint);
  complaint_ = std::move(complaint);
  return done;
}

}  // namespace crossover::deviceplugin
