#include "extender/election/lease.h"

#include <nlohmann/json.hpp>

#include "common/kube/json.h"

namespace crossover::extender {

LeaseRecord ParseLease(const nlohmann::json& lease) {
  constexpr double kShortest = 1;
  constexpr double kLongest = 86'400;
  const nlohmann::json& spec = kube::At(lease, "spec");
  const nlohmann::json& duration = kube::At(spec, "leaseDurationSeconds");
  if (!duration.is_number()) return {};
  const double seconds = duration.get<double>();
  if (seconds < kShortest || seconds > kLongest) return {};
  return {.holder = kube::Text(kube::At(spec, "holderIdentity")),
          .renewed = kube::Text(kube::At(spec, "renewTime")),
          .duration_s = seconds};
}

void LeaseJudge::Saw(const LeaseRecord& record, double now_s) {
  if (record_ == record) return;
  record_ = record;
  changed_s_ = now_s;
}

bool LeaseJudge::Leads(double now_s) const {
  return record_ && record_->holder.size() > prefix_.size() &&
         record_->holder.compare(0, prefix_.size(), prefix_) == 0 && now_s - changed_s_ < record_->duration_s;
}

}  // namespace crossover::extender
