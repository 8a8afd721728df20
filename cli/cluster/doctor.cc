#include "cli/cluster/doctor.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>

#include "cli/cluster/bundle.h"
#include "cli/cluster/checks.h"
#include "cli/cluster/fan_out.h"
#include "cli/cluster/gather.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover doctor: --bundle: %s\n", error.c_str());
  return 1;
}

// Writes the file. Returns "", or why it could not.
std::string WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return file.flush() ? "" : path + " cannot be written";
}

std::string WriteObjects(const ClusterFacts& facts, const std::string& report, const std::string& folder) {
  std::string error = WriteFile(folder + "/report.json", report);
  for (const auto& [name, items] : facts.lists) {
    const std::string text = Redacted(items).dump(1, ' ', false, json::error_handler_t::replace);
    if (error.empty()) error = WriteFile(folder + "/" + name + ".json", text + "\n");
  }
  for (const auto& [name, why] : facts.unseen) {
    if (error.empty()) error = WriteFile(folder + "/" + name + ".error", why + "\n");
  }
  return error;
}

// Writes each file as soon as its program has answered. Returns "", or the first fault.
std::string WriteSaid(const Kubectl& kubectl, const ClusterFacts& facts, const std::string& folder) {
  const auto faults = FanOut(QuestionsOf(facts), kKubectls, [&](const json& question) -> json {
    const std::string said = kubectl.Said(question.at("words").get<std::vector<std::string>>());
    return {{"error", WriteFile(folder + "/" + TextAt(question, {"file"}), said)}};
  });
  for (const json& fault : faults) {
    if (const std::string error = TextAt(fault, {"error"}); !error.empty()) return error;
  }
  return "";
}

int WriteBundle(const Kubectl& kubectl, const ClusterFacts& facts, const std::string& report,
                const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0) return Fail(folder + ": " + std::strerror(errno));
  if (const std::string error = WriteObjects(facts, report, folder); !error.empty()) return Fail(error);
  if (const std::string error = WriteSaid(kubectl, facts, folder); !error.empty()) return Fail(error);
  std::fprintf(stderr,
               "written to %s. The values of environments, of commands, and of annotations and labels that "
               "are neither Kubernetes', NVIDIA's nor ours are left out. ConfigMaps and logs are unchanged: "
               "look at them before you send the folder\n",
               folder.c_str());
  return 0;
}

}  // namespace

int ClusterDoctor(const Kubectl& kubectl, const ClusterDoctorOptions& options) {
  ClusterFacts facts;
  std::string report;
  const int code = ShowRounds("doctor", options.show, [&](std::string* error) -> std::optional<Answer> {
    facts = Gather(kubectl);
    if (SawNothing(facts)) {
      *error = facts.unseen.begin()->second;
      return std::nullopt;
    }
    const std::vector<Finding> findings = ExamineCluster(facts);
    report = ReportJson(findings);
    return Answer{
        .value = json::parse(report), .text = ReportText(findings), .note = "", .code = ExitCode(findings)};
  });
  if (options.bundle.empty() || report.empty()) return code;
  const int written = WriteBundle(kubectl, facts, report, options.bundle);
  return written == 0 ? code : written;
}

}  // namespace crossover::cli
