#include "common/kube/list_watch.h"

#include <sys/prctl.h>

#include <algorithm>
#include <random>

#include "common/kube/json.h"
#include "common/logging/log.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kShortestPause{200};
constexpr milliseconds kLongestPause{30'000};
constexpr int kGone = 410;

std::string VersionOf(const json& object) { return Text(At(At(object, "metadata"), "resourceVersion")); }

}  // namespace

ListWatch::ListWatch(Access access, std::string path, Handler* handler, Wanted wanted)
    : client_(std::move(access)), path_(std::move(path)), wanted_(wanted), handler_(handler), thread_([this] {
        Run();
      }) {}

ListWatch::~ListWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  client_.Stop();
  thread_.join();
}

void ListWatch::Run() {
  prctl(PR_SET_NAME, "xo-watch");
  std::mt19937 random{std::random_device()()};
  milliseconds pause = kShortestPause;
  for (;;) {
    if (version_.empty() && !List()) {
      synced_ = false;
      // Spread, so that a thousand nodes do not come back in the same instant.
      const milliseconds spread(random() % static_cast<unsigned>(pause.count()));
      if (!Pause(pause / 2 + spread)) return;
      pause = std::min(2 * pause, kLongestPause);
      continue;
    }
    synced_ = true;
    pause = kShortestPause;
    Watch();
    if (!Pause(kShortestPause)) return;
  }
}

bool ListWatch::Stopping() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool ListWatch::Pause(milliseconds pause) {
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, pause, [this] { return stop_; });
}

std::string ListWatch::Accepted(const std::string& metadata) const {
  if (wanted_ == Wanted::kAll) return Client::kJson;
  return std::string(Client::kJson) + ";as=" + metadata + ";g=meta.k8s.io;v=v1," + Client::kJson;
}

bool ListWatch::List() {
  const Response response = client_.Get(path_, Accepted("PartialObjectMetadataList"));
  if (response.status != 200) {
    Complain(WhyNot(response));
    return false;
  }
  const json list = json::parse(response.body, nullptr, false);
  if (list.is_discarded() || VersionOf(list).empty()) {
    Complain("an answer that is no list");
    return false;
  }
  static const json none = json::array();
  const json& items = At(list, "items");
  handler_->OnList(items.is_array() ? items : none);
  version_ = VersionOf(list);
  if (!complaint_.empty()) logging::Info("the API server answers again");
  complaint_.clear();
  return true;
}

void ListWatch::Watch() {
  const char separator = path_.find('?') == std::string::npos ? '?' : '&';
  const std::string path =
      path_ + separator + "watch=1&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=" + version_;
  const Response response = client_.Watch(
      path, [this](std::string_view line) { return OnLine(line); }, Accepted("PartialObjectMetadata"));
  if (response.status == 200) return;
  if (response.status == kGone) {
    version_.clear();
    return;
  }
  Complain(response.status == 0 ? response.error : "status " + std::to_string(response.status));
  version_.clear();  // with the pauses of a list that fails
}

// One event. False ends the watch.
bool ListWatch::OnLine(std::string_view line) {
  const json event = json::parse(line, nullptr, false);
  const json& type = At(event, "type");
  const json& object = At(event, "object");
  if (!type.is_string() || type == "ERROR") {  // expired, most of all
    version_.clear();
    return false;
  }
  if (type == "DELETED") {
    handler_->OnDelete(object);
  } else if (type != "BOOKMARK") {
    handler_->OnChange(object);
  }
  const std::string version = VersionOf(object);
  if (!version.empty()) version_ = version;
  return true;
}

void ListWatch::Complain(const std::string& what) {
  if (what == complaint_ || Stopping()) return;  // said once, not with each try
  complaint_ = what;
  logging::Warn("listing " + path_ + ": " + what);
}

}  // namespace crossover::kube
