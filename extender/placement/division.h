// Decides how the pods of a gang may be spread over topology domains, if its own constraints limit that:
// anti-affinity, affinity and topology spread between its pods. Limits of single nodes are not here: a
// Fitness gives them (fitness.h). Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace crossover::placement {

// A Division divides nodes into domains, and limits how many pods of one gang each of them takes. Fields that
// are left as they are limit nothing.
struct Division {
  std::string what;        // the constraint that it comes from, in words for its user
  std::vector<int> of;     // by index of a node in State::nodes: its domain, or -1 if this does not limit it
  std::vector<int> there;  // by domain: pods that count already. Domains without GPUs count as well.
  int most = 0;            // pods of the gang in each domain; 0: any number
  bool together = false;   // all pods of the gang are in one domain
  // If above 0, a pod comes to a domain only while that has, with the pod, at most this many more than the
  // domain with the fewest (maxSkew).
  int skew = 0;
  bool from_none = false;  // the fewest counts as 0, because there are too few domains (minDomains)
};

// A Room says how many pods of a gang a node takes, or gets.
struct Room {
  int node;  // index in State::nodes
  int pods;
};

// Returns how many pods each of `rooms` gets, at most as many as it takes, so that all divisions hold and the
// pods can be bound one after the other (WavesOf). Prefers few nodes. With `empty`, the pods that count
// already are left out. Returns nothing if there is no such choice.
//
// Exact for divisions of one topology label, and for one with `skew` besides others without. If several have
// `skew`, it may miss a choice for the order of its pods. Returns nothing if the domains of two divisions
// overlap and neither has all nodes of the other.
std::optional<std::vector<int>> Divide(std::span<const Division> divisions, std::span<const Room> rooms,
                                       int pods, bool empty);

// Returns whether the divisions permit exactly these pods, and some order of binding them.
bool Permits(std::span<const Division> divisions, std::span<const Room> chosen);

// Returns for each pod, of which `nodes` has the node, the wave in which it is bound. Within a wave any order
// will do; a wave begins when the one before it is bound. All are in wave 0 if the divisions do not ask for
// an order. Returns nothing if it finds no order that the divisions permit.
std::optional<std::vector<int>> WavesOf(std::span<const Division> divisions, std::span<const int> nodes);

}  // namespace crossover::placement
