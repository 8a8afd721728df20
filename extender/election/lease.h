// Judges who leads by the Lease that the schedulers renew. Pure. Times are seconds of this machine's own
// clock, because the clocks of other machines may be wrong.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace crossover::extender {

// A LeaseRecord is what the holder of a Lease wrote.
struct LeaseRecord {
  std::string holder;   // empty: no holder
  std::string renewed;  // as written; only a change of it counts
  double duration_s = 0;

  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

// Returns the record in a Lease, as the API server sends it. Trusts nothing in it. A Lease without a
// duration from 1 s to a day counts as one without a holder.
LeaseRecord ParseLease(const nlohmann::json& lease);

// A LeaseJudge says whether the scheduler of this pod holds the Lease. REQUIRES: one thread at a time.
class LeaseJudge {
 public:
  // `host` is the host name of this pod. Its scheduler calls itself HOST_ID, with an ID that is new at each
  // start.
  explicit LeaseJudge(std::string host) : prefix_(std::move(host) + "_") {}

  // Takes the record that was seen at `now_s`. The same record again does not extend the leadership.
  void Saw(const LeaseRecord& record, double now_s);
  // Notes that the Lease does not exist.
  void Gone() { record_.reset(); }

  // Returns whether this pod's scheduler holds the Lease and changed the record less than the Lease's
  // duration ago.
  bool Leads(double now_s) const;
  // Returns the holder that the last record names, or "".
  std::string holder() const { return record_ ? record_->holder : ""; }

 private:
  const std::string prefix_;
  std::optional<LeaseRecord> record_;
  double changed_s_ = 0;
};

}  // namespace crossover::extender
