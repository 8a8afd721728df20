// Says how to reach the API server of a cluster, and as which account.
#pragma once

#include <optional>
#include <string>

namespace crossover::kube {

struct Access {
  std::string server;      // https://host:port
  std::string ca_file;     // certificate of the authority that signed the server's certificate
  std::string token_file;  // read again for each request: the kubelet rewrites it long before it expires
};

// Returns the access that a pod's service account has. Returns nothing, with the reason in `error`, outside
// of a pod.
std::optional<Access> InClusterAccess(std::string* error);

}  // namespace crossover::kube
