#include "deviceplugin/inventory/dra_watch.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/clock.h"
#include "common/kube/json.h"
#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kGroup[] = "/apis/resource.k8s.io";

std::string KeyOf(const nlohmann::json& object) {
  const nlohmann::json& metadata = kube::At(object, "metadata");
  return kube::Text(kube::At(metadata, "namespace")) + "/" + kube::Text(kube::At(metadata, "name"));
}

}  // namespace

template <class Object, Object (*Read)(const nlohmann::json&)>
class DraWatch::Kept : public kube::ListWatch::Handler {
 public:
  void OnList(const nlohmann::json& items) override {
    std::map<std::string, Object> objects;
    for (const nlohmann::json& item : items) objects.emplace(KeyOf(item), Read(item));
    const std::lock_guard lock(mutex_);
    objects_ = std::move(objects);
  }
  void OnChange(const nlohmann::json& object) override {
    const std::lock_guard lock(mutex_);
    objects_.insert_or_assign(KeyOf(object), Read(object));
  }
  void OnDelete(const nlohmann::json& object) override {
    const std::lock_guard lock(mutex_);
    objects_.erase(KeyOf(object));
  }

  // Returns the objects that have devices.
  std::vector<Object> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<Object> all;
    for (const auto& [key, object] : objects_) {
      if (!object.devices.empty()) all.push_back(object);
    }
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Object> objects_;
};

DraWatch::DraWatch(kube::Access access, std::string node, std::chrono::milliseconds period)
    : access_(std::move(access)),
      node_(std::move(node)),
      begun_(base::MonotonicNs()),
      client_(access_),
      slices_(std::make_unique<Slices>()),
      claims_(std::make_unique<Claims>()),
      task_(
          "xo-dra", period, [this] { Round(); }, threads::PeriodicTask::First::kAtOnce) {}

DraWatch::~DraWatch() { client_.Stop(); }

// Finds out which version of the API there is, and follows it.
void DraWatch::Round() {
  const kube::Response response = client_.Get(kGroup);
  constexpr long kOk = 200, kNotFound = 404;
  std::string version, complaint;
  if (response.status == kOk)
    version = ChooseDraVersion(nlohmann::json::parse(response.body, nullptr, false));
  if (response.status != kOk && response.status != kNotFound) complaint = kube::WhyNot(response);
  const std::lock_guard lock(mutex_);
  if (!complaint.empty() && complaint != complaint_)
    logging::Warn(std::string(kGroup) + " cannot be read: " + complaint +
                  ": until this succeeds, the daemon may not notice a DRA driver that gives out GPUs of this "
                  "node");
  complaint_ = complaint;
  if (!complaint.empty()) return;
  lacks_api_ = version.empty();
  if (version != version_) Follow(version);
}

// REQUIRES: mutex_ is held.
void DraWatch::Follow(const std::string& version) {
  watch_of_slices_.reset();
  watch_of_claims_.reset();
  version_ = version;
  if (version.empty()) return;
  watch_of_slices_ = std::make_unique<kube::ListWatch>(
      access_, kGroup + ("/" + version) + "/resourceslices?fieldSelector=spec.nodeName%3D" + node_,
      slices_.get());
  if (devices_.any()) FollowClaims();
}

// REQUIRES: mutex_ is held.
void DraWatch::FollowClaims() {
  watch_of_claims_ = std::make_unique<kube::ListWatch>(access_, kGroup + ("/" + version_) + "/resourceclaims",
                                                       claims_.get());
}

bool DraWatch::known() const {
  const std::lock_guard lock(mutex_);
  if (lacks_api_ || base::MonotonicNs() - begun_ > kPatience) return true;
  return watch_of_slices_ != nullptr && watch_of_slices_->synced();
}

std::map<std::string, base::WithheldReason> DraWatch::Find(const std::vector<std::string>& uuids,
                                                           std::int64_t now) {
  std::vector<DraSlice> slices = slices_->All();
  const std::lock_guard lock(mutex_);
  devices_.Note(slices);
  if (devices_.any() && watch_of_claims_ == nullptr && !version_.empty()) FollowClaims();
  if (!slices.empty()) {
    last_ = std::move(slices);
    last_at_ = now;
  } else if (now - last_at_ > kStays) {
    last_.clear();
  }
  return FindCompetingDraDrivers(last_, claims_->All(), devices_, uuids);
}

}  // namespace crossover::deviceplugin
