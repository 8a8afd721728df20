// Reads the plan of a pipeline.
#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/base/refusal.h"
#include "examples/trainer/stages.h"
#include "pipeline/input.h"

namespace crossover::trainer {
namespace {

using nlohmann::json;
using pipeline::Refuse;

constexpr double kMostMs = 100'000;

// Returns the value as the file has it.
std::string Said(const json& value) { return value.is_null() ? "nothing" : pipeline::Said(value); }

// An Object is an object of the plan, and where it is. Its functions throw a Fault.
class Object {
 public:
  Object(const json& value, std::string place, std::initializer_list<std::string_view> keys)
      : value_(value), place_(std::move(place)) {
    std::string known;
    for (const std::string_view key : keys) known += (known.empty() ? "" : ", ") + std::string(key);
    if (!value.is_object()) Refuse(place_, "content", "an object with " + known, Said(value));
    for (const auto& [key, entry] : value.items()) {
      if (std::ranges::find(keys, std::string_view(key)) == keys.end())
        Refuse(place_, key, "one of the keys " + known, Said(entry));
    }
  }

  std::uint32_t Whole(const char* key, std::uint32_t low, std::uint32_t high) const {
    const json& entry = Entry(key);
    if (entry.is_number_unsigned() && entry.get<std::uint64_t>() >= low && entry.get<std::uint64_t>() <= high)
      return entry.get<std::uint32_t>();
    Refuse(place_, key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high),
           Said(entry));
  }

  double Real(const char* key, double high, const char* expected) const {
    const json& entry = Entry(key);
    if (entry.is_number() && entry.get<double>() >= 0 && entry.get<double>() <= high)
      return entry.get<double>();
    Refuse(place_, key, expected, Said(entry));
  }

  const json& Entry(const char* key) const {
    static const json kNothing;
    return value_.contains(key) ? value_[key] : kNothing;
  }

  const std::string& place() const { return place_; }

 private:
  const json& value_;
  const std::string place_;
};

pipeline::Kind KindOf(const Object& plan) {
  const json& schedule = plan.Entry("schedule");
  if (schedule == "1f1b") return pipeline::Kind::kOneForwardOneBackward;
  if (schedule == "gpipe") return pipeline::Kind::kGPipe;
  Refuse(plan.place(), "schedule", "1f1b or gpipe", Said(schedule));
}

// Adds the blocks of a stage.
void AddStage(const json& value, const std::string& place, Stages* stages) {
  const Object stage(
      value, place,
      {"first_block", "last_block", "begin", "end", "server", "gpu", "forward_ms", "backward_ms"});
  const std::uint32_t begin = stages->borders.back();
  if (stage.Whole("begin", 0, kMostBlocks) != begin) {
    Refuse(place, "begin", std::to_string(begin) + (begin == 0 ? "" : ", the end of the stage before"),
           Said(stage.Entry("begin")));
  }
  const std::uint32_t end = stage.Whole("end", begin + 1, kMostBlocks);
  constexpr const char* kTime = "a number of milliseconds from 0 to 100000";
  const double forward = stage.Real("forward_ms", kMostMs, kTime);
  const double backward = stage.Real("backward_ms", kMostMs, kTime);
  stages->borders.push_back(end);
  stages->forward_ms.resize(end, forward / (end - begin));
  stages->backward_ms.resize(end, backward / (end - begin));
}

Stages Parsed(const std::string& text, const std::string& name, std::uint32_t ranks) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) Refuse(name, "content", "JSON, as crossover plan pipeline -o json prints", text);
  const Object plan(value, name,
                    {"iteration_ms", "busy_part", "schedule", "microbatches", "sliced_microbatches",
                     "slice_cost", "stages", "compared"});
  Stages stages;
  stages.kind = KindOf(plan);
  stages.microbatches = plan.Whole("microbatches", 1, kMostMicrobatches);
  stages.sliced = plan.Whole("sliced_microbatches", 0, stages.microbatches);
  stages.slice_cost = plan.Real("slice_cost", 10, "a number from 0 to 10");
  stages.borders = {0};
  const json& list = plan.Entry("stages");
  if (!list.is_array()) Refuse(name, "stages", "a list of stages", Said(list));
  if (list.size() != ranks) {
    Refuse(name, "stages", std::to_string(ranks) + " of them, one for each rank (WORLD_SIZE)",
           std::to_string(list.size()));
  }
  for (std::size_t number = 0; number < list.size(); ++number)
    AddStage(list[number], name + ": stage " + std::to_string(number), &stages);
  return stages;
}

}  // namespace

std::variant<Stages, UsageError> ReadPlan(const std::string& text, const std::string& name,
                                          std::uint32_t ranks) {
  try {
    return Parsed(text, name, ranks);
  } catch (const pipeline::Fault& fault) {
    return UsageError{fault.what()};
  }
}

}  // namespace crossover::trainer
