// Maps a turnstile that came over a socket. The other end is not trusted.
#pragma once

#include "proto/turnstile.h"

namespace crossover::arbiter_client {

// Maps `fd`, shared and writable, and returns the page. Returns null if `fd` is not what a turnstile must be:
// one page with the magic, version and sizes that we know, sealed so that no process can shrink or grow it
// (else SIGBUS could kill a client). `*why` then says what is wrong, as a static string. The caller keeps
// `fd`. A forked child does not get the mapping.
crossover_page* MapPage(int fd, const char** why);

// Unmaps `page`. REQUIRES: no GPU work can touch it any more.
void UnmapPage(crossover_page* page);

}  // namespace crossover::arbiter_client
