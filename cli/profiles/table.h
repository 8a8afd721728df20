// What `crossover profiles` shows. Pure.
#pragma once

#include <string>

namespace crossover::node::v1 {
class ListProfilesResponse;
}

namespace crossover::cli {

// `now_s`: seconds since 1970.
std::string ProfilesTable(const node::v1::ListProfilesResponse& response, double now_s);

}  // namespace crossover::cli
