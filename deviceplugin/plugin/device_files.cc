#include "deviceplugin/plugin/device_files.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace crossover::deviceplugin {

std::string RootOfNode() {
  constexpr char kOfFirstProcess[] = "/proc/1/root";
  return access((std::string(kOfFirstProcess) + "/dev").c_str(), F_OK) == 0 ? kOfFirstProcess : "";
}

std::vector<std::string> DropAbsentFiles(const std::string& root, Allocation* allocation) {
  std::vector<std::string>& files = allocation->device_files;
  const auto absent = std::stable_partition(files.begin(), files.end(), [&root](const std::string& file) {
    return access((root + file).c_str(), F_OK) == 0;
  });
  std::vector<std::string> dropped(std::make_move_iterator(absent), std::make_move_iterator(files.end()));
  files.erase(absent, files.end());
  return dropped;
}

}  // namespace crossover::deviceplugin
