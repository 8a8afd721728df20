#include "cli/cluster/timeline.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "cli/cluster/daemons.h"
#include "cli/cluster/objects.h"
#include "cli/render/print.h"

namespace crossover::cli {
namespace {

bool IsForPeople(Format format) { return format == Format::kText || format == Format::kWide; }

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover timeline: %s\n", error.c_str());
  return 1;
}

std::vector<std::string> CommandOf(const ClusterTimelineOptions& options) {
  std::vector<std::string> command = {"crossover", "timeline"};
  if (!IsForPeople(options.show.format)) command.insert(command.end(), {"-o", "json"});
  command.insert(command.end(), options.words.begin(), options.words.end());
  return command;
}

std::optional<Answer> TurnsOf(const Kubectl& kubectl, const ClusterTimelineOptions& options,
                              std::string* error) {
  const auto daemons = Daemons(kubectl, options.node, error);
  if (!daemons) return std::nullopt;
  const json& pod = daemons->front();
  Answer answer;
  if (IsForPeople(options.show.format)) {
    auto text = kubectl.Exec(NamespaceOf(pod), NameOf(pod), kDaemonContainer, CommandOf(options), error);
    if (!text) return std::nullopt;
    answer.text = std::move(*text);
    return answer;
  }
  auto turns = AskDaemon(kubectl, pod, CommandOf(options), error);
  if (!turns) return std::nullopt;
  answer.value = std::move(*turns);
  return answer;
}

int FollowAsYaml(const Kubectl& kubectl, const json& pod, const std::vector<std::string>& command) {
  bool first = true;
  std::string error;
  const int code = kubectl.FollowExec(
      NamespaceOf(pod), NameOf(pod), kDaemonContainer, command,
      [&first](const std::string& line) {
        const json event = json::parse(line, nullptr, false);
        if (event.is_discarded()) return Print(line + "\n");  // not an event
        return Print(ShownAgain(event, "", Format::kYaml, std::exchange(first, false)));
      },
      &error);
  return error.empty() ? code : Fail(error);
}

int Follow(const Kubectl& kubectl, const ClusterTimelineOptions& options) {
  std::string error;
  const auto daemons = Daemons(kubectl, options.node, &error);
  if (!daemons) return Fail(error);
  const json& pod = daemons->front();
  const std::vector<std::string> command = CommandOf(options);
  if (options.show.format == Format::kYaml) return FollowAsYaml(kubectl, pod, command);
  return Fail(kubectl.BecomeExec(NamespaceOf(pod), NameOf(pod), kDaemonContainer, command));
}

}  // namespace

bool Follows(const ClusterTimelineOptions& options) {
  return std::find(options.words.begin(), options.words.end(), "--follow") != options.words.end();
}

int ClusterTimeline(const Kubectl& kubectl, const ClusterTimelineOptions& options) {
  if (Follows(options)) return Follow(kubectl, options);
  return ShowRounds("timeline", options.show,
                    [&](std::string* error) { return TurnsOf(kubectl, options, error); });
}

}  // namespace crossover::cli
