#include "extender/admission/edit_json.h"

#include <algorithm>

#include "common/kube/json.h"

namespace crossover::extender::admission {

using kube::At;
using nlohmann::json;

json& Made(json* object, const char* key, json::value_t kind) {
  json& value = (*object)[key];
  if (value.type() != kind) value = json(kind);
  return value;
}

void PutNamed(const json& entry, json* list) {
  const auto is_it = [&entry](const json& other) { return At(other, "name") == At(entry, "name"); };
  if (std::count_if(list->begin(), list->end(), is_it) == 1 &&
      std::find(list->begin(), list->end(), entry) != list->end())
    return;
  list->erase(std::remove_if(list->begin(), list->end(), is_it), list->end());
  list->push_back(entry);
}

}  // namespace crossover::extender::admission
