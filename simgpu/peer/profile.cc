#include "simgpu/peer/profile.h"

#include <fstream>
#include <sstream>

namespace simgpu::peer {

std::optional<std::vector<Stretch>> ReadProfile(const std::string& path, std::string* error) {
  std::ifstream file(path);
  if (!file) {
    *error = path + ": cannot be read";
    return std::nullopt;
  }
  std::vector<Stretch> profile;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    Stretch stretch;
    std::string rest;
    if (!(words >> stretch.function >> stretch.count >> stretch.compute_ns) || (words >> rest)) {
      *error = path + ":" + std::to_string(number) + ": '" + line + "' is not FUNCTION COUNT NS";
      return std::nullopt;
    }
    profile.push_back(std::move(stretch));
  }
  return profile;
}

bool Follower::Fits(const nccl::Call& call) const {
  return next_ < profile_.size() && profile_[next_].function == Name(call.function) &&
         profile_[next_].count == call.count;
}

Follower::Place Follower::Next(const nccl::Call& call) {
  if (!Fits(call)) next_ = 0;
  if (!Fits(call)) return {};
  const Place place{profile_[next_].compute_ns, next_ + 1 == profile_.size()};
  next_ = place.ends ? 0 : next_ + 1;
  return place;
}

}  // namespace simgpu::peer
