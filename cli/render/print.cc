#include "cli/render/print.h"

#include <cstdio>

namespace crossover::cli {

bool Print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace crossover::cli
