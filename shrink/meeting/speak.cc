#include "shrink/meeting/speak.h"

#include <variant>

#include "shrink/meeting/sockets.h"
#include "shrink/vote/voter.h"

namespace crossover::shrink::meeting {
namespace {

using vote::Voter;
using vote::VoterPhase;

// A Speaker is one vote of a rank.
class Speaker {
 public:
  Speaker(const vote::Hello& own, bool ready, const Limits& limits, const Watcher& watcher)
      : own_(own), limits_(limits), watcher_(watcher), voter_(&own_, ready) {}

  Outcome Run(const Place& place) {
    deadline_ = DeadlineIn(limits_.greeting_ms);
    watcher_.At(Moment::kConnects, -1);
    socket_ = Connect(place, deadline_);
    if (!socket_) {
      Do(voter_.Unreachable());
    } else {
      watcher_.At(Moment::kConnected, socket_.get());
    }
    while (!vote::HasEnded(voter_.phase)) Turn();
    return {voter_.phase, voter_.budget_mib, reason_};
  }

 private:
  void Turn() {
    if (!AwaitInput(socket_.get(), deadline_)) return Do(voter_.EndTime());
    switch (reader_.Read(socket_.get())) {
      case MessageReader::State::kPart:
        return;
      case MessageReader::State::kEnded:
        return Do(voter_.Lose());
      case MessageReader::State::kMessage:
      case MessageReader::State::kBroken:
        break;
    }
    const vote::ToVoter message = vote::ParseForVoter(reader_.message());
    if (const auto* greeting = std::get_if<vote::Greeting>(&message)) {
      watcher_.At(Moment::kGreeted, socket_.get());
      Do(voter_.Hear(*greeting));
    } else if (const auto* verdict = std::get_if<vote::Verdict>(&message)) {
      Do(voter_.Hear(*verdict));
    } else {
      Do(voter_.Hear(*std::get_if<vote::Broken>(&message)));
    }
  }

  void Do(const Voter::Step& step) {
    if (!step.reason.empty()) reason_ = step.reason;
    switch (step.act) {
      case Voter::Act::kNothing:
        return;
      case Voter::Act::kSayNotReady:
        SendMessage(socket_.get(), vote::MakeNo(own_, vote::Why::kNotReady));
        return;
      case Voter::Act::kSayOtherVersion:
        SendMessage(socket_.get(), vote::MakeNo(own_, vote::Why::kOtherVersion));
        return;
      case Voter::Act::kSayHello:
        deadline_ = DeadlineIn(limits_.verdict_ms);
        if (!SendMessage(socket_.get(), vote::MakeHello(own_))) return Do(voter_.FailToSend());
        watcher_.At(Moment::kSaidHello, socket_.get());
        return;
    }
  }

  const vote::Hello own_;
  const Limits limits_;
  const Watcher watcher_;
  Voter voter_;
  UniqueFd socket_;
  MessageReader reader_;
  std::int64_t deadline_ = 0;
  Reason reason_;
};

}  // namespace

Outcome Speak(const Place& place, const vote::Hello& own, bool ready, const Limits& limits,
              const Watcher& watcher) {
  return Speaker(own, ready, limits, watcher).Run(place);
}

}  // namespace crossover::shrink::meeting
