// Writes the table of `crossover profiles`. Pure.
#pragma once

#include <string>

namespace crossover::node::v1 {
class ListProfilesResponse;
}

namespace crossover::cli {

// Returns the table. `now_s` is in Unix seconds.
std::string ProfilesTable(const node::v1::ListProfilesResponse& response, double now_s);

}  // namespace crossover::cli
