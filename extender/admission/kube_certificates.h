// Reads and writes the CertRotator's objects at the API server. WriteSecret creates a Secret that does not
// exist; WriteBundles does not create a configuration. For one thread at a time, except Stop().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/kube/client.h"
#include "extender/admission/cert_rotator.h"

namespace crossover::extender::admission {

class KubeCertificates : public CertificateObjects {
 public:
  struct Names {
    std::string name_space;
    std::string secret;
    std::string configuration;  // name of the MutatingWebhookConfiguration
  };

  KubeCertificates(kube::Access access, Names names);

  std::optional<Secret> ReadSecret() override;
  bool WriteSecret(const Secret& secret) override;
  std::optional<std::map<std::string, std::string>> ReadBundles() override;
  bool WriteBundles(const std::string& bundle) override;

  // Ends the request that is under way. All later calls fail. Thread-safe.
  void Stop() { client_.Stop(); }

 private:
  nlohmann::json ObjectAt(const std::string& path);
  // Logs why a request to `path` failed, unless the last line said the same.
  void Complain(const std::string& path, const kube::Response& response);

  kube::Client client_;
  const Names names_;
  std::string complaint_;
};

}  // namespace crossover::extender::admission
