#include "deviceplugin/values/values.h"

#include <grp.h>
#include <sys/un.h>

#include <charconv>

namespace crossover::deviceplugin {

std::optional<arbiter::Policy> ParsePolicy(std::string_view text) {
  if (text == "enforce") return arbiter::Policy::kEnforce;
  if (text == "observe") return arbiter::Policy::kObserve;
  if (text == "off") return arbiter::Policy::kOff;
  return std::nullopt;
}

std::string_view PolicyName(arbiter::Policy policy) {
  switch (policy) {
    case arbiter::Policy::kOff:
      return "off";
    case arbiter::Policy::kObserve:
      return "observe";
    case arbiter::Policy::kEnforce:
      break;
  }
  return "enforce";
}

bool ParseTieWindow(std::string_view text, turn::PolicySettings* settings) {
  if (text == "auto" || text == "off") {
    settings->tie_rule = text == "auto";
    settings->tie_window = 0;
    return true;
  }
  const auto microseconds = ParseInteger(text, 1, 10'000);
  if (!microseconds) return false;
  settings->tie_rule = true;
  settings->tie_window = *microseconds * 1'000;
  return true;
}

bool ParseQuantum(std::string_view text, turn::PolicySettings* settings) {
  const auto microseconds = text == "off" ? 0 : ParseInteger(text, 1'000, 1'000'000);
  if (microseconds) settings->quantum = *microseconds * 1'000;
  return microseconds.has_value();
}

bool ValidSocketPath(std::string_view path) {
  return path.size() > 1 && path.size() < sizeof(sockaddr_un::sun_path) && path.front() == '/';
}

std::optional<mode_t> ParseFileMode(std::string_view text) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc{} || end != text.data() + text.size() || mode < 0600 || mode > 0777)
    return std::nullopt;
  return mode;
}

std::optional<gid_t> ParseGroup(const std::string& text) {
  if (const auto number = ParseInteger(text, 0, INT32_MAX)) return static_cast<gid_t>(*number);
  const group* entry = getgrnam(text.c_str());
  if (entry == nullptr) return std::nullopt;
  return entry->gr_gid;
}

bool ValidListenAddress(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  return colon != std::string_view::npos && colon > 0 &&
         ParseInteger(address.substr(colon + 1), 0, 65'535).has_value();
}

bool ValidDirectory(std::string_view path) {
  // The limit is less than PATH_MAX, because the path of a file in the directory is longer.
  constexpr std::size_t kMost = 3000;
  return path.size() > 1 && path.size() <= kMost && path.front() == '/' && path.find('\0') == path.npos;
}

}  // namespace crossover::deviceplugin
