// libs: crossover_sidecar_core
// Looks for names in a loaded object whose tables are patched as the input says. In tables as a linker
// writes them, each name is found and no other. In patched ones, nothing outside the object's memory is
// read, and what is found lies within it.
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sidecar/hooks/elf.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/require.h"

namespace {

using crossover::fuzz::Bytes;
using crossover::fuzz::Require;
using crossover::hooks::Contains;
using crossover::hooks::FindInObject;

constexpr char kAbsent[] = "crossover_no_such_name";

std::uint32_t GnuHash(const std::string& name) {
  std::uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
  return hash;
}

template <class T>
void Put(std::vector<std::uint8_t>* bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes->insert(bytes->end(), from, from + sizeof value);
}

// A Linked holds what a linker writes: dynamic section, hash table, symbols, strings.
class Linked {
 public:
  Linked(std::vector<std::string> names, std::uint32_t buckets)
      : names_(std::move(names)), buckets_(buckets) {
    std::stable_sort(names_.begin(), names_.end(), [&](const std::string& a, const std::string& b) {
      return GnuHash(a) % buckets_ < GnuHash(b) % buckets_;
    });
    const std::size_t hash = 4 * sizeof(ElfW(Dyn));
    std::size_t symbols = hash + 16 + 8 + 4 * (buckets_ + names_.size());
    symbols += symbols % 8;
    const std::size_t strings = symbols + (names_.size() + 1) * sizeof(ElfW(Sym));
    PutEntry(DT_GNU_HASH, hash);
    PutEntry(DT_SYMTAB, symbols);
    PutEntry(DT_STRTAB, strings);
    PutEntry(DT_NULL, 0);
    PutHash();
    bytes_.resize(symbols);
    PutSymbols();
  }

  const std::vector<std::uint8_t>& bytes() const { return bytes_; }
  // Returns where the function of a name lies.
  static std::size_t OffsetOf(const std::string& name) { return GnuHash(name) % (4 * sizeof(ElfW(Dyn))); }

 private:
  void PutEntry(ElfW(Sxword) tag, std::size_t offset) {
    ElfW(Dyn) entry{};
    entry.d_tag = tag;
    entry.d_un.d_ptr = offset;
    Put(&bytes_, entry);
  }

  void PutHash() {
    for (const std::uint32_t word : {buckets_, 1u, 1u, 6u}) Put(&bytes_, word);
    Put(&bytes_, ~std::uint64_t{0});  // the filter lets everything pass
    const auto bucket_of = [&](std::size_t i) { return GnuHash(names_[i]) % buckets_; };
    for (std::uint32_t bucket = 0; bucket < buckets_; ++bucket) {
      std::size_t first = 0;
      while (first < names_.size() && bucket_of(first) != bucket) ++first;
      Put(&bytes_, static_cast<std::uint32_t>(first == names_.size() ? 0 : first + 1));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const bool last = i + 1 == names_.size() || bucket_of(i + 1) != bucket_of(i);
      Put(&bytes_, (GnuHash(names_[i]) & ~1u) | (last ? 1u : 0u));
    }
  }

  void PutSymbols() {
    Put(&bytes_, ElfW(Sym){});
    std::string strings(1, '\0');
    for (const std::string& name : names_) {
      ElfW(Sym) symbol{};
      symbol.st_name = static_cast<ElfW(Word)>(strings.size());
      symbol.st_info = STT_FUNC;
      symbol.st_shndx = 1;
      symbol.st_value = OffsetOf(name);
      Put(&bytes_, symbol);
      strings += name + '\0';
    }
    bytes_.insert(bytes_.end(), strings.begin(), strings.end());
  }

  std::vector<std::string> names_;
  std::uint32_t buckets_;
  std::vector<std::uint8_t> bytes_;
};

// A Loaded is the object in memory of its own size, so that a sanitizer sees what is read outside.
class Loaded {
 public:
  explicit Loaded(const std::vector<std::uint8_t>& bytes)
      : size_(bytes.size()), memory_(new (std::align_val_t{16}) std::uint8_t[size_]) {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
    parts_[0] = {};
    parts_[0].p_type = PT_LOAD;
    parts_[0].p_flags = PF_R;
    parts_[0].p_memsz = size_;
    parts_[1] = parts_[0];  // a second segment has the rest if there are two
    parts_[1].p_memsz = 0;
    parts_[2] = parts_[0];
    parts_[2].p_type = PT_DYNAMIC;
    parts_[2].p_memsz = 4 * sizeof(ElfW(Dyn));
    object_.dlpi_addr = reinterpret_cast<ElfW(Addr)>(memory_.get());
    object_.dlpi_phdr = parts_;
    object_.dlpi_phnum = 3;
  }

  // Patches the tables or the segments. The load segments stay inside the memory, because the loader maps
  // what they say.
  void Patch(Bytes* input) {
    const std::uint16_t where = input->Next<std::uint16_t>();
    const std::uint8_t what = input->NextByte();
    if (what % 8 == 0) {
      parts_[2].p_vaddr = input->Next<std::uint32_t>();
    } else if (what % 8 == 1) {
      parts_[2].p_memsz = input->Next<std::uint64_t>();
    } else if (what % 8 == 2) {
      Split(where % size_);
    } else {
      const std::size_t at = where % size_;
      input->Take(memory_.get() + at, std::min<std::size_t>(what % 8, size_ - at));
    }
  }

  void* Find(const std::string& name) const {
    void* found = FindInObject(object_, name.c_str());
    Require(found == nullptr || Contains(object_, found));
    return found;
  }
  const void* At(std::size_t offset) const { return memory_.get() + offset; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { operator delete[](memory, std::align_val_t{16}); }
  };

  void Split(std::size_t at) {
    parts_[0].p_memsz = at;
    parts_[1].p_vaddr = at;
    parts_[1].p_memsz = size_ - at;
  }

  std::size_t size_;
  std::unique_ptr<std::uint8_t[], Free> memory_;
  ElfW(Phdr) parts_[3] = {};
  dl_phdr_info object_{};
};

}  // namespace

// The input says how many buckets and names there are. The names follow, and then patches.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes input(data, size);
  const std::uint32_t buckets = 1 + input.NextByte() % 4;
  std::set<std::string> names;
  for (int left = input.NextByte() % 8; left > 0; --left) {
    std::string name(1 + input.NextByte() % 8, 'n');
    input.Take(name.data(), name.size());
    names.insert(name.substr(0, name.find('\0')));
  }
  Loaded loaded(Linked({names.begin(), names.end()}, buckets).bytes());
  for (const std::string& name : names) Require(loaded.Find(name) == loaded.At(Linked::OffsetOf(name)));
  Require(loaded.Find(kAbsent) == nullptr);
  while (!input.empty()) {
    loaded.Patch(&input);
    for (const std::string& name : names) loaded.Find(name);
    loaded.Find(kAbsent);
  }
  return 0;
}
