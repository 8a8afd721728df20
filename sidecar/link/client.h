// What the helper thread needs of the client that it connects to the arbiter.
#pragma once

#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::link {

class Client {
 public:
  // First thing on the helper thread.
  virtual void OnThreadStart() = 0;

  // For Hello: enum crossover_transport.
  virtual std::uint32_t wanted_transport() const = 0;

  // The arbiter let us in. False: this client cannot take part with this page.
  virtual bool Attach(crossover_page* page, turn::SlotIndex slot) = 0;

  // The arbiter is lost. StopTaking() takes no lock: a user's thread may hold it and wait for a turn. Once
  // Detach() returned the page is not touched any more but by what is queued.
  virtual void StopTaking() = 0;
  virtual void Detach() = 0;

  // Number of the newest turn asked for. Takes no lock.
  virtual turn::TurnNumber Asked() const = 0;

  // Called now and then while attached. Answers in how many microseconds it wants to be called again.
  virtual int OnTick() = 0;

  // Everything but the header; false if it cannot be had now. Like OnTick(), never waits for a user's thread,
  // which may wait for a turn that only the helper can open.
  virtual bool FillProfile(crossover_profile* profile) = 0;

 protected:
  constexpr Client() = default;
  Client(const Client&) = default;
  Client& operator=(const Client&) = default;
  ~Client() = default;
};

}  // namespace crossover::link
