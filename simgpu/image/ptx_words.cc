#include "simgpu/image/ptx_words.h"

#include <algorithm>
#include <cctype>

namespace simgpu::image {
namespace {

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// Returns how many characters from `from` on are of one word.
std::size_t WordLength(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && IsOfWord(text[end])) ++end;
  return end;
}

}  // namespace

void PtxWords::Drop(std::size_t characters) {
  characters = std::min(characters, left_.size());
  line_ += static_cast<int>(
      std::count(left_.begin(), left_.begin() + static_cast<std::ptrdiff_t>(characters), '\n'));
  left_.remove_prefix(characters);
}

void PtxWords::SkipBlanks() {
  while (!left_.empty()) {
    if (std::isspace(static_cast<unsigned char>(left_.front())) != 0) {
      Drop(1);
    } else if (left_.substr(0, 2) == "//") {
      Drop(std::min(left_.find('\n'), left_.size()));
    } else if (left_.substr(0, 2) == "/*") {
      const std::size_t end = left_.find("*/", 2);
      Drop(end == std::string_view::npos ? left_.size() : end + 2);
    } else {
      return;
    }
  }
}

std::string_view PtxWords::Next() {
  SkipBlanks();
  if (left_.empty()) return {};
  std::size_t length = 1;
  if (left_.front() == '"') {
    length = std::min(left_.find('"', 1), left_.size() - 1) + 1;
  } else if (left_.front() == '.' || IsOfWord(left_.front())) {
    length = WordLength(left_, 1);
  }
  const std::string_view word = left_.substr(0, length);
  Drop(length);
  return word;
}

bool PtxWords::SkipGroup(char open) {
  const char close = open == '(' ? ')' : open == '{' ? '}' : ']';
  int depth = 1;
  while (depth > 0) {
    const std::string_view word = Next();
    if (word.empty()) return false;
    if (word.front() == open) ++depth;
    if (word.front() == close) --depth;
  }
  return true;
}

}  // namespace simgpu::image
