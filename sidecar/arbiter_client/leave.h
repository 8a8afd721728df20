// Lets go of a turnstile whose arbiter is lost.
#pragma once

#include "sidecar/arbiter_client/abandoned_pages.h"
#include "sidecar/arbiter_client/client.h"
#include "sidecar/arbiter_client/connection.h"

namespace crossover::arbiter_client {

// Opens the client's gate until no thread or stream waits there, then detaches the client from the page.
// Counts a fault if one waited. Takes about two seconds at most, whatever the page says, besides the time of
// Client::Detach(). REQUIRES: Client::StopTaking() was called, and this is the arbiter thread.
//
// It opens the gate once more after Detach(), because a thread may have asked for a turn meanwhile. Such a
// thread may hold the client's lock while it waits for room in the driver's queue, behind a turn that no
// arbiter grants any more. So `pages` begins to open the gate before Detach() takes that lock.
void LetGo(Client* client, const Membership& membership, AbandonedPages* pages);

}  // namespace crossover::arbiter_client
