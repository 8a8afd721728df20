// Makes and reads the keys and certificates by which API servers trust the webhook: ECDSA on P-256, with
// OpenSSL. Times are seconds since 1970; the caller passes the current one. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace crossover::extender::admission {

inline constexpr std::int64_t kAuthorityLasts_s = 10LL * 365 * 24 * 3600;
inline constexpr std::int64_t kServingLasts_s = 365LL * 24 * 3600;
// Certificates are valid from this long before they are made, for API servers whose clocks are behind.
inline constexpr std::int64_t kClockSkew_s = 3600;

// A Pair is a certificate and its private key, in PEM. `key` is empty if only the certificate is known.
struct Pair {
  std::string certificate;
  std::string key;

  friend bool operator==(const Pair&, const Pair&) = default;
};

// Returns a new self-signed authority. Throws std::runtime_error if OpenSSL fails.
Pair MakeAuthority(std::int64_t now_s);
// Returns a new server certificate for the DNS names `names`, signed by `authority`. Throws
// std::runtime_error if OpenSSL fails, `authority` cannot be read, `names` is empty, or a name is not a DNS
// name.
Pair MakeServing(const Pair& authority, const std::vector<std::string>& names, std::int64_t now_s);

// Facts are what a certificate says about itself.
struct Facts {
  std::int64_t from_s = 0;  // valid in [from_s, until_s)
  std::int64_t until_s = 0;
  bool authority = false;          // may sign other certificates
  bool serves = false;             // may be a server's certificate
  std::vector<std::string> names;  // DNS names that it is valid for

  std::int64_t made_s() const { return from_s + kClockSkew_s; }
};

// Returns the facts of the pair's certificate, or nothing if the certificate or the key cannot be read or
// the two do not belong together.
std::optional<Facts> FactsOf(const Pair& pair);
// Returns whether the key of `authority` signed `certificate`. Checks the signature alone, not the
// validity.
bool IsSignedBy(const std::string& certificate, const std::string& authority);

}  // namespace crossover::extender::admission
