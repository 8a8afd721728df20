#include "common/kube/watch_lines.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/kube/json.h"
#include "common/kube/json_filter.h"
#include "common/kube/status_codes.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

// Returns whether `object` is the bookmark that ends a streamed list.
bool EndsList(const json& object) {
  return Text(At(At(At(object, "metadata"), "annotations"), "k8s.io/initial-events-end")) == "true";
}

}  // namespace

WatchLines::WatchLines(ListSink* sink, std::set<std::string> without)
    : sink_(sink), without_(std::move(without)) {}

void WatchLines::BeginList() {
  sink_->OnListBegin();
  listing_ = true;
}

bool WatchLines::EndList() { return std::exchange(listing_, false); }

// If the server names no version, the newest version seen stays the newest.
void WatchLines::Note(const std::string& version) {
  version_ = version;
  if (!version.empty()) newest_ = version;
}

WatchLines::Heard WatchLines::Hear(std::string_view line) {
  json event = ParseWithout(line, without_, kInEvent);
  const std::string type = Text(At(event, "type"));
  if (type.empty() || !At(event, "object").is_object()) {
    Lose();
    return Heard::kLost;
  }
  if (type == "ERROR") return HearError(At(event, "object"));
  return HearObject(type, std::move(event["object"]));
}

WatchLines::Heard WatchLines::HearObject(const std::string& type, json&& object) {
  const std::string version = VersionOf(object);
  bool listed = false;
  if (type == "BOOKMARK") {
    listed = listing_ && EndsList(object);
    if (listed) {
      listing_ = false;
      sink_->OnListEnd();
      Note(version);
    }
  } else if (type == "DELETED") {
    sink_->OnDelete(object);
  } else if (listing_) {
    sink_->OnListed(std::move(object));
  } else {
    sink_->OnChange(object);
  }
  if (listed) return Heard::kListed;
  if (listing_ || version.empty())
    return Heard::kNothing;  // an incomplete list has no version to continue at
  Note(version);
  return Heard::kProgress;
}

// Handles an ERROR event, and returns what it means. A server sends one, too, if its etcd is too old to
// stream a list.
WatchLines::Heard WatchLines::HearError(const json& status) {
  if (At(status, "code") == kGone) {
    Lose();
    return Heard::kLost;
  }
  if (listing_) return Heard::kCannotStream;
  why_ = Text(At(status, "message"));
  return Heard::kEnded;
}

}  // namespace crossover::kube
