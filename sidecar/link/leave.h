// How a client lets go of a turnstile whose arbiter is lost.
#pragma once

#include "sidecar/link/client.h"
#include "sidecar/link/connection.h"
#include "sidecar/link/leftovers.h"

namespace crossover::link {

// Leaves no thread waiting, and lets the page go, in that order. The client takes no turns any more
// (Client::StopTaking). A turn that a thread has asked for meanwhile is opened by a second pass. Such a
// thread may hold the client's lock and wait for room behind a turn that is left over: those are opened
// before that lock is asked for. Counts a fault where a thread waited. Takes two seconds at most, whatever
// stands on the page, besides what Client::Detach() takes.
void LetGo(Client* client, const Membership& membership, Leftovers* leftovers);

}  // namespace crossover::link
