// Finds the volumes that a container has in place of /dev/shm.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::kube {

// Returns whether the paths name the same folder: a slash at the end, or two in a row, makes no difference.
inline bool IsSameFolder(const std::string& path, const char* folder) {
  return (std::filesystem::path(path) / "").lexically_normal() ==
         (std::filesystem::path(folder) / "").lexically_normal();
}

// Returns how many volumes the container mounts at `folder`.
inline std::ptrdiff_t MountsAt(const nlohmann::json& container, const char* folder) {
  const nlohmann::json& mounts = ListAt(container, "volumeMounts");
  return std::count_if(mounts.begin(), mounts.end(), [folder](const nlohmann::json& mount) {
    return IsSameFolder(Text(At(mount, "mountPath")), folder);
  });
}
inline bool HasMountAt(const nlohmann::json& container, const char* folder) {
  return MountsAt(container, folder) > 0;
}

// Returns whether the container brings a volume of its own for /dev/shm.
inline bool HasOwnShm(const nlohmann::json& container) { return HasMountAt(container, base::kShm); }

}  // namespace crossover::kube
