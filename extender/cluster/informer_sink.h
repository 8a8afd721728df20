// Parses the objects of a watch for a listener, and finds out after a new list which objects are gone.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "common/kube/list_watch.h"

namespace crossover::extender {

// An InformerSink passes parsed objects of one kind on. It identifies each by a unique text, its key, and
// ignores an object that `parse` returns nothing for.
template <class Object>
class InformerSink : public kube::ListWatch::Sink {
 public:
  struct Means {
    std::function<std::optional<Object>(const nlohmann::json&)> parse;
    std::function<std::string(const Object&)> key;
    std::function<void(Object)> put;
    std::function<void(const std::string& key)> gone;
  };
  explicit InformerSink(Means means) : means_(std::move(means)) {}

  void OnListBegin() override { unseen_ = known_; }
  void OnListed(nlohmann::json&& object) override {
    if (auto parsed = means_.parse(object)) {
      unseen_.erase(means_.key(*parsed));
      Put(*std::move(parsed));
    }
  }
  void OnListEnd() override {
    for (const std::string& key : unseen_) Forget(key);
    unseen_ = {};
  }
  void OnChange(const nlohmann::json& object) override {
    if (auto parsed = means_.parse(object)) Put(*std::move(parsed));
  }
  void OnDelete(const nlohmann::json& object) override {
    if (const auto parsed = means_.parse(object)) Forget(means_.key(*parsed));
  }

 private:
  void Put(Object object) {
    known_.insert(means_.key(object));
    means_.put(std::move(object));
  }
  void Forget(const std::string& key) {
    if (known_.erase(key) > 0) means_.gone(key);
  }

  Means means_;
  std::unordered_set<std::string> known_;   // keys of all objects that were passed on and are not gone
  std::unordered_set<std::string> unseen_;  // keys from known_ that the current list has not named yet
};

}  // namespace crossover::extender
