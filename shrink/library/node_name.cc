#include "shrink/library/node_name.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace crossover::shrink::library {
namespace {

void Append(Name* name, const char* text) {
  while (*text != '\0' && name->size < sizeof name->text) name->text[name->size++] = *text++;
}

}  // namespace

Name NodeName() {
  Name name;
  const char* chosen = ::getenv("NCCL_HOSTID");
  if (chosen != nullptr && *chosen != '\0') {
    Append(&name, chosen);
    return name;
  }
  char text[256]{};
  if (::gethostname(text, sizeof text - 1) == 0) Append(&name, text);
  std::FILE* boot = std::fopen("/proc/sys/kernel/random/boot_id", "re");
  if (boot == nullptr) return name;
  if (std::fgets(text, sizeof text, boot) != nullptr) Append(&name, text);
  std::fclose(boot);
  return name;
}

}  // namespace crossover::shrink::library
