// Runs an all-reduce of a job in a dry run: it counts the call with the reason why it would stay plain, and
// measures on some calls the error that the codecs would make. It changes no call, and no byte of the job.
#pragma once

#include "shrink/library/policies.h"

namespace crossover::shrink::library {

// Makes this process ready to measure, once, on the GPU of its first communicator. Where it cannot, a line
// says why, and calls are listed without errors.
void PrepareToMeasure();

// Lists an all-reduce, measures on its send buffer if it is a sample, and lets it go on. A sample of a group
// waits for the end of the group.
NcclResult Advise(const Reduction& call);

// Queues the samples of the open group, just before its outermost end.
void MeasureGroup();

// Writes the list, as the process ends.
void WriteAdvice();

}  // namespace crossover::shrink::library
