#include <algorithm>
#include <cstdint>

#include "cli/cluster/nodes.h"
#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/kube/json.h"
#include "common/text/number.h"

namespace crossover::cli {
namespace {

using kube::At;

std::string NumberAt(const json& object, const char* key, int decimals, const char* unit = "") {
  const json& value = At(object, key);
  return value.is_number() ? Number(value.get<double>(), decimals) + unit : "-";
}

std::string Alone(const json& client) {
  const std::string source = TextAt(client, {"alone", "source"});
  const std::string mark = source == "remembered" ? " *" : source == "estimated" ? " ~" : "";
  return NumberAt(At(client, "alone"), "step_ms", 1) + mark;
}

const json& GpuOf(const json& top, const std::string& uuid) {
  static const json none;
  for (const json& gpu : ListAt(top, {"gpus"})) {
    if (TextAt(gpu, {"uuid"}) == uuid) return gpu;
  }
  return none;
}

std::string Doing(const json& client) {
  if (At(client, "holding") == json(true)) return "holds";
  return At(client, "waiting") == json(true) ? "waits" : "-";
}

std::vector<std::string> Row(const std::string& node, const json& top, const json& client, bool wide) {
  const std::string uuid = TextAt(client, {"gpu_uuid"});
  const json& gpu = GpuOf(top, uuid);
  const std::string why = TextAt(gpu, {"why_no_turns"});
  std::vector<std::string> row = {
      node,
      uuid,
      TextAt(client, {"gang"}),
      Doing(client),
      NumberAt(client, "step_ms", 1),
      Alone(client),
      NumberAt(client, "slowdown", 2, "x"),
      NumberAt(gpu, "gain", 2, "x") + (At(gpu, "gain_uncertain") == json(true) ? " ?" : "")};
  if (!wide) return row;
  const std::vector<std::string> more = {NumberAt(client, "rank", 0),
                                         TextAt(client, {"phase"}),
                                         TextAt(client, {"transport"}),
                                         NumberAt(client, "turns", 0),
                                         NumberAt(client, "wait_ms", 1),
                                         NumberAt(client, "hold_ms", 1),
                                         NumberAt(client, "compute_ms", 1),
                                         NumberAt(client, "input_wait_ms", 1),
                                         NumberAt(At(client, "alone"), "age_s", 0),
                                         why.empty() ? "turns are taken" : why};
  row.insert(row.end(), more.begin(), more.end());
  return row;
}

std::string MiBAt(const json& signals, const char* key) {
  constexpr double kMiB = 1 << 20;
  // JSON of protobuf has such a number as text.
  const auto bytes = text::ParseInteger(TextAt(signals, {key}), 0, INT64_MAX);
  return bytes ? Number(static_cast<double>(*bytes) / kMiB, 0) : "-";
}

// Returns a table of what signals cost on each GPU, or "" if no GPU has any.
std::string SignalsTable(const json& nodes) {
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "GPU", "SIGNALLERS", "HOST MiB", "CPU s", "GPU MiB", "OF", "LATE"}};
  for (const json& entry : nodes) {
    for (const json& gpu : ListAt(At(entry, "top"), {"gpus"})) {
      const json& signals = At(gpu, "signals");
      if (!signals.is_object()) continue;
      const std::string source = TextAt(signals, {"device_memory_source"});
      rows.push_back({TextAt(entry, {"node"}), TextAt(gpu, {"uuid"}), NumberAt(signals, "signallers", 0),
                      MiBAt(signals, "host_memory_bytes"), NumberAt(signals, "cpu_s", 1),
                      MiBAt(signals, "device_memory_bytes"), source.empty() ? "-" : source,
                      NumberAt(signals, "late", 0)});
    }
  }
  std::sort(rows.begin() + 1, rows.end());
  return rows.size() > 1 ? "\n" + Columns(rows) : "";
}

}  // namespace

std::string ClusterTopTable(const json& nodes, bool wide) {
  std::vector<std::vector<std::string>> rows = {
      {"NODE", "GPU", "GANG", "NOW", "STEP ms", "ALONE ms", "SLOWDOWN", "GAIN"}};
  if (wide) {
    for (const char* name : {"RANK", "PHASE", "TRANSPORT", "TURNS", "WAIT ms", "HOLD ms", "COMPUTE ms",
                             "INPUT ms", "AGE s", "TURNS?"})
      rows.front().emplace_back(name);
  }
  std::string errors;
  for (const json& entry : nodes) {
    const std::string node = TextAt(entry, {"node"});
    if (const std::string error = TextAt(entry, {"error"}); !error.empty())
      errors += node + ": " + error + "\n";
    const json& top = At(entry, "top");
    for (const json& job : ListAt(top, {"jobs"})) {
      for (const json& client : ListAt(job, {"clients"})) rows.push_back(Row(node, top, client, wide));
    }
  }
  std::sort(rows.begin() + 1, rows.end());
  std::string text = rows.size() > 1 ? Columns(rows) : "no job is connected on any node that answers\n";
  const auto any = [&rows](const char* mark) {
    return std::any_of(rows.begin(), rows.end(), [mark](const auto& row) { return row[5].ends_with(mark); });
  };
  if (any(" *")) text += "\n* of an earlier process of the same gang, user and size\n";
  if (any(" ~")) text += "\n~ estimated from its turns and the gaps between them\n";
  if (wide) text += SignalsTable(nodes);
  return text + (errors.empty() ? "" : "\n" + errors);
}

}  // namespace crossover::cli
