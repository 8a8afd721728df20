#include "pipeline/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "pipeline/input.h"
#include "pipeline/json_file.h"

namespace crossover::pipeline {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBlocks = 10'000;  // so that the bytes of all blocks fit into 64 bits
constexpr double kMostMs = 1e9;              // eleven days
constexpr double kMostBytes = 1e15;          // a petabyte
constexpr std::string_view kMark = "block:";
constexpr std::string_view kBackward = ":backward";
constexpr std::string_view kNumbers[] = {"forward_ms", "backward_ms", "output_bytes", "stored_bytes",
                                         "parameter_bytes"};
constexpr char kColumns[] = "block, forward_ms, backward_ms, output_bytes, stored_bytes or parameter_bytes";

bool IsTime(std::string_view key) { return key.ends_with("_ms"); }

// Sets a number of the block. `shown` is the value as the file has it.
void Set(Block* block, std::string_view key, double value, const std::string& place, std::string_view shown) {
  const double most = IsTime(key) ? kMostMs : kMostBytes;
  if (!(value >= 0 && value <= most))
    Refuse(place, key, IsTime(key) ? "milliseconds from 0 to 1e9" : "bytes from 0 to 1e15", shown);
  if (key == "forward_ms") block->forward = static_cast<Time>(std::llround(value * 1e6));
  if (key == "backward_ms") block->backward = static_cast<Time>(std::llround(value * 1e6));
  if (key == "output_bytes") block->output_bytes = static_cast<std::uint64_t>(value);
  if (key == "stored_bytes") block->stored_bytes = static_cast<std::uint64_t>(value);
  if (key == "parameter_bytes") block->parameter_bytes = static_cast<std::uint64_t>(value);
}

void RefuseTooMany(std::size_t blocks, const std::string& name) {
  if (blocks > kMostBlocks)
    Refuse(name, "blocks", "at most " + std::to_string(kMostBlocks), std::to_string(blocks));
}

// Returns the number that `text` is, or none.
double NumberIn(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? value : std::numeric_limits<double>::quiet_NaN();
}

double NumberOf(const json& value) {
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t comma = line.find(',');
    fields.push_back(Trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line = line.substr(comma + 1);
  }
}

// Returns the columns of the first line. Both times are needed.
std::vector<std::string_view> Columns(std::string_view line, const std::string& place) {
  std::vector<std::string_view> columns = Fields(line);
  for (const std::string_view column : columns) {
    const bool known = column == "block" || std::ranges::find(kNumbers, column) != std::end(kNumbers);
    const bool twice = std::ranges::count(columns, column) > 1;
    if (!known || twice) Refuse(place, "column", std::string(kColumns) + ", each once", column);
  }
  for (const std::string_view needed : {kNumbers[0], kNumbers[1]}) {
    if (std::ranges::find(columns, needed) == columns.end())
      Refuse(place, "columns", "forward_ms and backward_ms among them", line);
  }
  return columns;
}

std::vector<Block> ReadCsv(std::string_view text, const std::string& name) {
  std::vector<Block> blocks;
  std::vector<std::string_view> columns;
  std::size_t rows = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const std::string place = name + ":" + std::to_string(number);
    if (line.empty() || line.front() == '#') continue;
    if (columns.empty()) {
      columns = Columns(line, place);
      continue;
    }
    const std::vector<std::string_view> fields = Fields(line);
    if (fields.size() != columns.size())
      Refuse(place, "line", std::to_string(columns.size()) + " fields", std::to_string(fields.size()));
    if (++rows > kMostBlocks) continue;
    Block& block = blocks.emplace_back();
    block.name = "block" + std::to_string(blocks.size() - 1);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (columns[c] == "block") {
        block.name = fields[c];
      } else {
        Set(&block, columns[c], NumberIn(fields[c]), place, fields[c]);
      }
    }
  }
  RefuseTooMany(rows, name);
  return blocks;
}

Block BlockIn(const json& object, const std::string& place) {
  if (!object.is_object()) Refuse(place, "block", "an object", Said(object));
  Block block;
  block.name = place.substr(place.rfind('['));
  for (const auto& [key, value] : object.items()) {
    if (key == "block") {
      if (!value.is_string()) Refuse(place, key, "a name", Said(value));
      block.name = value.get<std::string>();
    } else if (std::ranges::find(kNumbers, std::string_view(key)) == std::end(kNumbers)) {
      Refuse(place, "key", kColumns, key);
    } else {
      Set(&block, key, NumberOf(value), place, Said(value));
    }
  }
  for (const char* needed : {"forward_ms", "backward_ms"}) {
    if (!object.contains(needed)) Refuse(place, needed, "milliseconds", "none");
  }
  return block;
}

std::vector<Block> ReadBlocks(const json& list, const std::string& name) {
  if (!list.is_array()) Refuse(name, "blocks", "a list", Said(list));
  RefuseTooMany(list.size(), name);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < list.size(); ++i)
    blocks.push_back(BlockIn(list[i], name + ": blocks[" + std::to_string(i) + "]"));
  return blocks;
}

// Collects the regions of one block in a trace, in microseconds.
struct Regions {
  std::size_t place = 0;  // of the block in the order of the first regions
  std::vector<double> forward, backward;
};

Time MedianOf(std::vector<double> us) {
  if (us.empty()) return 0;
  const auto middle = us.begin() + static_cast<std::ptrdiff_t>(us.size() / 2);
  std::nth_element(us.begin(), middle, us.end());
  return static_cast<Time>(std::llround(*middle * 1e3));
}

// Returns whether the event is a region of the host. With CUDA activities a trace has each region again, on
// the row of the GPU.
bool IsRegion(const json& event) {
  const auto phase = event.find("ph"), category = event.find("cat");
  if (phase == event.end() || *phase != json("X")) return false;
  return category == event.end() || *category != json("gpu_user_annotation");
}

std::vector<Block> ReadTrace(const json& events, const std::string& name) {
  std::map<std::string, Regions> regions;
  std::vector<std::pair<double, std::string>> first;  // begin of the first region, by block
  if (!events.is_array()) Refuse(name, "traceEvents", "a list", Said(events));
  for (const json& event : events) {
    if (!event.is_object()) continue;
    const auto named = event.find("name");
    if (named == event.end() || !named->is_string()) continue;
    std::string_view text = named->get_ref<const std::string&>();
    if (!text.starts_with(kMark) || !IsRegion(event)) continue;
    const std::string place = name + ": " + std::string(text);
    text.remove_prefix(kMark.size());
    const bool backward = text.ends_with(kBackward);
    if (backward) text.remove_suffix(kBackward.size());
    const auto duration = event.find("dur"), begin = event.find("ts");
    for (const auto& [key, value] : {std::pair("dur", duration), std::pair("ts", begin)}) {
      if (value == event.end()) Refuse(place, key, "microseconds", "none");
      if (!value->is_number()) Refuse(place, key, "microseconds", Said(*value));
    }
    const double us = duration->get<double>();
    if (!(us >= 0 && us <= kMostMs * 1e3))
      Refuse(place, "dur", "microseconds from 0 to 1e12", Said(*duration));
    const auto [found, added] = regions.try_emplace(std::string(text));
    if (added) {
      found->second.place = first.size();
      first.emplace_back(std::numeric_limits<double>::max(), text);
    }
    (backward ? found->second.backward : found->second.forward).push_back(us);
    double& earliest = first[found->second.place].first;
    if (!backward) earliest = std::min(earliest, begin->get<double>());
  }
  RefuseTooMany(first.size(), name);
  std::ranges::stable_sort(first, {}, [](const auto& entry) { return entry.first; });
  std::vector<Block> blocks;
  for (const auto& [begin, block] : first) {
    const Regions& seen = regions.at(block);
    if (seen.forward.empty() || seen.backward.empty())
      Refuse(name + ": " + block, "regions", "at least one of the forward and one of the backward pass",
             seen.forward.empty() ? "none of the forward pass" : "none of the backward pass");
    blocks.push_back({.name = block, .forward = MedianOf(seen.forward), .backward = MedianOf(seen.backward)});
  }
  return blocks;
}

std::vector<Block> ReadJson(const std::string& text, const std::string& name) {
  const json parsed = Parsed(text, name, "CSV, or JSON that can be parsed");
  if (parsed.is_array()) return ReadTrace(parsed, name);
  if (parsed.contains("traceEvents")) return ReadTrace(parsed.at("traceEvents"), name);
  if (parsed.contains("blocks")) {
    RefuseOtherKeys(parsed, name, "blocks");
    return ReadBlocks(parsed.at("blocks"), name);
  }
  Refuse(name, "content", "an object with blocks or traceEvents", text);
}

}  // namespace

std::optional<std::vector<Block>> ReadProfile(const std::string& text, const std::string& name,
                                              std::string* error) {
  try {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    const bool is_json = start != std::string::npos && (text[start] == '{' || text[start] == '[');
    std::vector<Block> blocks = is_json ? ReadJson(text, name) : ReadCsv(text, name);
    if (blocks.empty()) Refuse(name, "blocks", "at least one", "none");
    return blocks;
  } catch (const Fault& fault) {
    *error = fault.what();
    return std::nullopt;
  }
}

}  // namespace crossover::pipeline
