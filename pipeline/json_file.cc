#include "pipeline/json_file.h"

#include <algorithm>
#include <cstddef>

#include "pipeline/input.h"

namespace crossover::pipeline {
namespace {

using nlohmann::json;

// A Finder takes what is read of a text and keeps nothing but where its first fault is.
struct Finder {
  std::size_t read = 0;  // bytes up to the fault, with its last one

  // json::sax_parse() calls these functions by their names.
  static bool null() { return true; }
  static bool boolean(bool) { return true; }
  static bool number_integer(json::number_integer_t) { return true; }
  static bool number_unsigned(json::number_unsigned_t) { return true; }
  static bool number_float(json::number_float_t, const std::string&) { return true; }
  static bool string(std::string&) { return true; }
  static bool binary(json::binary_t&) { return true; }
  static bool start_object(std::size_t) { return true; }
  static bool key(std::string&) { return true; }
  static bool end_object() { return true; }
  static bool start_array(std::size_t) { return true; }
  static bool end_array() { return true; }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) {
    read = position;
    return false;
  }
};

[[noreturn]] void RefuseSyntax(std::string_view text, const std::string& name, std::string_view expected) {
  constexpr std::size_t kShown = 40;  // bytes
  Finder finder;
  json::sax_parse(text, &finder);
  const bool is_end = finder.read > text.size();
  const std::string_view before =
      text.substr(0, is_end ? text.size() : std::max<std::size_t>(finder.read, 1) - 1);
  const std::size_t start = before.rfind('\n') + 1;  // of the line; 0 if it is the first one
  const std::string place = name + ":" + std::to_string(1 + std::ranges::count(before, '\n')) + ":" +
                            std::to_string(before.size() - start + 1);
  if (is_end) Refuse(place, "content", expected, "the end of the file");
  const std::string_view line = text.substr(start, before.size() - start + 1);
  Refuse(place, "content", expected, line.substr(line.size() - std::min(line.size(), kShown)));
}

}  // namespace

json Parsed(std::string_view text, const std::string& name, std::string_view expected) {
  json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded()) RefuseSyntax(text, name, expected);
  return parsed;
}

void RefuseOtherKeys(const json& object, const std::string& place, std::string_view only) {
  for (const auto& [key, value] : object.items()) {
    if (key != only) Refuse(place, "key", only, key);
  }
}

}  // namespace crossover::pipeline
