// Keeps the names of the resources that the ResourceQuotas of each namespace limit, from a watch of the API
// server. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "common/kube/list_watch.h"

namespace crossover::extender::admission {

class Quotas : public kube::ListWatch::Handler {
 public:
  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  void OnDelete(const nlohmann::json& object) override;

  // Returns the names of the resources that the quotas of the namespace limit, all quotas together. Returns
  // nothing before the first list.
  std::optional<std::set<std::string>> LimitedIn(const std::string& name_space) const;

 private:
  using ByName = std::map<std::string, std::set<std::string>>;

  static void Take(const nlohmann::json& object, std::map<std::string, ByName>* known);

  mutable std::mutex mutex_;
  bool listed_ = false;
  std::map<std::string, ByName> known_;  // by namespace
};

}  // namespace crossover::extender::admission
