// Reads the names in a PTX text: its kernels with the sizes of their parameters, and its variables. The
// instructions are not read. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "simgpu/image/image.h"

namespace simgpu::image {

// Returns whether the text is PTX: behind blanks and comments it begins with the directive .version.
bool IsPtx(std::string_view text);

// Returns the architecture that the text is written for, 90 for sm_90; 0 if its first lines do not say it.
// Reads no further than they.
int ArchitectureOfPtx(std::string_view text);

// Reads a text. Returns no value, and puts one line in *error that names the line of the text, if a kernel or
// a variable in it is not well-formed. What stands inside of functions is skipped, whatever it is.
std::optional<Image> ParsePtx(std::string_view text, std::string* error);

}  // namespace simgpu::image
