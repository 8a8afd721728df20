// Who leads, by the Lease that schedulers renew. Pure: instants are seconds of this machine's own clock,
// since those of others may be wrong.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace crossover::extender {

// What a holder has written.
struct LeaseRecord {
  std::string holder;   // empty: nobody
  std::string renewed;  // as it stands there: only that it changes counts
  double duration_s = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// Of a Lease as the API server sends it, whatever it holds; without a duration of 1 s to a day, nobody holds
// it.
LeaseRecord ParseLease(const nlohmann::json& lease);

// Whether the scheduler of this pod holds the Lease. One thread at a time.
class LeaseJudge {
 public:
  // `host`: of this pod. Its scheduler calls itself HOST_ID, with an ID that is new with each start.
  explicit LeaseJudge(std::string host) : prefix_(std::move(host) + "_") {}

  void Saw(const LeaseRecord& record, double now_s);  // again, too: what has not changed is no sign of life
  void Gone() { record_.reset(); }                    // the Lease is not there

  // The holder is ours, and has changed the record less than the Lease's duration ago.
  bool Leads(double now_s) const;
  std::string holder() const { return record_ ? record_->holder : ""; }

 private:
  const std::string prefix_;
  std::optional<LeaseRecord> record_;
  double changed_s_ = 0;
};

}  // namespace crossover::extender
