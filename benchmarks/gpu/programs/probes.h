// Declares the probes of gpu_probe. Each prints one JSON line and returns the exit code.
#pragma once

#include <span>

namespace crossover::bench {

using Arguments = std::span<char* const>;

int Info(Arguments arguments);
int Lookups(Arguments arguments);
int Words(Arguments arguments);
int Blocked(Arguments arguments);
int Queues(Arguments arguments);
int Loop(Arguments arguments);
int Allocate(Arguments arguments);
int AskReleases(Arguments arguments);
int Crowd(Arguments arguments);
int Openings(Arguments arguments);
int LongWait(Arguments arguments);
int RunLitmus(Arguments arguments);
int Stand(Arguments arguments);
int Names(Arguments arguments);
int Joins(Arguments arguments);

}  // namespace crossover::bench
