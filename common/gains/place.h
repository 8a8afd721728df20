// Predicts how much shorter the step of a job becomes if its pods have other seats.
//
// A job computes for c and then waits for m. Meanwhile the busiest uplink carries its bytes for l. If it
// carries them for l' on other seats, the wait is shorter by as much, until nothing of it is left:
//
//   m' = max(m - (l - l'), 0)      gain = (c + m) / (c + m')
//
// Bytes that travel beside compute count like the others: the last of them leave l - l' earlier as long as
// they keep the link busy. Pure.
#pragma once

namespace crossover::gains {

// Returns the gain. REQUIRES: compute_s > 0, exposed_s >= 0, and 0 <= least_s <= uplink_s.
double GainOfPlace(double compute_s, double exposed_s, double uplink_s, double least_s);

}  // namespace crossover::gains
