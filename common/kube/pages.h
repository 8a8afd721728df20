// Long lists, a page at a time.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

// Objects of a list at a time: so many of the largest that an API server keeps (1.5 MiB each) are no longer
// than an answer may be (Client::kMostBytes). Else whoever makes some dozens of those would keep lists from
// everybody.
inline constexpr int kPage = 40;

// Percent-encoded: all but letters, digits, '-', '_' and '.'.
std::string Escaped(const std::string& text);

// Of a list's query: the page after the one that said `token`; empty: the first.
std::string PageParameters(const std::string& token, int page = kPage);

// What a page says of the one after it; empty: it is the last.
std::string NextPageOf(const nlohmann::json& list);

}  // namespace crossover::kube
