// Writes the API's messages as JSON. Field names are those of proto/crossover_node.proto. Unknown values
// are left out; all other fields are present.
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace crossover::cli {

// Returns the message as JSON, or "" if it cannot be converted.
std::string Json(const google::protobuf::Message& message, bool indented);

// Returns a JSON string literal. Bytes that are not UTF-8 are replaced.
std::string JsonString(std::string_view text);

}  // namespace crossover::cli
