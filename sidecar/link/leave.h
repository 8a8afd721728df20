// Lets go of a turnstile whose arbiter is lost.
#pragma once

#include "sidecar/link/client.h"
#include "sidecar/link/connection.h"
#include "sidecar/link/leftovers.h"

namespace crossover::link {

// Opens the client's gate until no thread waits there, then detaches the client from the page. Counts a
// fault where a thread waited. Takes two seconds at most, whatever the page says, besides what
// Client::Detach() takes. REQUIRES: Client::StopTaking() was called.
//
// The gate is opened a second time after Detach(), since a thread may have asked for a turn meanwhile. Such
// a thread may hold the client's lock, and wait for room in the driver's queue behind a turn that is left
// over. So `leftovers` opens these turns before Detach() takes that lock.
void LetGo(Client* client, const Membership& membership, Leftovers* leftovers);

}  // namespace crossover::link
