#include "simgpu/cuda/visible.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace simgpu {

std::vector<int> VisibleGpus(const std::vector<GpuConfig>& gpus, const std::function<bool(int)>& may_open,
                             const char* chosen) {
  std::vector<int> reached;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (may_open(static_cast<int>(i))) reached.push_back(static_cast<int>(i));
  }
  if (chosen == nullptr) return reached;
  std::vector<int> visible;
  std::istringstream list(chosen);
  std::string item;
  while (std::getline(list, item, ',')) {
    int found = -1;
    for (std::size_t i = 0; i < reached.size() && found < 0; ++i) {
      const std::string& uuid = gpus[static_cast<std::size_t>(reached[i])].uuid;
      const bool by_uuid = item.size() > 4 && uuid.compare(0, item.size(), item) == 0;
      if (by_uuid || item == std::to_string(i)) found = reached[i];
    }
    if (found < 0 || std::count(visible.begin(), visible.end(), found) != 0) break;
    visible.push_back(found);
  }
  return visible;
}

bool MayOpenDeviceFile(int gpu) {
  const int file = open(("/dev/nvidia" + std::to_string(gpu)).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  close(file);
  return true;
}

}  // namespace simgpu
