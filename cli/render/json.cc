#include "cli/render/json.h"

#include <google/protobuf/util/json_util.h>

#include "common/kube/json.h"

namespace crossover::cli {

std::string Json(const google::protobuf::Message& message, bool indented) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = indented;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  return status.ok() ? text : "";
}

std::string JsonString(std::string_view text) { return kube::Dump(nlohmann::json(text)); }

}  // namespace crossover::cli
