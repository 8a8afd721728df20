// JSON of the API's messages: field names as in proto/crossover_node.proto, fields that are not known left
// out, all others there.
#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace crossover::cli {

std::string Json(const google::protobuf::Message& message, bool indented);

// A string literal; what is no UTF-8 in it is replaced.
std::string JsonString(std::string_view text);

}  // namespace crossover::cli
