// Lets go of a turnstile whose arbiter is lost.
#pragma once

#include "sidecar/link/client.h"
#include "sidecar/link/connection.h"
#include "sidecar/link/leftovers.h"

namespace crossover::link {

// Opens the client's gate until no thread or stream waits there, then detaches the client from the page.
// Counts a fault if one waited. Takes about two seconds at most, whatever the page says, besides the time of
// Client::Detach(). REQUIRES: Client::StopTaking() was called, and this is the helper thread.
//
// It opens the gate once more after Detach(), because a thread may have asked for a turn meanwhile. Such a
// thread may hold the client's lock while it waits for room in the driver's queue, behind a turn that no
// arbiter grants any more. So `leftovers` begins to open the gate before Detach() takes that lock.
void LetGo(Client* client, const Membership& membership, Leftovers* leftovers);

}  // namespace crossover::link
