#include "cli/cluster/doctor.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "cli/cluster/bundle.h"
#include "cli/cluster/checks.h"
#include "cli/cluster/gather.h"
#include "cli/cluster/objects.h"

namespace crossover::cli {
namespace {

int Fail(const std::string& error) {
  std::fprintf(stderr, "crossover doctor: %s\n", error.c_str());
  return 1;
}

bool WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  return static_cast<bool>(file.flush());
}

// What each of our programs logged last, and what the daemons say of their nodes.
std::map<std::string, std::string> Said(const Kubectl& kubectl, const ClusterFacts& facts) {
  std::map<std::string, std::string> files;
  for (const char* component : {"deviceplugin", "extender", "mps"}) {
    for (const json* pod : Programs(facts, component)) {
      std::string error;
      const std::vector<std::string> logs = {"logs",        "--namespace", NamespaceOf(*pod), NameOf(*pod),
                                             "--container", component,     "--tail",          "2000"};
      files[NameOf(*pod) + ".log"] = kubectl.Run(logs, &error).value_or(error + "\n");
      if (component != std::string("deviceplugin")) continue;
      for (const char* command : {"top", "doctor"}) {
        files[NameOf(*pod) + "." + command + ".json"] =
            kubectl
                .Exec(NamespaceOf(*pod), NameOf(*pod), component, {"crossover", command, "-o", "json"},
                      &error)
                .value_or(error + "\n");
      }
    }
  }
  return files;
}

std::string WriteBundle(const Kubectl& kubectl, const ClusterFacts& facts, const std::string& report,
                        const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) != 0) return "--bundle: " + folder + ": " + std::strerror(errno);
  std::map<std::string, std::string> files = Said(kubectl, facts);
  files["report.json"] = report;
  for (const auto& [name, items] : facts.lists)
    files[name + ".json"] = Redacted(items).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  for (const auto& [name, why] : facts.unseen) files[name + ".error"] = why + "\n";
  for (const auto& [name, text] : files) {
    if (!WriteFile(folder + "/" + name, text))
      return "--bundle: " + folder + "/" + name + " cannot be written";
  }
  return "";
}

}  // namespace

int ClusterDoctor(const Kubectl& kubectl, const ClusterDoctorOptions& options) {
  const ClusterFacts facts = Gather(kubectl);
  if (facts.lists.empty()) return Fail(facts.unseen.begin()->second);
  const std::vector<Finding> findings = ExamineCluster(facts);
  const std::string report = ReportJson(findings);
  if (!Print(Shown(json::parse(report), ReportText(findings), options.format))) return 1;
  if (options.bundle.empty()) return ExitCode(findings);
  if (const std::string error = WriteBundle(kubectl, facts, report, options.bundle); !error.empty())
    return Fail(error);
  std::fprintf(stderr,
               "written to %s; values of environments, commands and foreign annotations are left out, logs "
               "are as they are: look at them before you send them\n",
               options.bundle.c_str());
  return ExitCode(findings);
}

}  // namespace crossover::cli
