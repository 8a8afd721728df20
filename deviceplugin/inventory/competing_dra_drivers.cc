#include "deviceplugin/inventory/competing_dra_drivers.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/refusal.h"
#include "common/kube/json.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

// The API server bounds slices more tightly. These bounds hold whatever it answers.
constexpr std::size_t kMostDevices = 4096;  // of one slice, and of one claim
constexpr std::size_t kMostKnown = 65'536;  // devices that are remembered

std::string NameOf(const json& object) { return kube::Text(kube::At(kube::At(object, "metadata"), "name")); }

// Returns the texts of a device's attributes. Before v1beta2 they are one level further down.
std::vector<std::string> TextsOf(const json& device) {
  const json& direct = kube::At(device, "attributes");
  const json& attributes = direct.is_object() ? direct : kube::At(kube::At(device, "basic"), "attributes");
  std::vector<std::string> texts;
  if (!attributes.is_object()) return texts;
  for (const auto& [name, value] : attributes.items()) {
    std::string text = kube::Text(kube::At(value, "string"));
    if (!text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

bool SaysUuid(const std::vector<std::string>& texts) {
  return std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.starts_with("GPU-") || text.starts_with("MIG-");
  });
}

// Returns whether a device of this driver that says `texts` is the GPU or a part of it, as far as is known. A
// device of NVIDIA's driver that names no UUID may be any GPU.
bool MayBeGpu(const std::string& driver, const std::vector<std::string>& texts, const std::string& uuid) {
  if (std::find(texts.begin(), texts.end(), uuid) != texts.end()) return true;
  return driver == kNvidiasDraDriver && !SaysUuid(texts);
}

bool HasGpus(const DraSlice& slice) {
  return std::any_of(slice.devices.begin(), slice.devices.end(), [&slice](const auto& device) {
    return slice.driver == kNvidiasDraDriver || SaysUuid(device.second);
  });
}

base::WithheldReason Why(const std::string& driver, const std::string& what) {
  return {base::Withheld::kDraDriver, "the DRA driver " + base::Shown(driver) + what};
}

}  // namespace

DraSlice ReadSlice(const json& object) {
  const json& spec = kube::At(object, "spec");
  DraSlice slice{.name = NameOf(object),
                 .driver = kube::Text(kube::At(spec, "driver")),
                 .pool = kube::Text(kube::At(kube::At(spec, "pool"), "name")),
                 .devices = {}};
  for (const json& device : kube::ListAt(spec, "devices")) {
    if (slice.devices.size() >= kMostDevices) break;
    slice.devices.emplace(kube::Text(kube::At(device, "name")), TextsOf(device));
  }
  return slice;
}

DraClaim ReadClaim(const json& object) {
  DraClaim claim{
      .name = kube::Text(kube::At(kube::At(object, "metadata"), "namespace")) + "/" + NameOf(object),
      .devices = {}};
  const json& allocation = kube::At(kube::At(object, "status"), "allocation");
  for (const json& result : kube::ListAt(kube::At(allocation, "devices"), "results")) {
    const json& admin = kube::At(result, "adminAccess");
    if (admin.is_boolean() && admin.get<bool>()) continue;
    if (claim.devices.size() >= kMostDevices) break;
    claim.devices.push_back({.driver = kube::Text(kube::At(result, "driver")),
                             .pool = kube::Text(kube::At(result, "pool")),
                             .name = kube::Text(kube::At(result, "device"))});
  }
  return claim;
}

void DraDevices::Note(const std::vector<DraSlice>& slices) {
  for (const DraSlice& slice : slices) {
    if (!HasGpus(slice)) continue;
    drivers_.emplace(slice.driver, slice.pool);
    for (const auto& [name, texts] : slice.devices) {
      if (texts_.size() >= kMostKnown) return;
      texts_.insert_or_assign({slice.driver, slice.pool, name}, texts);
    }
  }
}

bool DraDevices::MayBe(const DraDevice& device, const std::string& uuid) const {
  if (!drivers_.contains({device.driver, device.pool})) return false;  // of another node, or no GPUs
  const auto texts = texts_.find(device);
  return texts == texts_.end() || MayBeGpu(device.driver, texts->second, uuid);
}

std::map<std::string, base::WithheldReason> FindCompetingDraDrivers(const std::vector<DraSlice>& slices,
                                                                    const std::vector<DraClaim>& claims,
                                                                    const DraDevices& known,
                                                                    const std::vector<std::string>& uuids) {
  std::map<std::string, base::WithheldReason> found;
  for (const std::string& uuid : uuids) {
    for (const DraClaim& claim : claims) {
      const auto has = std::find_if(claim.devices.begin(), claim.devices.end(),
                                    [&](const DraDevice& device) { return known.MayBe(device, uuid); });
      if (has == claim.devices.end()) continue;
      found.emplace(uuid, Why(has->driver, " has given it to ResourceClaim " + base::Shown(claim.name)));
      break;
    }
    for (const DraSlice& slice : slices) {
      const bool offers = std::any_of(slice.devices.begin(), slice.devices.end(), [&](const auto& device) {
        return MayBeGpu(slice.driver, device.second, uuid);
      });
      if (offers) found.emplace(uuid, Why(slice.driver, " gives it out"));
    }
  }
  return found;
}

std::string ChooseDraVersion(const json& group) {
  constexpr std::array<std::string_view, 3> kVersions = {"v1", "v1beta2", "v1beta1"};
  for (const std::string_view wanted : kVersions) {
    for (const json& version : kube::ListAt(group, "versions")) {
      if (kube::Text(kube::At(version, "version")) == wanted) return std::string(wanted);
    }
  }
  return "";
}

}  // namespace crossover::deviceplugin
