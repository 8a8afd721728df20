// Maps a turnstile that came over a socket. The other end is not trusted.
#pragma once

#include "proto/turnstile.h"

namespace crossover::link {

// Maps `fd`, shared and writable, if it is what a turnstile must be: one page that nobody can shrink or grow
// (a client must not be killed by SIGBUS), with the magic, version and sizes that we know. Else null, and
// `*why` says what is wrong. The caller keeps `fd`. A forked child does not get the mapping.
crossover_page* MapPage(int fd, const char** why);

// Only where no GPU work can touch it any more.
void UnmapPage(crossover_page* page);

}  // namespace crossover::link
