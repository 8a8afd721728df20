#include "extender/admission/cert_rotator.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <utility>

#include "common/base/fd.h"
#include "common/files/write_all.h"
#include "common/logging/log.h"

namespace crossover::extender::admission {
namespace {

constexpr char kCertificate[] = "tls.crt", kKey[] = "tls.key";
constexpr char kAuthority[] = "ca.crt", kAuthorityKey[] = "ca.key";
constexpr char kNext[] = "next-ca.crt", kNextKey[] = "next-ca.key", kPrevious[] = "previous-ca.crt";
constexpr mode_t kOwnerAlone = 0600;

// Writes `text` to a new file and renames it to `path`. Returns "", or why that failed.
std::string Replace(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  const auto failed = [&path] { return path + ": " + std::strerror(errno); };
  const base::UniqueFd file(open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerAlone));
  if (!file) return failed();
  if (!files::WriteAll(file.get(), text)) return failed();
  return rename(fresh.c_str(), path.c_str()) == 0 ? "" : failed();
}

const char* NameOf(Step step) {
  switch (step) {
    case Step::kNothing:
      break;
    case Step::kMakeAll:
      return "an authority and a certificate were made";
    case Step::kStageAuthority:
      return "an authority was made, which will follow the present one";
    case Step::kTakeNext:
      return "the new authority signs from now on";
    case Step::kRenewServing:
      return "a new certificate was made";
    case Step::kDropPrevious:
      return "the previous authority was taken out of the Secret";
  }
  return "";
}

}  // namespace

std::map<std::string, std::string> DataOf(const Stored& stored) {
  return {{kCertificate, stored.serving.certificate},
          {kKey, stored.serving.key},
          {kAuthority, stored.authority.certificate},
          {kAuthorityKey, stored.authority.key},
          {kNext, stored.next.certificate},
          {kNextKey, stored.next.key},
          {kPrevious, stored.previous}};
}

Stored StoredIn(const std::map<std::string, std::string>& data) {
  const auto at = [&data](const char* key) {
    const auto found = data.find(key);
    return found == data.end() ? std::string() : found->second;
  };
  return {.authority = {at(kAuthority), at(kAuthorityKey)},
          .serving = {at(kCertificate), at(kKey)},
          .next = {at(kNext), at(kNextKey)},
          .previous = at(kPrevious)};
}

CertRotator::CertRotator(Settings settings, CertificateObjects* objects)
    : settings_(std::move(settings)), objects_(objects) {}

bool CertRotator::KeepBundles(const Stored& stored, const Times& times) {
  const std::string wanted = BundleOf(stored);
  const auto bundles = objects_->ReadBundles();
  if (!bundles) {
    bundle_.clear();
    return false;
  }
  const bool so =
      !bundles->empty() && std::all_of(bundles->begin(), bundles->end(),
                                       [&wanted](const auto& one) { return one.second == wanted; });
  if (so && bundle_ != wanted) {
    bundle_ = wanted;
    bundle_since_s_ = times.steady_s;
  }
  if (so) return true;
  bundle_.clear();
  return objects_->WriteBundles(wanted);
}

bool CertRotator::Serve(const Stored& stored, std::int64_t now_s) {
  if (!CanServe(stored, settings_.rotation, now_s)) return false;
  const std::string wanted = stored.serving.certificate + stored.serving.key;
  if (wanted == served_) return true;
  const std::string failure = Replace(settings_.file, wanted);
  if (!failure.empty()) throw std::runtime_error(failure);
  served_ = wanted;
  return true;
}

std::string CertRotator::Looked(const Times& times, bool leads) {
  const auto secret = objects_->ReadSecret();
  if (!secret) return "Secret " + settings_.secret + ": it could not be read";
  Stored stored = StoredIn(secret->data);
  if (leads) {
    const bool kept = KeepBundles(stored, times);
    const bool stands = bundle_ == BundleOf(stored) && !bundle_.empty();
    const Step step =
        NextStep(stored, settings_.rotation, times.now_s, stands ? times.steady_s - bundle_since_s_ : -1);
    if (step != Step::kNothing) {
      Stored after = Taken(step, stored, settings_.rotation, times.now_s);
      if (!objects_->WriteSecret({secret->version, DataOf(after)}))
        return "Secret " + settings_.secret + ": it could not be written";
      logging::Info(std::string("webhook: ") + NameOf(step));
      stored = std::move(after);
    }
    // API servers should trust a new certificate as soon as possible, so the caBundle is written in the
    // same look.
    if ((!kept || step != Step::kNothing) && !KeepBundles(stored, times))
      return Serve(stored, times.now_s), "MutatingWebhookConfiguration " + settings_.configuration +
                                             ": it could not be read or written, or lists no webhooks";
  }
  if (!Serve(stored, times.now_s))
    return "Secret " + settings_.secret +
           ": it has no certificate that can be served: the replica that leads makes one";
  return "";
}

void CertRotator::Look(const Times& times, bool leads) noexcept try {
  std::string complaint = Looked(times, leads);
  if (!complaint.empty() && complaint != complaint_) logging::Warn("webhook: " + complaint);
  complaint_ = std::move(complaint);
} catch (const std::exception& failure) {
  if (complaint_ != failure.what()) logging::Warn(std::string("webhook: ") + failure.what());
  complaint_ = failure.what();
}

}  // namespace crossover::extender::admission
