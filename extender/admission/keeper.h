// Keeps the webhook's certificate: in a Secret, in caBundle of the webhook's configuration, and in the file
// that this replica serves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "extender/admission/rotation.h"

namespace crossover::extender::admission {

// The objects of the API server that a keeper looks after. Each call may fail: then the keeper tries again at
// its next look.
class CertificateObjects {
 public:
  struct Secret {
    std::string version;  // resourceVersion; empty: there is none yet
    std::map<std::string, std::string> data;
  };

  virtual ~CertificateObjects() = default;
  virtual std::optional<Secret> ReadSecret() = 0;
  // Only over the version that was read; false where somebody else was faster, too. What is there by other
  // names stays.
  virtual bool WriteSecret(const Secret& secret) = 0;
  // caBundle of each webhook of the configuration, as PEM.
  virtual std::optional<std::map<std::string, std::string>> ReadBundles() = 0;
  virtual bool WriteBundles(const std::string& bundle) = 0;
};

// What is in the Secret, by name: always all names, those of what is not there with nothing. The certificate
// in force has the names that type kubernetes.io/tls has.
std::map<std::string, std::string> DataOf(const Stored& stored);
Stored StoredIn(const std::map<std::string, std::string>& data);

class Keeper {
 public:
  struct Settings {
    RotationSettings rotation;
    // Certificate and key together, replaced at once by rename: a reader never has one of each.
    std::string file;
  };
  struct Times {
    std::int64_t now_s = 0;     // since 1970
    std::int64_t steady_s = 0;  // of a clock that nobody sets
  };

  // `objects` outlives it.
  Keeper(Settings settings, CertificateObjects* objects);

  // One look, by one thread at a time: takes the next step if `leads`, and writes the file. What could not be
  // done is in `complaint()` until it could. Never throws.
  void Look(const Times& times, bool leads) noexcept;

  // A certificate that can be served is in the file.
  bool ready() const { return !served_.empty(); }
  const std::string& complaint() const { return complaint_; }

 private:
  bool KeepBundles(const Stored& stored, const Times& times);
  bool Serve(const Stored& stored, std::int64_t now_s);
  std::string Looked(const Times& times, bool leads);

  const Settings settings_;
  CertificateObjects* const objects_;
  std::string served_;  // what the file has
  std::string bundle_;  // that all webhooks were seen to have
  std::int64_t bundle_since_s_ = 0;
  std::string complaint_;
};

}  // namespace crossover::extender::admission
