#include "extender/admission/base64.h"

#include <openssl/evp.h>

#include <climits>

namespace crossover::extender::admission {

std::string Base64Of(std::string_view bytes) {
  if (bytes.size() > INT_MAX / 2) return "";
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> BytesOf(std::string_view base64) {
  if (base64.size() > INT_MAX || base64.size() % 4 != 0) return std::nullopt;
  std::string bytes(base64.size() / 4 * 3, '\0');
  const int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(base64.data()), static_cast<int>(base64.size()));
  if (size < 0) return std::nullopt;
  // EVP_DecodeBlock decodes each padding character as a zero byte; these bytes do not belong to the text.
  std::size_t filled = 0;
  while (filled < 2 && filled < base64.size() && base64[base64.size() - 1 - filled] == '=') ++filled;
  bytes.resize(static_cast<std::size_t>(size) - filled);
  return bytes;
}

}  // namespace crossover::extender::admission
