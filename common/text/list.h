// Words one after the other, for people.
#pragma once

#include <string>
#include <string_view>

namespace crossover::text {

// Adds one to a list that may still be empty.
inline void AddTo(std::string* list, std::string_view word) {
  if (!list->empty()) list->append(", ");
  list->append(word);
}

}  // namespace crossover::text
