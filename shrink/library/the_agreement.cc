// Defines the votes of the product. Tests link another file in place of this one.
#include <elf.h>
#include <link.h>
#include <string.h>

#include "shrink/library/policies.h"
#include "sidecar/hooks/elf.h"

namespace crossover::shrink::library {
namespace {

// Returns the first 8 bytes of the build ID that the linker put into the object; 0 if there is none.
std::uint64_t BuildIdOf(const dl_phdr_info& object) {
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const char*>(object.dlpi_addr + part.p_vaddr);
    const char* end = at + part.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      memcpy(&note, at, sizeof note);
      const char* content = at + sizeof note + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz >= sizeof(std::uint64_t) &&
          content + note.n_descsz <= end) {
        std::uint64_t id = 0;
        memcpy(&id, content, sizeof id);
        return id;
      }
      at = content + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return 0;
}

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  if (!hooks::Contains(*info, reinterpret_cast<const void*>(&Visit))) return 0;
  *static_cast<std::uint64_t*>(argument) = BuildIdOf(*info);
  return 1;
}

std::uint64_t OwnBuild() {
  std::uint64_t build = 0;
  dl_iterate_phdr(&Visit, &build);
  return build;
}

}  // namespace

Agreement& TheAgreement() {
  static constinit Agreement agreement(meeting::Limits{}, meeting::Watcher{}, &OwnBuild);
  return agreement;
}

}  // namespace crossover::shrink::library
