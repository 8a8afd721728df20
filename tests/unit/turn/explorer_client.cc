#include "tests/unit/turn/explorer_client.h"

#include <algorithm>
#include <array>
#include <utility>

namespace crossover::turn::test {
namespace {

using Phase = Client::Phase;

bool IsWait(const SignalledOp& op) { return op.op.kind == Op::Kind::kWaitGeq; }
bool OnThePage(const SignalledOp& op) { return op.target == SignalledOp::Target::kPage; }

template <class List, std::size_t kCount>
void Fill(List* list, const std::array<SignalledOp, kCount>& ops) {
  for (const SignalledOp& op : ops) list->op[list->count++] = op;
}
template <class List, std::size_t kCount>
void Fill(List* list, const std::array<Op, kCount>& ops) {
  for (const Op& op : ops) list->op[list->count++] = OnPage(op);
}

}  // namespace

ClientProgram::OpList ClientProgram::AcquireOf(SlotIndex i, TurnNumber k) const {
  OpList list;
  if (options_.signals == Signals::kNone) {
    Fill(&list, Acquire(i, k));
    return list;
  }
  Fill(&list, AcquireBySignal(i, k));
  if (options_.bad_shut_before_reset) std::swap(list.op[list.count - 2], list.op[list.count - 1]);
  if (options_.bad_signal_alone) {
    std::copy(list.op + 3, list.op + list.count, list.op + 2);
    --list.count;
  }
  return list;
}

ClientProgram::OpList ClientProgram::YieldOf(SlotIndex i, TurnNumber k) const {
  OpList list;
  if (options_.signals == Signals::kNone) {
    Fill(&list, Yield(i, k));
  } else {
    Fill(&list, YieldBySignal(i, k));
  }
  if (options_.bad_rel_before_ready) std::swap(list.op[0], list.op[1]);
  return list;
}

ClientProgram::OpList ClientProgram::ReleaseOf(SlotIndex i, const Client& c) const {
  OpList list;
  if (options_.signals == Signals::kNone) {
    Fill(&list, Release(i, Number(c), c.successor, c.open));
  } else {
    Fill(&list, ReleaseBySignal(i, Number(c), c.successor, c.open));
  }
  if (options_.bad_rel_before_gate) std::swap(list.op[0], list.op[1]);
  return list;
}

ClientProgram::OpList ClientProgram::ListOf(const World& world, SlotIndex i) const {
  const Client& c = world.client[i];
  if (c.phase == Phase::kAcquire) return AcquireOf(i, Number(c));
  if (c.phase == Phase::kYield) return YieldOf(i, Number(c));
  return ReleaseOf(i, c);
}

SignalledOp ClientProgram::NextOp(const World& world, SlotIndex i) const {
  return ListOf(world, i).op[world.client[i].step];
}

bool ClientProgram::InTurn(const World& world, SlotIndex i) const {
  const Client& c = world.client[i];
  if (!c.alive || c.phase == Phase::kRelease) return false;
  if (c.phase == Phase::kTurn || (c.phase == Phase::kYield && c.step == 1)) return true;
  const OpList list = ListOf(world, i);
  return std::none_of(list.op + c.step, list.op + list.count, IsWait);
}

bool ClientProgram::Waits(const World& world, SlotIndex i) const {
  return world.client[i].alive && world.client[i].turn <= options_.turns && IsWait(NextOp(world, i));
}

bool ClientProgram::CanStep(const World& world, SlotIndex i) const {
  const Client& c = world.client[i];
  if (!c.alive || c.turn > options_.turns) return false;
  const SignalledOp next = NextOp(world, i);
  if (!IsWait(next)) return true;
  const Op& op = next.op;
  if (!OnThePage(next)) return !world.signals_kept || (world.come >> op.slot & 1) != 0;
  if (world.gates_copied) return AtOrPast(world.copy[op.slot], op.value);
  return AtOrPast(world.word[op.slot][static_cast<int>(op.word)], op.value);
}

void ClientProgram::WriteSignal(World* world, SlotIndex i, const Op& op) const {
  if (!world->signals_kept) return;
  world->flight[i][op.slot] = op.value == kSignalCome ? Flight::kCome : Flight::kRest;
  if (!options_.late_signals) Land(world, i, op.slot);
}

void ClientProgram::Land(World* world, SlotIndex from, SlotIndex slot) {
  const Flight flight = std::exchange(world->flight[from][slot], Flight::kNone);
  const auto bit = 1u << slot;
  if (flight == Flight::kCome) world->come = static_cast<std::uint8_t>(world->come | bit);
  if (flight == Flight::kRest) world->come = static_cast<std::uint8_t>(world->come & ~bit);
}

void ClientProgram::Perform(World* world, SlotIndex i, const SignalledOp& signalled) const {
  const Op& op = signalled.op;
  if (IsWait(signalled)) return;
  if (!OnThePage(signalled)) return WriteSignal(world, i, op);
  if (op.word == Word::kGate && world->gates_gone) return;
  world->word[op.slot][static_cast<int>(op.word)] = op.value;
  if (op.word == Word::kGate && world->gates_copied) world->copy[op.slot] = op.value;
}

void ClientProgram::Advance(World* world, SlotIndex i) const {
  Client& c = world->client[i];
  const OpList list = ListOf(*world, i);
  Perform(world, i, list.op[c.step]);
  if (c.phase == Phase::kTurn) c.phase = Phase::kRelease;
  if (++c.step < list.count) return;
  c.step = 0;
  if (c.phase == Phase::kRelease) {
    c.phase = Phase::kAcquire;
    ++c.turn;
    c.yields = 0;
    c.successor = 0;
    c.open = 0;
    return;
  }
  if (c.phase == Phase::kYield) ++c.yields;
  c.phase = Phase::kTurn;
}

void ClientProgram::BeginYield(World* world, SlotIndex i) const {
  Client& c = world->client[i];
  Perform(world, i, YieldOf(i, Number(c)).op[0]);
  c.phase = Phase::kYield;
  c.step = 1;
}

void ClientProgram::Bake(World* world, SlotIndex i, SlotIndex successor) const {
  Client& c = world->client[i];
  c.successor = static_cast<std::uint8_t>(successor);
  c.open = OpenFor(i, c.turn, successor, world->word[successor][0]);
}

bool ClientProgram::Writes(const World& world, SlotIndex i) const { return !IsWait(NextOp(world, i)); }

void ClientProgram::WriteLate(World* world, SlotIndex i) const {
  Perform(world, i, NextOp(*world, i));
  world->client[i].late = false;
}

}  // namespace crossover::turn::test
