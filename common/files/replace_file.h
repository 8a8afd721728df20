// Writes whole files. Thread-safe.
#pragma once

#include <string>

namespace crossover::files {

// Replaces the file at `path` by one with this text, or makes it. Readers see the old text or the new one,
// and a failure leaves the old one. The file keeps its mode, and a symbolic link at `path` stays and leads to
// the new text. What is no regular file, such as a pipe or a device, is written to. Returns "", or "PATH:
// cannot be written: REASON". The folder has the new text for a moment as PATH.PID.new.
std::string ReplaceFile(const std::string& path, const std::string& text);

}  // namespace crossover::files
