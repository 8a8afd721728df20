#include "extender/admission/rotation.h"

#include <algorithm>

namespace crossover::extender::admission {
namespace {

bool HoldsAt(const Facts& facts, std::int64_t now_s) {
  return facts.from_s <= now_s && now_s < facts.until_s;
}

bool CanSign(const Pair& authority, std::int64_t now_s) {
  const auto facts = FactsOf(authority);
  return facts && facts->authority && HoldsAt(*facts, now_s);
}

// Returns whether two thirds of the certificate's lifetime are over.
bool IsOld(const Pair& pair, std::int64_t now_s) {
  const auto facts = FactsOf(pair);
  return facts && (now_s - facts->made_s()) * 3 >= (facts->until_s - facts->made_s()) * 2;
}

}  // namespace

bool CanServe(const Stored& stored, const RotationSettings& settings, std::int64_t now_s) {
  const auto facts = FactsOf(stored.serving);
  return facts && facts->serves && HoldsAt(*facts, now_s) &&
         IsSignedBy(stored.serving.certificate, stored.authority.certificate) &&
         std::all_of(settings.names.begin(), settings.names.end(), [&facts](const std::string& name) {
           return std::find(facts->names.begin(), facts->names.end(), name) != facts->names.end();
         });
}

Step NextStep(const Stored& stored, const RotationSettings& settings, std::int64_t now_s,
              std::int64_t bundle_stands_s) {
  if (!CanSign(stored.authority, now_s)) return Step::kMakeAll;
  if (!CanServe(stored, settings, now_s)) return Step::kRenewServing;
  if (stored.next != Pair()) {
    if (!CanSign(stored.next, now_s)) return Step::kStageAuthority;
    return bundle_stands_s >= settings.bundle_settles_s ? Step::kTakeNext : Step::kNothing;
  }
  if (IsOld(stored.authority, now_s)) return Step::kStageAuthority;
  if (IsOld(stored.serving, now_s)) return Step::kRenewServing;
  const auto serving = FactsOf(stored.serving);
  if (!stored.previous.empty() && now_s - serving->made_s() >= settings.replicas_settle_s)
    return Step::kDropPrevious;
  return Step::kNothing;
}

Stored Taken(Step step, const Stored& stored, const RotationSettings& settings, std::int64_t now_s) {
  Stored after = stored;
  switch (step) {
    case Step::kNothing:
      break;
    case Step::kMakeAll:
      after = {};
      after.authority = MakeAuthority(now_s);
      after.serving = MakeServing(after.authority, settings.names, now_s);
      break;
    case Step::kStageAuthority:
      after.next = MakeAuthority(now_s);
      break;
    case Step::kTakeNext:
      after.previous = stored.authority.certificate;
      after.authority = stored.next;
      after.next = {};
      after.serving = MakeServing(after.authority, settings.names, now_s);
      break;
    case Step::kRenewServing:
      after.serving = MakeServing(stored.authority, settings.names, now_s);
      break;
    case Step::kDropPrevious:
      after.previous.clear();
      break;
  }
  return after;
}

std::string BundleOf(const Stored& stored) {
  std::string bundle;
  for (const std::string& one : {stored.authority.certificate, stored.next.certificate, stored.previous}) {
    // The API server refuses a caBundle if any part of it is not a certificate.
    if (IsSignedBy(one, one)) bundle += one;
  }
  return bundle;
}

}  // namespace crossover::extender::admission
