#include "common/kube/list_watch.h"

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "common/kube/backoff.h"
#include "common/kube/json.h"
#include "common/kube/json_filter.h"
#include "common/kube/pages.h"
#include "common/kube/status_codes.h"
#include "common/kube/whole_lists.h"
#include "common/logging/log.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kLongestPause{30'000};
constexpr std::chrono::minutes kLongWatch{1};  // a watch that lasted this long counts as successful
constexpr int kMostFailures = 5;               // after these, list again

// Returns whether the server has answered and refuses the request in the form in which it was sent.
bool IsRefusal(long status) {
  if (status == kUnauthorized || status == kForbidden || status == kNotFound || status == kGone) return false;
  return status >= 400 && status < 500 && status != kTooManyRequests;
}

// Returns whether a list from the cache should be tried again in pages. The server cannot list from its
// cache, or not from that version on (504 is also the answer if its cache has not reached it in time), or the
// answer broke off because the list is too long.
bool WantsPages(const Response& response) {
  const long status = response.status;
  return IsRefusal(status) || status == kGone || status == kGatewayTimeout ||
         (status == 0 && !response.body.empty());
}

}  // namespace

ListWatch::ListWatch(Access access, std::string path, Handler* handler, Wanted wanted)
    : ListWatch(std::move(access), std::move(path), handler, Options{.wanted = wanted}) {}

ListWatch::ListWatch(Access access, std::string path, Handler* handler, Options options)
    : ListWatch(std::move(access), std::move(path), std::make_unique<WholeLists>(handler), nullptr,
                std::move(options)) {}

ListWatch::ListWatch(Access access, std::string path, Sink* sink, Options options)
    : ListWatch(std::move(access), std::move(path), nullptr, sink, std::move(options)) {}

ListWatch::ListWatch(Access access, std::string path, std::unique_ptr<Sink> own, Sink* sink, Options options)
    : client_(std::move(access)),
      path_(std::move(path)),
      options_(std::move(options)),
      own_(std::move(own)),
      sink_(own_ ? own_.get() : sink),
      lines_(sink_, options_.without),
      thread_([this] { Run(); }) {}

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
  Backoff backoff(options_.least_pause, kLongestPause);
  for (;;) {
    progress_ = false;
    retry_after_ = {};
    const bool at_once = !lines_.version().empty() ? Watch() : options_.streamed ? Stream() : List();
    if (progress_) backoff.Reset();
    const milliseconds pause = at_once ? milliseconds(0) : backoff.Next(random_());
    if (!Pause(std::max<milliseconds>(pause, retry_after_))) return;
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
  if (options_.wanted == Wanted::kAll) return Client::kJson;
  return std::string(Client::kJson) + ";as=" + metadata + ";g=meta.k8s.io;v=v1," + Client::kJson;
}

std::string ListWatch::Query(const std::string& parameters) const {
  return path_ + (path_.find('?') == std::string::npos ? '?' : '&') + parameters;
}

// Returns the query of the next page. A cache may be older than the storage. That does no harm to the first
// list, as the watch continues from there. A later list must not go back in time.
std::string ListWatch::PageFrom(const std::string& next) const {
  if (!next.empty() || !options_.from_cache || cache_failed_) return PageParameters(next, options_.page);
  if (lines_.newest().empty()) return "resourceVersion=0";
  return "resourceVersion=" + Escaped(lines_.newest()) + "&resourceVersionMatch=NotOlderThan";
}

// Lists in pages. All pages show one state of the server, unless the server forgets that state in between
// (410): then the list starts again. Returns whether a whole list was read.
bool ListWatch::List() {
  sink_->OnListBegin();
  std::string version, next;
  do {
    const Response response = client_.Get(Query(PageFrom(next)), Accepted("PartialObjectMetadataList"));
    if (response.status != 200) {
      cache_failed_ = WantsPages(response);
      return Fail(response);
    }
    json list = ParseWithout(response.body, options_.without, kInList);
    if (VersionOf(list).empty()) {
      Complain("an answer that is no list");
      return false;
    }
    if (json& items = list["items"]; items.is_array()) {
      for (json& item : items) sink_->OnListed(std::move(item));
    }
    if (version.empty()) version = VersionOf(list);
    next = NextPageOf(list);
  } while (!next.empty());
  sink_->OnListEnd();
  lines_.Note(version);
  NoteListed();
  return true;
}

void ListWatch::NoteListed() {
  cache_failed_ = false;
  synced_ = true;
  progress_ = true;
  failures_ = 0;
  Recover();
}

bool ListWatch::Stream() {
  lines_.BeginList();
  const Response response = client_.Watch(
      Query("watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
            "&timeoutSeconds=" +
            std::to_string(300 + random_() % 300)),
      [this](std::string_view line) { return OnLine(line); }, Accepted("PartialObjectMetadata"));
  const bool broke_off = lines_.EndList();
  if (response.status == 200) {
    if (broke_off && !options_.streamed) return true;
    if (broke_off) {
      synced_ = false;  // unlike after a broken watch: deletions may have been missed
      Complain("a list that ended early");
    }
    return false;
  }
  if (IsRefusal(response.status)) {
    options_.streamed = false;
    return true;
  }
  return Fail(response);
}

bool ListWatch::Watch() {
  const auto begin = steady_clock::now();
  const Response response = client_.Watch(
      Query("watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(300 + random_() % 300) +
            "&resourceVersion=" + Escaped(lines_.version())),
      [this](std::string_view line) { return OnLine(line); }, Accepted("PartialObjectMetadata"),
      [this] { synced_ = true; });
  if (steady_clock::now() - begin > kLongWatch) progress_ = true;
  failures_ = progress_ ? 0 : failures_ + 1;
  if (failures_ >= kMostFailures) lines_.Lose();
  return response.status == 200 ? false : Fail(response);
}

// Notes a failed request, and returns false. The watch continues at the last version after a timeout or if
// the server is busy. After other errors the next step is a new list.
bool ListWatch::Fail(const Response& response) {
  const bool lacks = response.status == kNotFound && options_.may_lack;
  if (!lacks) synced_ = false;  // otherwise unchanged: a leader that is not synced ends its term
  retry_after_ = response.retry_after;
  const bool later = response.status == 0 || response.status == kTooManyRequests || response.status >= 500;
  if (!later) lines_.Lose();
  if (lacks) {
    Lack();
  } else if (response.status != kGone) {
    Complain(WhyNot(response));
  }
  return false;
}

void ListWatch::Lack() {
  Complain(
      "the API server does not know such objects, so they count as none: for those of crossover.dev, "
      "run kubectl apply -f manifests/crds");
  sink_->OnListBegin();
  sink_->OnListEnd();
  synced_ = true;
}

// Handles one event. Returns false to end the watch.
bool ListWatch::OnLine(std::string_view line) {
  using Heard = WatchLines::Heard;
  switch (lines_.Hear(line)) {
    case Heard::kNothing:
      return true;
    case Heard::kProgress:
      progress_ = true;
      Recover();
      return true;
    case Heard::kListed:
      NoteListed();
      return true;
    case Heard::kLost:
      return false;
    case Heard::kCannotStream:
      options_.streamed = false;
      return false;
    case Heard::kEnded:
      Complain("the watch ended, and begins again: " + lines_.why());
      return false;
  }
  return false;
}

void ListWatch::Complain(const std::string& what) {
  if (what == complaint_ || Stopping()) return;  // log it once, not with each attempt
  complaint_ = what;
  logging::Warn("listing " + path_ + ": " + what);
}

void ListWatch::Recover() {
  if (!complaint_.empty()) logging::Info("listing " + path_ + ": the API server answers again");
  complaint_.clear();
}

}  // namespace crossover::kube
