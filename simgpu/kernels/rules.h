// Reads the rules for what kernels cost from the machine's configuration. Pure.
#pragma once

#include <string>

#include "simgpu/kernels/cost.h"

namespace simgpu {

// Reads a decimal or hexadecimal number that is all of the text. Returns false if it is none from `low` to
// `high`; *value then says nothing.
bool ReadNumber(const std::string& text, double low, double high, double* value);

// Sets one key of a rule (name, ns, ns_per_wave, ns_per_kib, sms) from its text. Returns false, with one line
// in *error, for an unknown key or a value that is not allowed.
bool SetRuleKey(KernelRule* rule, const std::string& key, const std::string& value, std::string* error);

// Checks a rule to which nothing more is added. Returns false, with one line in *error, if it has no name, or
// says nothing about the kernels of that name.
bool CompleteRule(const KernelRule& rule, std::string* error);

}  // namespace simgpu
