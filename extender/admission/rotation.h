// When which certificate of the webhook is made anew. Pure.
//
// An authority that is to be replaced is replaced in steps, so that at every moment each API server that has
// heard of the last step trusts what each replica of the webhook serves: the new one is made and put beside
// the old one into caBundle; once that has stood there for a while, a certificate of it is served; once all
// replicas do, the old one is taken out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "extender/admission/certificates.h"

namespace crossover::extender::admission {

// What the Secret has. Anything in it may be empty, or not what it should be.
struct Stored {
  Pair authority;
  Pair serving;
  Pair next;             // an authority that is to follow; empty: none
  std::string previous;  // certificate of the one before; empty: none

  friend bool operator==(const Stored&, const Stored&) = default;
};

struct RotationSettings {
  std::vector<std::string> names;        // under which API servers reach the webhook
  std::int64_t bundle_settles_s = 60;    // until all API servers have heard of a caBundle
  std::int64_t replicas_settle_s = 600;  // until all replicas serve what the Secret has
};

enum class Step {
  kNothing,
  kMakeAll,         // there is no authority that can be used
  kStageAuthority,  // makes the one that is to follow
  kTakeNext,        // it signs from here on
  kRenewServing,
  kDropPrevious
};

// `bundle_stands_s`: for how long caBundle has been what BundleOf says; less than 0 where it is not.
Step NextStep(const Stored& stored, const RotationSettings& settings, std::int64_t now_s,
              std::int64_t bundle_stands_s);
// What is to be stored once it is taken.
Stored Taken(Step step, const Stored& stored, const RotationSettings& settings, std::int64_t now_s);

// Whether it can be served now.
bool CanServe(const Stored& stored, const RotationSettings& settings, std::int64_t now_s);

// What caBundle is to be, as PEM.
std::string BundleOf(const Stored& stored);

}  // namespace crossover::extender::admission
