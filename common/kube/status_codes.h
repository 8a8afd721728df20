// Names the HTTP status codes that the API server answers with.
#pragma once

namespace crossover::kube {

inline constexpr int kOk = 200, kCreated = 201;
inline constexpr int kUnauthorized = 401, kForbidden = 403, kNotFound = 404, kConflict = 409, kGone = 410;
inline constexpr int kTooManyRequests = 429, kUnavailable = 503, kGatewayTimeout = 504;

}  // namespace crossover::kube
