// Builds lists of words for messages that people read.
#pragma once

#include <string>
#include <string_view>

namespace crossover::text {

// Appends `word` to `list`, after ", " if the list is not empty.
inline void AddTo(std::string* list, std::string_view word) {
  if (!list->empty()) list->append(", ");
  list->append(word);
}

}  // namespace crossover::text
