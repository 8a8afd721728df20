#include "common/kube/pages.h"

#include "common/kube/json.h"

namespace crossover::kube {

std::string Escaped(const std::string& text) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      escaped += c;
    } else {
      escaped += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return escaped;
}

std::string PageParameters(const std::string& token, int page) {
  const std::string limit = "limit=" + std::to_string(page);
  return token.empty() ? limit : limit + "&continue=" + Escaped(token);
}

std::string NextPageOf(const nlohmann::json& list) { return Text(At(At(list, "metadata"), "continue")); }

}  // namespace crossover::kube
