// Exports the calls of the stand-in libraries. Their numbers and layouts are those of NVIDIA's interfaces; no
// header of theirs is used.
#pragma once

#define SIMGPU_MATH_CALL extern "C" __attribute__((visibility("default")))
