// Declares the host functions of the kernels, one for each of TRAINER_KERNELS: trainer_<name>(args), where
// args[i] points to the i-th kernel parameter.
#pragma once

#include "examples/trainer/ops.h"

#define DECLARE_KERNEL(name, sms) extern "C" void trainer_##name(void* const* args);
TRAINER_KERNELS(DECLARE_KERNEL)
#undef DECLARE_KERNEL
