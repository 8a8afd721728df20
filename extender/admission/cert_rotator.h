// Keeps the webhook's certificate in three places: a Secret, the caBundle of the webhook's configuration,
// and the file that this replica serves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "extender/admission/rotation.h"

namespace crossover::extender::admission {

// CertificateObjects reads and writes a CertRotator's objects at the API server. Each call may fail: reads
// then return nothing, and writes return false. The CertRotator tries again at its next look.
class CertificateObjects {
 public:
  struct Secret {
    std::string version;  // resourceVersion; empty: there is no Secret yet
    std::map<std::string, std::string> data;
  };

  virtual ~CertificateObjects() = default;
  // Returns the Secret, or one with an empty version if there is none.
  virtual std::optional<Secret> ReadSecret() = 0;
  // Writes the Secret if it still has the version that was read, or creates it if that is empty. Returns
  // whether it did; false, too, if another writer was faster. Data under other names stays.
  virtual bool WriteSecret(const Secret& secret) = 0;
  // Returns the caBundle of each webhook of the configuration, in PEM, by the webhook's name.
  virtual std::optional<std::map<std::string, std::string>> ReadBundles() = 0;
  // Writes `bundle`, in PEM, as the caBundle of each webhook of the configuration. Returns whether it did.
  virtual bool WriteBundles(const std::string& bundle) = 0;
};

// Convert between `Stored` and the data of the Secret, by name. DataOf always returns all names; a missing
// value is "". The certificate in force has the names of type kubernetes.io/tls.
std::map<std::string, std::string> DataOf(const Stored& stored);
Stored StoredIn(const std::map<std::string, std::string>& data);

// A CertRotator creates and renews the webhook's certificate. REQUIRES: one thread at a time.
class CertRotator {
 public:
  struct Settings {
    RotationSettings rotation;
    // `file` gets the certificate and the key. A rename replaces it in one step, so a reader never sees an
    // old certificate with a new key.
    std::string file;
    // Complaints call the Secret and the MutatingWebhookConfiguration by these names.
    std::string secret{}, configuration{};
  };
  struct Times {
    std::int64_t now_s = 0;     // seconds since 1970
    std::int64_t steady_s = 0;  // seconds of the steady clock
  };

  // `objects` must outlive the CertRotator.
  CertRotator(Settings settings, CertificateObjects* objects);

  // Reads the Secret and, if `leads`, takes the next step of the rotation and writes the Secret and the
  // caBundle. Then writes the certificate of the Secret to the file if the file has another one. If anything
  // fails, complaint() says what failed until a later call succeeds. Does not throw.
  void Look(const Times& times, bool leads) noexcept;

  // Returns whether the file holds a certificate that can be served.
  bool ready() const { return !served_.empty(); }
  // Returns what the last Look() could not do, or "".
  const std::string& complaint() const { return complaint_; }

 private:
  bool KeepBundles(const Stored& stored, const Times& times);
  bool Serve(const Stored& stored, std::int64_t now_s);
  std::string Looked(const Times& times, bool leads);

  const Settings settings_;
  CertificateObjects* const objects_;
  std::string served_;  // the content of the file
  std::string bundle_;  // the caBundle that all webhooks were last seen to have; empty: they differ
  std::int64_t bundle_since_s_ = 0;  // since when, in seconds of the steady clock
  std::string complaint_;
};

}  // namespace crossover::extender::admission
