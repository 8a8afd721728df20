#include "deviceplugin/mps/health.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

#include "common/base/gpu_phrases.h"

namespace crossover::deviceplugin {
namespace {

// A Row says how long a symptom has to last until it counts, and describes it in words.
struct Row {
  MpsSymptom symptom;
  MpsHealth::Time patience;
  const char* words;
};

// The symptom that counts soonest comes first.
constexpr std::array kRows = {
    Row{MpsSymptom::kFault, 0, "its server is in FAULT, until the clients that the fault hit have ended"},
    Row{MpsSymptom::kStopped, MpsHealth::kStopped, "the process of its server is stopped"},
    Row{MpsSymptom::kDaemonSilent, MpsHealth::kSilent, "its control daemon does not answer"},
    Row{MpsSymptom::kServerSilent, MpsHealth::kSilent, "its server does not answer"},
    Row{MpsSymptom::kNone, MpsHealth::kNone, "its server cannot start"},
    Row{MpsSymptom::kInitializing, MpsHealth::kLong, "its server does not get beyond INITIALIZING"},
    Row{MpsSymptom::kInDriver, MpsHealth::kLong, "its server hangs in the driver"},
    Row{MpsSymptom::kNeverWell, MpsHealth::kLong,
        "its control daemon or its servers were unwell at each look for 30 s"}};

std::optional<MpsSymptom> SymptomOf(const MpsLook::Server& server) {
  if (server.status == MpsStatus::kFault) return MpsSymptom::kFault;
  if (server.state == 'T' || server.state == 't') return MpsSymptom::kStopped;
  if (!server.status) return MpsSymptom::kServerSilent;
  if (server.status == MpsStatus::kInitializing) return MpsSymptom::kInitializing;
  if (server.state == 'D') return MpsSymptom::kInDriver;
  return std::nullopt;
}

std::set<MpsSymptom> SymptomsIn(const MpsLook& look) {
  if (look.list == MpsLook::List::kSilent) return {MpsSymptom::kDaemonSilent};
  if (look.servers.empty()) return {MpsSymptom::kNone};
  std::set<MpsSymptom> symptoms;
  for (const MpsLook::Server& server : look.servers) {
    if (const auto symptom = SymptomOf(server)) symptoms.insert(*symptom);
  }
  return symptoms;
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
  wants_server_ = false;
  if (look.list == MpsLook::List::kUnknown) {  // the last judgement stays
    known_ = true;
    return;
  }
  const std::set<MpsSymptom> symptoms = SymptomsIn(look);
  if (symptoms.empty()) {
    Forget();
    known_ = true;
    return;
  }
  const bool none = symptoms.contains(MpsSymptom::kNone);
  const bool again = since_.contains(MpsSymptom::kNone);
  std::erase_if(since_, [&](const auto& entry) {
    return entry.first != MpsSymptom::kNeverWell && !symptoms.contains(entry.first);
  });
  for (const MpsSymptom symptom : symptoms) since_.emplace(symptom, now);
  if (!none) server_asked_.reset();
  if (!none || server_asked_) {
    since_.emplace(MpsSymptom::kNeverWell, now);
  } else if (now - since_.at(MpsSymptom::kNone) >= kNone) {  // MPS is merely idle
    since_.erase(MpsSymptom::kNeverWell);
  }
  Judge(now);
  // A server is wanted only at the second look in a row without one, because a client may just have come, for
  // which a server starts. If it is not known yet whether MPS takes clients, slots wait for the answer, and
  // the first look is enough.
  wants_server_ = none && (again || !known_) && (!next_ask_ || now >= *next_ask_);
}

// Sets the fault if a symptom has lasted long enough to count. A fault stays until a look finds no symptom.
void MpsHealth::Judge(Time now) {
  for (const Row& row : kRows) {
    const auto since = since_.find(row.symptom);
    if (since == since_.end()) continue;
    const bool none = row.symptom == MpsSymptom::kNone;
    if (none && !server_asked_) continue;
    if (now - (none ? *server_asked_ : since->second) < row.patience) continue;
    fault_ = std::string(base::kSaysMpsTakesNone) + ": " + row.words;
    known_ = true;
    return;
  }
}

void MpsHealth::OnServerAsked(bool taken, Time now) {
  wants_server_ = false;
  next_ask_ = now + wait_;
  wait_ = std::min(2 * wait_, kLongestWait);
  if (taken && !server_asked_) server_asked_ = now;
  known_ |= !taken;  // nothing more can be found out
}

}  // namespace crossover::deviceplugin
