// Says which kernels are loaded. On a machine with `lazy_loading` a kernel is loaded by a launch or by
// cuFuncLoad, and that call waits for all work of the context, as a real driver may.
// CUDA_MODULE_LOADING=EAGER loads all kernels with their module.
#pragma once

#include <memory>
#include <string>

#include "simgpu/machine/config.h"

namespace simgpu {

struct Context;
struct Kernel;
struct Stream;

// Returns which launches load a kernel. `machine` is the rule of the machine, and `text` is the value of
// CUDA_MODULE_LOADING (null: unset). EAGER gives the rule by which no launch loads a kernel. Every other text
// gives the rule of the machine. A text that is none of EAGER, LAZY and DEFAULT also puts one line into
// *complaint. Pure.
LoadingRule RuleOfLoading(const LoadingRule& machine, const char* text, std::string* complaint);

// Returns the rule of this process. REQUIRES: the machine is attached.
const LoadingRule& ProcessLoading();

// Stands before each launch. If this launch loads the kernel, blocks until all work of the context is done,
// and for the machine's `loading_us` after that. Does not block while a stream of the process captures.
void LoadForLaunch(const Stream& stream, Kernel& kernel);
// Loads a kernel that no launch has loaded. Blocks as LoadForLaunch() does.
void LoadNow(const std::shared_ptr<Context>& context, Kernel& kernel);
// Returns whether the kernel is loaded.
bool IsLoaded(const Kernel& kernel);

}  // namespace simgpu
