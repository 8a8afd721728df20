#include <algorithm>

#include "cli/doctor/checks.h"
#include "cli/render/json.h"

namespace crossover::cli {
namespace {

Verdict Worst(const std::vector<Finding>& findings) {
  Verdict worst = Verdict::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

std::string Padded(std::string_view text, std::size_t width) {
  return std::string(text) + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

}  // namespace

std::string_view Name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kWarn:
      return "warn";
    case Verdict::kFail:
      break;
  }
  return "fail";
}

std::string ReportText(const std::vector<Finding>& findings) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  std::string text;
  for (const Finding& finding : findings) {
    text += Padded(Name(finding.verdict), 9) + Padded(finding.name, width + 2) + finding.seen + "\n";
    if (!finding.advice.empty()) text += std::string(width + 11, ' ') + "-> " + finding.advice + "\n";
  }
  return text;
}

std::string ReportJson(const std::vector<Finding>& findings) {
  std::string text = "{\n \"verdict\": " + JsonString(Name(Worst(findings))) + ",\n \"checks\": [";
  const char* separator = "\n";
  for (const Finding& finding : findings) {
    text += separator;
    text += "  {\"name\": " + JsonString(finding.name) +
            ", \"verdict\": " + JsonString(Name(finding.verdict)) +
            ", \"seen\": " + JsonString(finding.seen) + ", \"advice\": " + JsonString(finding.advice) + "}";
    separator = ",\n";
  }
  return text + "\n ]\n}\n";
}

int ExitCode(const std::vector<Finding>& findings) { return Worst(findings) == Verdict::kFail ? 1 : 0; }

}  // namespace crossover::cli
