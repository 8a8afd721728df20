// Reads long lists in pages.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

// A page has this many objects. This many of the largest objects that an API server stores (1.5 MiB each) fit
// into an answer (Client::kMostBytes). With larger pages, a user with a few dozen such objects could make the
// list unreadable for all.
inline constexpr int kPage = 40;

// Returns `text` with all characters percent-encoded but letters, digits, '-', '_' and '.'.
std::string Escaped(const std::string& text);

// Returns the query parameters for the page that follows the one with the continue token `token`, or for
// the first page if `token` is empty.
std::string PageParameters(const std::string& token, int page = kPage);

// Returns the continue token of a page, or "" on the last page.
std::string NextPageOf(const nlohmann::json& list);

}  // namespace crossover::kube
