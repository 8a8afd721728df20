// Collects the objects of a list for handlers that want the list as a whole.
#pragma once

#include <nlohmann/json.hpp>

#include "common/kube/list_watch.h"

namespace crossover::kube {

class WholeLists : public ListWatch::Sink {
 public:
  // REQUIRES: `handler` outlives this object.
  explicit WholeLists(ListWatch::Handler* handler) : handler_(handler) {}

  void OnListBegin() override { items_ = nlohmann::json::array(); }
  void OnListed(nlohmann::json&& object) override { items_.push_back(std::move(object)); }
  void OnListEnd() override {
    handler_->OnList(items_);
    items_ = nlohmann::json::array();
  }
  void OnChange(const nlohmann::json& object) override { handler_->OnChange(object); }
  void OnDelete(const nlohmann::json& object) override { handler_->OnDelete(object); }

 private:
  ListWatch::Handler* const handler_;
  nlohmann::json items_;
};

}  // namespace crossover::kube
