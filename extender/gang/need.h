// Counts the pods of a gang, and says how many of them must be bound for the gang to be complete. Pure.
//
// A gang is complete when what is left of it is bound. Pods that have done their work are not made again: a
// Job of eight completions needs five pods after three have succeeded. No other code compares the number of a
// gang's pods with its size.
#pragma once

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// A Head holds the numbers of a gang's pods.
struct Head {
  int waiting = 0;      // View::waiting()
  int bound = 0;        // bound and not terminating
  int leaving = 0;      // bound and terminating
  int done = 0;         // View::done()
  int living = 0;       // View::living()
  double newest_s = 0;  // when the newest waiting pod was created; 0: none waits
};

// Returns the numbers of the gang's pods now.
Head CountOf(const GangStore& store, const GangRecord& gang);

// Returns how many pods of the gang must be bound for it to be complete: its size without the pods that have
// done their work and are not made again, as its owner and the pods say. Returns 0 if the size is not known,
// and if the owner has ended. `head` is what CountOf() says of the gang now.
int NeedOf(const GangStore& store, const GangRecord& gang, const Head& head);

// Returns how many pods the gang may start with, at most `need`, which is what NeedOf() says of it now. It is
// less if its owner is elastic and names a minimum. The others are placed later, beside those that run.
int LeastOf(const GangStore& store, const GangRecord& gang, int need);

// Returns whether the owner of the gang says that the job has ended, so that none of its pods needs a place.
bool HasEnded(const GangStore& store, const GangRecord& gang);

}  // namespace crossover::extender
