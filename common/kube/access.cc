#include "common/kube/access.h"

#include <cstdlib>

namespace crossover::kube {
namespace {

constexpr char kDirectory[] = "/var/run/secrets/kubernetes.io/serviceaccount";

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets a variable
  return value != nullptr ? value : "";
}

}  // namespace

std::optional<Access> InClusterAccess(std::string* error) {
  const std::string host = Variable("KUBERNETES_SERVICE_HOST");
  const std::string port = Variable("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    *error = "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set, as they are in pods";
    return std::nullopt;
  }
  const bool ipv6 = host.find(':') != std::string::npos;
  return Access{.server = "https://" + (ipv6 ? "[" + host + "]" : host) + ":" + port,
                .ca_file = std::string(kDirectory) + "/ca.crt",
                .token_file = std::string(kDirectory) + "/token"};
}

}  // namespace crossover::kube
