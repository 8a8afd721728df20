// How to reach the API server of a cluster, and as whom.
#pragma once

#include <optional>
#include <string>

namespace crossover::kube {

struct Access {
  std::string server;      // https://host:port
  std::string ca_file;     // of the authority that the server's certificate is from
  std::string token_file;  // read anew with each request: a kubelet rewrites it long before it ends
};

// As a pod's service account has it. Nothing, with the reason in `error`, outside of a pod.
std::optional<Access> InClusterAccess(std::string* error);

}  // namespace crossover::kube
