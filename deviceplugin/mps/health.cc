#include "deviceplugin/mps/health.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "common/base/gpu_reasons.h"

namespace crossover::deviceplugin {
namespace {

// A Symptom is what is wrong, and for how long it has to last until it counts.
struct Symptom {
  std::string words;
  MpsHealth::Time patience = 0;
};

Symptom Of(const char* what, MpsHealth::Time patience) {
  return {std::string(base::kMpsTakesNone) + ": " + what, patience};
}

std::optional<Symptom> SymptomOf(const MpsLook::Server& server) {
  if (server.status == MpsStatus::kFault)
    return Of("its server is in FAULT, until the clients that the fault hit have ended", 0);
  if (server.state == 'T' || server.state == 't')
    return Of("the process of its server is stopped", MpsHealth::kStopped);
  if (!server.status) return Of("its server does not answer", MpsHealth::kSilent);
  if (server.status == MpsStatus::kInitializing)
    return Of("its server does not get beyond INITIALIZING", MpsHealth::kInitializing);
  if (server.state == 'D') return Of("its server hangs in the driver", MpsHealth::kInDriver);
  return std::nullopt;
}

// Returns the symptom that counts soonest, or nothing if there is none.
std::optional<Symptom> SymptomIn(const MpsLook& look) {
  if (!look.servers) return Of("its control daemon does not answer", MpsHealth::kSilent);
  if (look.servers->empty()) return Of("its server cannot start", MpsHealth::kNone);
  std::optional<Symptom> worst;
  for (const MpsLook::Server& server : *look.servers) {
    auto symptom = SymptomOf(server);
    if (symptom && (!worst || symptom->patience < worst->patience)) worst = std::move(symptom);
  }
  return worst;
}

char Upper(char c) { return static_cast<char>(std::toupper(static_cast<unsigned char>(c))); }
bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

MpsStatus ReadMpsStatus(std::string_view answer) {
  std::string word;
  for (std::size_t i = 0; i <= answer.size(); ++i) {
    if (i < answer.size() && IsLetter(answer[i])) {
      word += Upper(answer[i]);
      continue;
    }
    if (word == "ACTIVE") return MpsStatus::kActive;
    if (word == "INITIALIZING") return MpsStatus::kInitializing;
    if (word == "FAULT") return MpsStatus::kFault;
    word.clear();
  }
  return MpsStatus::kOther;
}

void MpsHealth::OnLook(const MpsLook& look, Time now) {
  const auto symptom = SymptomIn(look);
  wants_server_ = false;
  if (!symptom) {
    Forget();
    return;
  }
  const bool again = bad_since_.has_value();
  if (!again) bad_since_ = now;
  if (now - *bad_since_ >= symptom->patience || !fault_.empty()) fault_ = symptom->words;
  // It waits for the second look in a row: after the first one a client may have come, for which a server
  // starts.
  if (again && look.servers && look.servers->empty()) AskForServer(now);
}

void MpsHealth::AskForServer(Time now) {
  if (next_ask_ && now < *next_ask_) return;
  wants_server_ = true;
  next_ask_ = now + wait_;
  wait_ = std::min(2 * wait_, kLongestWait);
}

}  // namespace crossover::deviceplugin
