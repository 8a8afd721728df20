// Writes the table of `crossover top`. Pure.
#pragma once

#include <string>

namespace crossover::node::v1 {
class Top;
}

namespace crossover::cli {

std::string TopTable(const node::v1::Top& top);

}  // namespace crossover::cli
