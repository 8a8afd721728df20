// Reads YAML files and checks each value where it stands. A message about a wrong value names the line, the
// key, what is expected and the value. Only readers of configuration files include this header: it is the
// only header that includes yaml-cpp.
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

// A Fault is an error in the file. Parse() catches it, so no caller of Parse() sees it.
struct Fault : std::runtime_error {
  Fault(const YAML::Mark& mark, const std::string& text) : std::runtime_error(text), line(mark.line + 1) {}
  int line;
};

// Throws a Fault for the value of `key`. `expected` says in words which values are accepted.
[[noreturn]] void Reject(const YAML::Node& node, const std::string& key, std::string_view expected);

// Gives the text of a scalar to `take`, which returns whether it accepts the value. Throws a Fault for a
// value that is not accepted or is no scalar.
void Scalar(const YAML::Node& node, const std::string& key, std::string_view expected,
            const std::function<bool(const std::string&)>& take);
// Gives an integer within [low, high] to `take`. Throws a Fault for any other value.
void Integer(const YAML::Node& node, const std::string& key, std::int64_t low, std::int64_t high,
             const std::function<void(std::int64_t)>& take);

// A Handler takes one value of a map. `key` is its path in the file.
using Handler = std::function<void(const YAML::Node& value, const std::string& key)>;
using Handlers = std::map<std::string, Handler>;
// Gives each value of a map to the handler of its key. Throws a Fault for a key without a handler and for a
// key that appears twice. `prefix` is the path of the map in the file, empty for the whole file.
void Map(const YAML::Node& node, const std::string& prefix, const Handlers& handlers);

// Returns a handler that accepts one of `words` and stores its meaning in `target`. REQUIRES: `target`
// outlives the handler.
template <class Value>
Handler Word(Value* target, std::map<std::string, Value> words) {
  return [target, words = std::move(words)](const YAML::Node& value, const std::string& key) {
    std::string expected;
    for (const auto& [word, meaning] : words) expected += (expected.empty() ? "" : " or ") + word;
    Scalar(value, key, expected, [&](const std::string& text) {
      const auto found = words.find(text);
      if (found != words.end()) *target = found->second;
      return found != words.end();
    });
  };
}

// Reads the only document of `text` by calling `read`. Returns false, with one line in `error`, if the
// text is not YAML, `read` throws a Fault, or there is a second document. `name` is the name of the file,
// for that line.
bool Parse(const std::string& text, const std::string& name,
           const std::function<void(const YAML::Node&)>& read, std::string* error);

}  // namespace crossover::yaml
