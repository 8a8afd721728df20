#include "common/kube/json_filter.h"

namespace crossover::kube {

using nlohmann::json;

json ParseWithout(std::string_view text, const std::set<std::string>& without, int depth) {
  const auto keep = [&](int at, json::parse_event_t event, json& parsed) {
    if (event != json::parse_event_t::key || at != depth || !parsed.is_string()) return true;
    const auto& key = parsed.get_ref<const std::string&>();
    return key != "managedFields" && !without.contains(key);
  };
  return json::parse(text, keep, false);
}

}  // namespace crossover::kube
