// Keeps one value for each object of a kind, by namespace and name, from a watch of the API server.
// Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/json.h"
#include "common/kube/list_watch.h"

namespace crossover::extender::admission {

template <class Value>
class ByNamespace : public kube::ListWatch::Handler {
 public:
  // Returns what is kept of an object. It must not throw, whatever the object holds.
  using Reader = Value (*)(const nlohmann::json& object);

  explicit ByNamespace(Reader read) : read_(read) {}

  void OnList(const nlohmann::json& items) override {
    std::map<std::string, ByName> known;
    for (const nlohmann::json& item : items) Take(item, &known);
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
    listed_ = true;
  }

  void OnChange(const nlohmann::json& object) override {
    const std::lock_guard lock(mutex_);
    Take(object, &known_);
  }

  void OnDelete(const nlohmann::json& object) override {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(OfMetadata(object, "namespace"));
    if (found == known_.end()) return;
    found->second.erase(OfMetadata(object, "name"));
    if (found->second.empty()) known_.erase(found);
  }

  // Returns the values of the namespace's objects in the order of the objects' names. Returns nothing before
  // the first list.
  std::optional<std::vector<Value>> In(const std::string& name_space) const {
    const std::lock_guard lock(mutex_);
    if (!listed_) return std::nullopt;
    std::vector<Value> values;
    const auto found = known_.find(name_space);
    if (found == known_.end()) return values;
    for (const auto& [name, value] : found->second) values.push_back(value);
    return values;
  }

 private:
  using ByName = std::map<std::string, Value>;

  static std::string OfMetadata(const nlohmann::json& object, const char* key) {
    return kube::Text(kube::At(kube::At(object, "metadata"), key));
  }
  void Take(const nlohmann::json& object, std::map<std::string, ByName>* known) const {
    (*known)[OfMetadata(object, "namespace")][OfMetadata(object, "name")] = read_(object);
  }

  const Reader read_;
  mutable std::mutex mutex_;
  bool listed_ = false;
  std::map<std::string, ByName> known_;  // by namespace
};

}  // namespace crossover::extender::admission
