// Remembers which gangs made room for others: they keep their age in the queue, and are spared for a while.
// Pure.
//
// A gang that left may have no pod for some time, and its record is forgotten. What is remembered of it is
// kept by a mark that its next pods have, too. The API server has it in two places, for the next leader: in
// the reservations of the gang that got the room (Left), and on the pods that come again
// (kMadeRoomAnnotation).
#pragma once

#include <optional>
#include <string>

#include "common/base/names.h"
#include "extender/gang/gang_store.h"

namespace crossover::extender {

// The extender writes this on pods of a gang that made room for another one and comes again: when that was,
// and since when the gang has waited.
inline constexpr char kMadeRoomAnnotation[] = CROSSOVER_DOMAIN "/status-made-room";

// Returns the mark of a gang: a hash of its namespace and its name, or of its controller if no gang is known.
// It is the same when the gang comes again. Other users cannot read a name from it.
std::string MarkOf(const Membership& membership);

// Returns by what a plan names a gang that makes room for it. It is the mark. If the gang is one pod of a
// controller that makes several, it is a hash that is of this pod alone.
std::string VictimKeyOf(const Membership& membership);

// Returns what is remembered of the gang, or null if it made no room.
const MadeRoom* MadeRoomOf(const GangStore& store, const GangRecord& gang);

// Remembers that the gang makes room now.
void NoteMadeRoom(GangStore& store, const GangRecord& gang);

// Returns since when the gang has waited, for its place in the queue: when its first pod was created, or
// earlier if it has made room before.
double AgeOf(const GangStore& store, const GangRecord& gang);

// Returns until when the gang is spared, or 0 if it is not. `started_s` is when it got its GPUs, if the API
// server says it.
double SparedUntil(const GangStore& store, const GangRecord& gang, std::optional<double> started_s);

// Writes what is remembered to those pods of the gang that wait and do not say it.
void SayThatItMadeRoom(GangStore& store, GangRecord& gang);

// Remembers what an earlier leader knew of the gang with this mark, unless something later is known.
void Recall(GangStore& store, const std::string& mark, const MadeRoom& made);

// Remembers what the annotations of all pods that came again say.
void RecallMadeRoom(GangStore& store);

// Forgets what is older than a day.
void ForgetOldRoom(GangStore& store);

// Returns the text of the annotation.
std::string WriteMadeRoom(const MadeRoom& made);
// Parses the text of the annotation. Returns nothing if `text` is not as WriteMadeRoom() writes it.
std::optional<MadeRoom> ReadMadeRoom(const std::string& text);

}  // namespace crossover::extender
