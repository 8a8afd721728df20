// Keys and certificates by which API servers know the webhook: ECDSA on P-256, made with OpenSSL. Instants
// are seconds since 1970 and told by the caller. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossover::extender::admission {

inline constexpr std::int64_t kAuthorityLasts_s = 10LL * 365 * 24 * 3600;
inline constexpr std::int64_t kServingLasts_s = 365LL * 24 * 3600;
// Certificates hold from that long before they are made, for API servers whose clocks are behind.
inline constexpr std::int64_t kClockSkew_s = 3600;

// As PEM. `key` is empty where only the certificate is known.
struct Pair {
  std::string certificate;
  std::string key;

  friend bool operator==(const Pair&, const Pair&) = default;
};

// These throw std::runtime_error where OpenSSL fails, or a name is no DNS name.
Pair MakeAuthority(std::int64_t now_s);
Pair MakeServing(const Pair& authority, const std::vector<std::string>& names, std::int64_t now_s);

struct Facts {
  std::int64_t from_s = 0;  // it holds within [from, until)
  std::int64_t until_s = 0;
  bool authority = false;          // may sign others
  bool serves = false;             // may be a server's
  std::vector<std::string> names;  // DNS names it is for

  std::int64_t made_s() const { return from_s + kClockSkew_s; }
};

// Nothing where certificate or key cannot be read, or do not belong together.
std::optional<Facts> FactsOf(const Pair& pair);
// Whether the signature is that authority's.
bool IsSignedBy(const std::string& certificate, const std::string& authority);

}  // namespace crossover::extender::admission
