// Defines what the arbiter thread needs of the client that it connects to the arbiter.
#pragma once

#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "proto/turnstile.h"
#include "sidecar/arbiter_client/arbiter_messages.h"
#include "sidecar/arbiter_client/own_fd.h"
#include "turn/ops.h"

namespace crossover::arbiter_client {

// A Client takes part in the turns of one GPU. The arbiter thread makes all these calls.
class Client {
 public:
  // Prepares the arbiter thread. It is the first call on that thread.
  virtual void OnThreadStart() = 0;

  // Returns the transport for the Hello message (enum crossover_transport).
  virtual std::uint32_t wanted_transport() const = 0;

  // Limits the memory that this process may have on each GPU to `bytes`, as the arbiter knows it.
  virtual void LimitMemory(std::uint64_t bytes) = 0;

  // Begins to take part with slot `slot` of `page`, which the arbiter has given to this client. Returns false
  // if it cannot take part with this page; the caller then unmaps the page.
  virtual bool Attach(crossover_page* page, turn::SlotIndex slot) = 0;

  // Stops taking turns, because the arbiter is lost. Takes no lock: a user's thread may hold the lock and
  // wait for a turn.
  virtual void StopTaking() = 0;
  // Stops using the page. Once this has returned, only operations that were queued before touch the page.
  virtual void Detach() = 0;

  // Returns the number of the newest turn asked for. Takes no lock.
  virtual turn::TurnNumber Asked() const = 0;

  // Does periodic work while attached, and returns in how many microseconds it must be called again. Never
  // waits for a user's thread, which may wait for a turn that only the arbiter thread can open.
  virtual int OnTick() = 0;

  // Takes what the arbiter says about signals: an offer, with the memory that came along, and the answer of a
  // signaller. Both return at once.
  virtual void OnOffer(const crossover_offer& offer, OwnFd memory) = 0;
  virtual void OnProven(const crossover_proof& proof) = 0;
  // Fills in the next message that must be sent: about signals, about what the job calls, or about its
  // reductions. Returns false if there is none.
  virtual bool NextMessage(ToArbiter* message) = 0;

  // Fills in everything but the header. Returns false if another thread holds the client's lock. Like
  // OnTick(), never waits for a user's thread.
  virtual bool FillProfile(crossover_profile* profile) = 0;

 protected:
  constexpr Client() = default;
  Client(const Client&) = default;
  Client& operator=(const Client&) = default;
  ~Client() = default;
};

}  // namespace crossover::arbiter_client
