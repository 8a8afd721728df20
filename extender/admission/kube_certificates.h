// The keeper's objects, by the API server. Where each of them is has been said before; a Secret that is not
// there is made, a configuration is not. For one thread at a time, but for Stop().
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/kube/client.h"
#include "extender/admission/keeper.h"

namespace crossover::extender::admission {

class KubeCertificates : public CertificateObjects {
 public:
  struct Names {
    std::string name_space;
    std::string secret;
    std::string configuration;  // of the MutatingWebhookConfiguration
  };

  KubeCertificates(kube::Access access, Names names);

  std::optional<Secret> ReadSecret() override;
  bool WriteSecret(const Secret& secret) override;
  std::optional<std::map<std::string, std::string>> ReadBundles() override;
  bool WriteBundles(const std::string& bundle) override;

  // Ends what is under way; all later calls fail.
  void Stop() { client_.Stop(); }

 private:
  nlohmann::json ObjectAt(const std::string& path);
  // A line of the log where it is not what was said last.
  void Complain(const std::string& path, const kube::Response& response);

  kube::Client client_;
  const Names names_;
  std::string complaint_;
};

}  // namespace crossover::extender::admission
