#include "sidecar/hooks/elf.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include <cstddef>
#include <cstdint>

namespace crossover::hooks {
namespace {

constexpr ElfW(Word) kHeaderWords = 4;  // buckets, first symbol, words of the filter, shift

struct Tables {
  const ElfW(Word) * hash = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
};

// glibc has made these addresses absolute; musl, and both for the vDSO, leave them as in the file.
template <typename T>
const T* At(ElfW(Addr) base, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < base ? base + address : address);
}

Tables TablesOf(const dl_phdr_info& object) {
  Tables tables;
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) address = entry->d_un.d_ptr;
      if (entry->d_tag == DT_GNU_HASH) tables.hash = At<ElfW(Word)>(object.dlpi_addr, address);
      if (entry->d_tag == DT_SYMTAB) tables.symbols = At<ElfW(Sym)>(object.dlpi_addr, address);
      if (entry->d_tag == DT_STRTAB) tables.strings = At<char>(object.dlpi_addr, address);
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
  const Tables tables = TablesOf(object);
  if (tables.hash == nullptr || tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  const ElfW(Word) buckets = tables.hash[0];
  const ElfW(Word) first = tables.hash[1];
  if (buckets == 0) return nullptr;
  const ElfW(Word)* bucket =
      tables.hash + kHeaderWords + tables.hash[2] * (sizeof(ElfW(Addr)) / sizeof(ElfW(Word)));
  const ElfW(Word)* chain = bucket + buckets;
  const std::uint32_t hash = GnuHash(name);
  ElfW(Word) index = bucket[hash % buckets];
  if (index < first) return nullptr;
  // A chain ends with the first hash whose lowest bit is set.
  for (;; ++index) {
    const ElfW(Word) found = chain[index - first];
    const ElfW(Sym)& symbol = tables.symbols[index];
    if ((found | 1) == (hash | 1) && strcmp(tables.strings + symbol.st_name, name) == 0 &&
        IsFunction(symbol)) {
      return reinterpret_cast<void*>(object.dlpi_addr + symbol.st_value);
    }
    if ((found & 1) != 0) return nullptr;
  }
}

}  // namespace crossover::hooks
