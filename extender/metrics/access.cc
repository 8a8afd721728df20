#include "extender/metrics/access.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "common/kube/json.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr std::chrono::seconds kBelieved{10};
constexpr std::size_t kMostKnown = 64;
constexpr std::string_view kBearer = "Bearer ";
constexpr int kOk = 200, kWho = 401, kMayNot = 403, kNobodyKnows = 503;

bool IsTrue(const json& value) { return value.is_boolean() && value.get<bool>(); }

// The status of an object that the API server fills in and does not keep; nothing where it does not answer.
std::optional<json> Asked(const kube::Client& client, const char* path, const json& review) {
  const kube::Response response = client.Send({.method = "POST", .path = path, .body = review.dump()});
  if (response.status != 201 && response.status != 200) return std::nullopt;
  const json answer = json::parse(response.body, nullptr, false);
  return At(answer, "status");
}

}  // namespace

int MetricsAccess::StatusFor(const std::string& authorization) {
  if (authorization.compare(0, kBearer.size(), kBearer) != 0) return kWho;
  const std::string token = authorization.substr(kBearer.size());
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(token);
    if (found != known_.end() && clock_() < found->second.until) return found->second.status;
  }
  const int status = Ask(token);
  const std::lock_guard lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();  // made up tokens must not fill the memory
  if (status != kNobodyKnows) known_[token] = {status, clock_() + kBelieved};
  return status;
}

int MetricsAccess::Ask(const std::string& token) const {
  const auto who = Asked(
      client_, "/apis/authentication.k8s.io/v1/tokenreviews",
      {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  if (!who) return kNobodyKnows;
  if (!IsTrue(At(*who, "authenticated"))) return kWho;
  const json& user = At(*who, "user");
  const json& groups = At(user, "groups");
  const auto may = Asked(client_, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                         {{"apiVersion", "authorization.k8s.io/v1"},
                          {"kind", "SubjectAccessReview"},
                          {"spec",
                           {{"user", Text(At(user, "username"))},
                            {"groups", groups.is_array() ? groups : json::array()},
                            {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}}});
  if (!may) return kNobodyKnows;
  return IsTrue(At(*may, "allowed")) ? kOk : kMayNot;
}

}  // namespace crossover::extender
