#include "common/kube/metrics_access.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/kube/json.h"
#include "common/kube/status_codes.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

// Kubelets keep a permission for as long. A scrape every 15 s should not cause a request each time.
constexpr std::chrono::minutes kYesBelieved{2};
constexpr std::chrono::seconds kNoBelieved{10};
constexpr std::chrono::hours kBelievedWithoutAnAnswer{1};
constexpr std::size_t kMostKnown = 64;  // of each kind
constexpr int kMostAsking = 2;
constexpr std::string_view kBearer = "Bearer ";

// Returns whether `text` may be a token. A header may hold any bytes. The API server is not asked about one
// that cannot be a token.
bool MayBeToken(const std::string& text) {
  constexpr char kFirst = '!', kLast = '~';
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= kFirst && c <= kLast; });
}

bool IsTrue(const json& value) { return value.is_boolean() && value.get<bool>(); }

// Posts `review`, an object that the API server fills in and does not store. Returns its status, or nothing
// if the API server does not answer.
std::optional<json> Asked(const Client& client, const char* path, const json& review) {
  const Response response = client.Send({.method = "POST", .path = path, .body = Dump(review)});
  if (response.status != 201 && response.status != 200) return std::nullopt;
  const json answer = json::parse(response.body, nullptr, false);
  return At(answer, "status");
}

}  // namespace

int MetricsAccess::StatusFor(const std::string& authorization) {
  if (authorization.compare(0, kBearer.size(), kBearer) != 0) return kUnauthorized;
  const std::string token = authorization.substr(kBearer.size());
  if (!MayBeToken(token)) return kUnauthorized;
  int otherwise = kUnavailable;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_();
    if (const auto found = let_in_.find(token); found != let_in_.end()) {
      if (now - found->second < kYesBelieved) return kOk;
      if (now - found->second < kBelievedWithoutAnAnswer) otherwise = kOk;
    }
    const auto found = sent_away_.find(token);
    if (found != sent_away_.end() && now - found->second.said < kNoBelieved) return found->second.status;
    if (asking_ == kMostAsking) return otherwise;
    ++asking_;
  }
  const int status = Ask(token);
  const std::lock_guard lock(mutex_);
  --asking_;
  if (status == kUnavailable) return otherwise;
  Keep(token, status);
  return status;
}

const char* MetricsAccess::WhyNot(int status) {
  switch (status) {
    case kUnauthorized:
      return "Authorization: expected Bearer and a token that the API server accepts";
    case kForbidden:
      return "the account of the token may not get the path /metrics: expected a ClusterRole with it in "
             "nonResourceURLs";
    default:
      return "the API server has not said whether the token may get the path /metrics: try again";
  }
}

// Remembers the answer. The bounds keep invented tokens from filling the memory. The two maps keep them
// from displacing tokens that are allowed.
void MetricsAccess::Keep(const std::string& token, int status) {
  let_in_.erase(token);
  if (status == kOk) {
    if (let_in_.size() >= kMostKnown) let_in_.clear();
    let_in_[token] = clock_();
  } else {
    if (sent_away_.size() >= kMostKnown) sent_away_.clear();
    sent_away_[token] = {status, clock_()};
  }
}

int MetricsAccess::Ask(const std::string& token) const {
  const auto who = Asked(
      client_, "/apis/authentication.k8s.io/v1/tokenreviews",
      {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", token}}}});
  if (!who) return kUnavailable;
  if (!IsTrue(At(*who, "authenticated"))) return kUnauthorized;
  const json& user = At(*who, "user");
  const json& groups = At(user, "groups");
  const auto may = Asked(client_, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                         {{"apiVersion", "authorization.k8s.io/v1"},
                          {"kind", "SubjectAccessReview"},
                          {"spec",
                           {{"user", Text(At(user, "username"))},
                            {"groups", groups.is_array() ? groups : json::array()},
                            {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}}});
  if (!may) return kUnavailable;
  return IsTrue(At(*may, "allowed")) ? kOk : kForbidden;
}

}  // namespace crossover::kube
