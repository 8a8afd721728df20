// Decides when each certificate of the webhook is renewed. Pure.
//
// An authority is replaced in steps. After each step, every API server that has heard of the step before
// trusts the certificate of every replica. First the new authority is made and added to the caBundle. Once
// the bundle has stood there for a while, replicas serve a certificate that the new authority signed. Once
// all replicas do, the old authority is removed from the bundle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "extender/admission/certificates.h"

namespace crossover::extender::admission {

// Stored is the content of the Secret. Any part of it may be empty or invalid.
struct Stored {
  Pair authority;
  Pair serving;
  Pair next;             // the authority that follows; empty: none
  std::string previous;  // certificate of the authority before; empty: none

  friend bool operator==(const Stored&, const Stored&) = default;
};

struct RotationSettings {
  std::vector<std::string> names;        // DNS names by which API servers reach the webhook
  std::int64_t bundle_settles_s = 60;    // until all API servers know a new caBundle
  std::int64_t replicas_settle_s = 600;  // until all replicas serve the certificate in the Secret
};

// A Step is one change of what is stored.
enum class Step {
  kNothing,
  kMakeAll,         // no authority can be used: make one, and a certificate
  kStageAuthority,  // make the authority that follows
  kTakeNext,        // the new authority signs from now on
  kRenewServing,    // make a new serving certificate
  kDropPrevious
};

// Returns the step that is due. `bundle_stands_s` says for how long the caBundle has been what BundleOf
// returns; it is negative if it is not.
Step NextStep(const Stored& stored, const RotationSettings& settings, std::int64_t now_s,
              std::int64_t bundle_stands_s);
// Returns what must be stored after `step`. Throws what MakeAuthority and MakeServing throw.
Stored Taken(Step step, const Stored& stored, const RotationSettings& settings, std::int64_t now_s);

// Returns whether the stored certificate can be served now: it is valid, has all names, and the authority
// signed it.
bool CanServe(const Stored& stored, const RotationSettings& settings, std::int64_t now_s);

// Returns the caBundle for the stored authorities, in PEM.
std::string BundleOf(const Stored& stored);

}  // namespace crossover::extender::admission
