#include "sidecar/hooks/elf.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

namespace crossover::hooks {
namespace {

constexpr ElfW(Word) kHeaderWords = 4;  // buckets, first symbol, words of the filter, shift

// An Image is the memory of an object's segments. The tables of a broken or packed object may point outside
// them; an Image reads nothing there.
class Image {
 public:
  explicit Image(const dl_phdr_info& object) : object_(object) {}

  // Returns how many bytes can be read from `address` on; 0 if the object has none there.
  std::size_t Room(ElfW(Addr) address) const {
    const ElfW(Addr) offset = address - object_.dlpi_addr;
    for (std::size_t i = 0; i < object_.dlpi_phnum; ++i) {
      const ElfW(Phdr)& part = object_.dlpi_phdr[i];
      const bool readable = part.p_type == PT_LOAD && (part.p_flags & PF_R) != 0;
      if (readable && offset - part.p_vaddr < part.p_memsz) return part.p_memsz - (offset - part.p_vaddr);
    }
    return 0;
  }

  // Returns the T at `address`, or null if it cannot be read.
  template <typename T>
  const T* At(ElfW(Addr) address) const {
    if (address % alignof(T) != 0 || Room(address) < sizeof(T)) return nullptr;
    return reinterpret_cast<const T*>(address);
  }

  bool HasText(ElfW(Addr) address, const char* text) const {
    const std::size_t bytes = strlen(text) + 1;
    return Room(address) >= bytes && memcmp(reinterpret_cast<const char*>(address), text, bytes) == 0;
  }

 private:
  const dl_phdr_info& object_;
};

struct Tables {
  ElfW(Addr) hash = 0;
  ElfW(Addr) symbols = 0;
  ElfW(Addr) strings = 0;
};

// Returns the absolute form of an address from the dynamic section. glibc has made these addresses absolute
// already. musl leaves them as they are in the file, and both leave those of the vDSO.
ElfW(Addr) Absolute(ElfW(Addr) base, ElfW(Addr) address) { return address < base ? base + address : address; }

Tables TablesOf(const dl_phdr_info& object, const Image& image) {
  Tables tables;
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type != PT_DYNAMIC) continue;
    for (std::size_t at = 0; at < part.p_memsz; at += sizeof(ElfW(Dyn))) {
      const auto* entry = image.At<ElfW(Dyn)>(object.dlpi_addr + part.p_vaddr + at);
      if (entry == nullptr || entry->d_tag == DT_NULL) break;
      const ElfW(Addr) address = Absolute(object.dlpi_addr, entry->d_un.d_ptr);
      if (entry->d_tag == DT_GNU_HASH) tables.hash = address;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = address;
      if (entry->d_tag == DT_STRTAB) tables.strings = address;
    }
  }
  return tables;
}

std::uint32_t GnuHash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

bool IsFunction(const ElfW(Sym) & symbol) {
  return symbol.st_shndx != SHN_UNDEF && (symbol.st_info & 0xf) == STT_FUNC;
}

}  // namespace

bool Contains(const dl_phdr_info& object, const void* address) {
  const auto offset = reinterpret_cast<ElfW(Addr)>(address) - object.dlpi_addr;
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && offset - part.p_vaddr < part.p_memsz) return true;
  }
  return false;
}

void* FindInObject(const dl_phdr_info& object, const char* name) {
  using Word = ElfW(Word);
  const Image image(object);
  const Tables tables = TablesOf(object, image);
  if (tables.hash == 0 || tables.symbols == 0 || tables.strings == 0) return nullptr;
  if (image.Room(tables.hash) < kHeaderWords * sizeof(Word)) return nullptr;
  const auto* header = image.At<Word>(tables.hash);
  if (header == nullptr || header[0] == 0) return nullptr;
  const Word buckets = header[0], first = header[1];
  const ElfW(Addr) bucket =
      tables.hash + kHeaderWords * sizeof(Word) + ElfW(Addr){header[2]} * sizeof(ElfW(Addr));
  const ElfW(Addr) chain = bucket + ElfW(Addr){buckets} * sizeof(Word);
  const std::uint32_t hash = GnuHash(name);
  const auto* begin = image.At<Word>(bucket + hash % buckets * sizeof(Word));
  if (begin == nullptr || *begin < first) return nullptr;
  // A chain ends with the first hash whose lowest bit is set.
  for (ElfW(Addr) index = *begin;; ++index) {
    const auto* found = image.At<Word>(chain + (index - first) * sizeof(Word));
    const auto* symbol = image.At<ElfW(Sym)>(tables.symbols + index * sizeof(ElfW(Sym)));
    if (found == nullptr || symbol == nullptr) return nullptr;
    if ((*found | 1) == (hash | 1) && image.HasText(tables.strings + symbol->st_name, name) &&
        IsFunction(*symbol)) {
      void* function = reinterpret_cast<void*>(object.dlpi_addr + symbol->st_value);
      return Contains(object, function) ? function : nullptr;
    }
    if ((*found & 1) != 0) return nullptr;
  }
}

}  // namespace crossover::hooks
