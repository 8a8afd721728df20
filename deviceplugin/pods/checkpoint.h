// What a kubelet has handed out, from its own file: the only place where pods, containers and device IDs
// meet.
//
// Not an interface that anybody promises, though unchanged for years: whoever reads it goes on without it. It
// has everything that was handed out before the call under way, and may still have what belonged to pods that
// are gone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::deviceplugin {

struct HandedOut {
  std::string pod_uid;
  std::string container;
  std::vector<std::string> ids;  // sorted
  std::string answer;  // what we answered, as it went over the wire: the kubelet answers with it again

  friend bool operator==(const HandedOut&, const HandedOut&) = default;
};

// Of another resource.
struct HandedOutByOthers {
  std::string resource;
  std::string pod_uid;
  std::vector<std::string> ids;  // sorted

  friend bool operator==(const HandedOutByOthers&, const HandedOutByOthers&) = default;
};

struct Checkpoint {
  std::vector<HandedOut> handed_out;  // of our resource
  std::vector<HandedOutByOthers> by_others;
  std::map<std::string, std::vector<std::string>> registered;  // IDs of other resources, healthy once
};

// Nothing for text that is no such file. `resource`: ours. Pure.
std::optional<Checkpoint> ParseCheckpoint(std::string_view text, const std::string& resource);

}  // namespace crossover::deviceplugin
