#include "deviceplugin/signaller/places.h"

#include <algorithm>

namespace crossover::signaller {

void Places::SetGpus(const std::vector<std::string>& gpus, turn::Time now) {
  const auto is_here = [&](const std::string& gpu) {
    return std::find(gpus.begin(), gpus.end(), gpu) != gpus.end();
  };
  std::erase_if(places_, [&](const Place& place) { return place.pid == 0 && !is_here(place.gpu); });
  for (const std::string& gpu : gpus) {
    const auto has =
        std::count_if(places_.begin(), places_.end(), [&](const Place& place) { return place.gpu == gpu; });
    for (auto i = has; i < count_; ++i) places_.push_back({gpu, 0, now, 0, 0});
  }
}

Place* Places::Due(turn::Time now) {
  const auto place = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& each) { return each.pid == 0 && each.due <= now; });
  return place == places_.end() ? nullptr : &*place;
}

std::optional<turn::Time> Places::next() const {
  std::optional<turn::Time> next;
  for (const Place& place : places_) {
    if (place.pid == 0) next = std::min(next.value_or(place.due), place.due);
  }
  return next;
}

void Places::Started(Place* place, pid_t pid, turn::Time now) {
  place->pid = pid;
  place->started = now;
  if (pid != 0) return;
  place->pause = std::clamp(2 * place->pause, kShortestPause, kLongestPause);
  place->due = now + place->pause;
}

const Place* Places::Ended(pid_t pid, turn::Time now) {
  const auto place =
      std::find_if(places_.begin(), places_.end(), [&](const Place& each) { return each.pid == pid; });
  if (place == places_.end()) return nullptr;
  const bool settled = now - place->started >= kLongestPause;
  place->pause = settled ? kShortestPause : std::clamp(2 * place->pause, kShortestPause, kLongestPause);
  place->pid = 0;
  place->due = now + place->pause;
  return &*place;
}

}  // namespace crossover::signaller
