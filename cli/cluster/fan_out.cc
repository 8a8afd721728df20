#include "cli/cluster/fan_out.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

namespace crossover::cli {
namespace {

using nlohmann::json;

json AskOne(const json& item, const std::function<json(const json& item)>& ask) {
  try {
    return ask(item);
  } catch (const std::exception& error) {  // an exception that leaves a thread would end the program
    return {{"error", error.what()}};
  }
}

}  // namespace

std::vector<json> FanOut(const std::vector<json>& items, std::size_t most,
                         const std::function<json(const json& item)>& ask) {
  std::vector<json> answers(items.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i; (i = next++) < items.size();) answers[i] = AskOne(items[i], ask);
  };
  {
    const std::size_t together = std::min(most, items.size());
    std::vector<std::jthread> others;
    others.reserve(together);
    try {
      while (others.size() + 1 < together) others.emplace_back(work);
    } catch (const std::system_error&) {  // no more threads: those that run do the work
    }
    work();
  }  // joins the other threads
  return answers;
}

}  // namespace crossover::cli
