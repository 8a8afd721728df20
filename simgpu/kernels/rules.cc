#include "simgpu/kernels/rules.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "common/base/refusal.h"

namespace simgpu {
namespace {

using crossover::base::Refusal;
using crossover::base::Shown;

constexpr double kMostNs = 3.6e12;  // an hour
constexpr int kMostSms = 1024;

bool SetNs(const std::string& key, const std::string& value, std::optional<double>* out, std::string* error) {
  double number = 0;
  if (ReadNumber(value, 0, kMostNs, &number)) {
    *out = number;
    return true;
  }
  *error = Refusal(key, "a number of ns from 0 to 3600000000000", Shown(value));
  return false;
}

}  // namespace

bool ReadNumber(const std::string& text, double low, double high, double* value) {
  if (text.empty() || std::isspace(static_cast<unsigned char>(text.front()))) return false;
  char* end = nullptr;
  errno = 0;
  *value = std::strtod(text.c_str(), &end);
  return errno == 0 && *end == '\0' && std::isfinite(*value) && *value >= low && *value <= high;
}

bool SetRuleKey(KernelRule* rule, const std::string& key, const std::string& value, std::string* error) {
  if (key == "name") {
    rule->name = value;
    std::string problem;
    if (CompilePattern(rule, &problem)) return true;
    *error = Refusal(key, "a POSIX extended regular expression", "'" + Shown(value) + "' (" + problem + ")");
    return false;
  }
  if (key == "ns") return SetNs(key, value, &rule->ns, error);
  if (key == "ns_per_wave") return SetNs(key, value, &rule->ns_per_wave, error);
  if (key == "ns_per_kib") return SetNs(key, value, &rule->ns_per_kib, error);
  if (key == "sms") {
    double number = 0;
    if (ReadNumber(value, 1, kMostSms, &number) && number == std::floor(number)) {
      rule->sms = static_cast<int>(number);
      return true;
    }
    *error = Refusal(key, "a whole number from 1 to 1024", Shown(value));
    return false;
  }
  *error = "unknown key '" + Shown(key) + "' of a kernel; known are name, ns, ns_per_wave, ns_per_kib, sms";
  return false;
}

bool CompleteRule(const KernelRule& rule, std::string* error) {
  if (rule.pattern == nullptr) {
    *error = Refusal("name", "a regular expression in each rule of kernels", "none");
    return false;
  }
  if (rule.ns || rule.ns_per_wave || rule.ns_per_kib || rule.sms) return true;
  *error = Refusal("a rule of kernels", "ns, ns_per_wave, ns_per_kib or sms beside name", "name alone");
  return false;
}

}  // namespace simgpu
