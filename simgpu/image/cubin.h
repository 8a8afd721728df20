// Reads machine code of a GPU: an ELF file with a section of code for each kernel. Nothing of the code itself
// is read: the names, the sizes of parameters, the variables and the resources stand in tables. Pure.
#pragma once

#include <optional>
#include <string>

#include "simgpu/image/image.h"
#include "simgpu/image/view.h"

namespace simgpu::image {

// Returns whether the bytes begin as an ELF file.
bool IsElf(View bytes);

// Returns how many bytes the file has, by its own headers. `bytes` may go on behind its end. Returns no
// value, and puts one line in *error, if they are not the headers of machine code for a GPU.
std::optional<std::uint64_t> SizeOfCubin(View bytes, std::string* error);

// Returns the architecture for which the machine code is, 90 for sm_90. Fails as SizeOfCubin() does.
std::optional<int> ArchitectureOfCubin(View bytes, std::string* error);

// Returns what the whole file holds. Fails as SizeOfCubin() does; the line names the section or symbol that
// is wrong.
std::optional<Image> ParseCubin(View bytes, std::string* error);

}  // namespace simgpu::image
