// What reading YAML files has in common: values that are checked where they stand, so that whatever is wrong
// is told with its line, key, value and what is allowed. For the files beside this one: yaml-cpp is in no
// other header.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace crossover::yaml {

// What is wrong with the file; never leaves Parse().
struct Fault : std::runtime_error {
  Fault(const YAML::Mark& mark, const std::string& text) : std::runtime_error(text), line(mark.line + 1) {}
  int line;
};

[[noreturn]] void Reject(const YAML::Node& node, const std::string& key, std::string_view allowed);

// The text of a scalar: `take` returns whether it is allowed.
void Scalar(const YAML::Node& node, const std::string& key, std::string_view allowed,
            const std::function<bool(const std::string&)>& take);
void Integer(const YAML::Node& node, const std::string& key, std::int64_t low, std::int64_t high,
             const std::function<void(std::int64_t)>& take);

// Gives each value of a map to its handler. Keys that have none, or that stand twice, are faults.
using Handler = std::function<void(const YAML::Node& value, const std::string& key)>;
using Handlers = std::map<std::string, Handler>;
void Map(const YAML::Node& node, const std::string& prefix, const Handlers& handlers);

// One of some words.
template <class Value>
Handler Word(Value* target, std::map<std::string, Value> words) {
  return [target, words = std::move(words)](const YAML::Node& value, const std::string& key) {
    std::string allowed;
    for (const auto& [word, meaning] : words) allowed += (allowed.empty() ? "" : " or ") + word;
    Scalar(value, key, allowed, [&](const std::string& text) {
      const auto found = words.find(text);
      if (found != words.end()) *target = found->second;
      return found != words.end();
    });
  };
}

// Reads the one document of `text`. False with a line in `error` if anything in it is not allowed. `name`:
// the file's.
bool Parse(const std::string& text, const std::string& name,
           const std::function<void(const YAML::Node&)>& read, std::string* error);

}  // namespace crossover::yaml
