// Makes module images as compilers lay them out: machine code (ELF) with the tables that name its kernels,
// and fat binaries around images. Nothing in them comes from a compiler.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace simgpu::image {

using Bytes = std::vector<std::uint8_t>;

template <class T>
void Append(Bytes* bytes, const T& value) {
  const auto* from = reinterpret_cast<const std::uint8_t*>(&value);
  bytes->insert(bytes->end(), from, from + sizeof value);
}

// A MadeKernel is a kernel to put into machine code: sizes of parameters, registers, threads by launch
// bounds, bytes of static shared memory.
struct MadeKernel {
  std::string name;
  std::vector<std::uint32_t> parameters;
  int registers = 8;
  std::uint32_t most_threads = 0;
  std::uint32_t shared = 0;
};

// A CubinMaker writes one ELF file.
class CubinMaker {
 public:
  explicit CubinMaker(int architecture) : architecture_(architecture) {
    Add("", SHT_NULL, {});
    names_at_ = Add(".shstrtab", SHT_STRTAB, {});
    strings_at_ = Add(".strtab", SHT_STRTAB, {});
    strings_.push_back(0);
    Append(&symbols_, Elf64_Sym{});
  }

  void AddKernel(const MadeKernel& kernel) {
    const std::size_t code = Add(".text." + kernel.name, SHT_PROGBITS, Bytes(16));
    const auto symbol = static_cast<std::uint32_t>(symbols_.size() / sizeof(Elf64_Sym));
    AddSymbol(kernel.name, STT_FUNC, code, 0, 16, kEntry);
    Bytes table;
    std::uint32_t offset = 0;
    std::uint16_t ordinal = 0;
    for (const std::uint32_t bytes : kernel.parameters) {
      const std::uint32_t alignment = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
      offset = (offset + alignment - 1) / alignment * alignment;
      const bool large = bytes >= 1 << 14;
      for (const std::uint16_t word : {large ? kLargeParameter : kParameter, std::uint16_t{12}})
        Append(&table, word);
      Append(&table, std::uint32_t{0});
      for (const std::uint16_t word : {ordinal++, static_cast<std::uint16_t>(offset)}) Append(&table, word);
      Append(&table, large ? bytes : bytes << 18 | 0x1f000);
      offset += bytes;
    }
    if (kernel.most_threads > 0) {
      for (const std::uint16_t word : {kMaxThreads, std::uint16_t{12}}) Append(&table, word);
      for (const std::uint32_t size : {kernel.most_threads, 1u, 1u}) Append(&table, size);
    }
    Append(&table, kParameterBytes);
    Append(&table, static_cast<std::uint16_t>(offset));
    Add(".nv.info." + kernel.name, SHT_LOPROC, table);
    if (kernel.shared > 0) Add(".nv.shared." + kernel.name, SHT_NOBITS, {}, kernel.shared);
    for (const std::uint16_t word : {kRegisters, std::uint16_t{8}}) Append(&info_, word);
    Append(&info_, symbol);
    Append(&info_, static_cast<std::uint32_t>(kernel.registers));
  }

  // Adds a variable with a first content, or one of `zeros` bytes.
  void AddGlobal(const std::string& name, const Bytes& initial, std::uint64_t zeros = 0) {
    const bool has_content = !initial.empty();
    const std::size_t at = has_content ? Add(".nv.global.init", SHT_PROGBITS, initial)
                                       : Add(".nv.global", SHT_NOBITS, {}, zeros);
    AddSymbol(name, STT_OBJECT, at, 0, has_content ? initial.size() : zeros, 0);
  }

  Bytes Make() {
    Add(".nv.info", SHT_LOPROC, info_);
    const std::size_t symbols = Add(".symtab", SHT_SYMTAB, symbols_);
    sections_[symbols].header.sh_link = static_cast<Elf64_Word>(strings_at_);
    sections_[strings_at_].content = strings_;
    Bytes names;
    for (Section& section : sections_) {
      section.header.sh_name = static_cast<Elf64_Word>(names.size());
      names.insert(names.end(), section.name.begin(), section.name.end());
      names.push_back(0);
    }
    sections_[names_at_].content = names;
    Bytes file(sizeof(Elf64_Ehdr));
    for (Section& section : sections_) {
      section.header.sh_offset = file.size();
      if (section.header.sh_type != SHT_NOBITS) section.header.sh_size = section.content.size();
      file.insert(file.end(), section.content.begin(), section.content.end());
    }
    WriteHeader(&file);
    for (const Section& section : sections_) Append(&file, section.header);
    return file;
  }

 private:
  // These are attributes as they stand in tables: the format, and above it the number.
  static constexpr std::uint16_t kParameter = 0x1704, kLargeParameter = 0x4504, kMaxThreads = 0x0504,
                                 kRegisters = 0x2f04, kParameterBytes = 0x1903;
  static constexpr unsigned char kEntry = 0x10;

  struct Section {
    std::string name;
    Elf64_Shdr header;
    Bytes content;
  };

  std::size_t Add(const std::string& name, Elf64_Word type, const Bytes& content, std::uint64_t bytes = 0) {
    Elf64_Shdr header{};
    header.sh_type = type;
    header.sh_size = bytes;
    sections_.push_back({name, header, content});
    return sections_.size() - 1;
  }

  void AddSymbol(const std::string& name, unsigned char type, std::size_t section, std::uint64_t value,
                 std::uint64_t size, unsigned char other) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(strings_.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
    symbol.st_other = other;
    symbol.st_shndx = static_cast<Elf64_Section>(section);
    symbol.st_value = value;
    symbol.st_size = size;
    Append(&symbols_, symbol);
    strings_.insert(strings_.end(), name.begin(), name.end());
    strings_.push_back(0);
  }

  void WriteHeader(Bytes* file) const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_ABIVERSION] = 8;
    header.e_type = ET_EXEC;
    header.e_machine = EM_CUDA;
    header.e_flags = static_cast<Elf64_Word>(architecture_) << 8 | 4;
    header.e_shoff = file->size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(sections_.size());
    header.e_shstrndx = static_cast<Elf64_Half>(names_at_);
    std::memcpy(file->data(), &header, sizeof header);
  }

  const int architecture_;
  std::size_t names_at_ = 0, strings_at_ = 0;
  std::vector<Section> sections_;
  Bytes symbols_, strings_, info_;
};

// A MadeEntry is an image to put into a fat binary; `unpacked` is its size if it is packed.
struct MadeEntry {
  std::uint16_t kind = 2;  // 1: PTX, 2: machine code
  std::uint32_t architecture = 90;
  Bytes content;
  std::uint64_t flags = 0x11;
  std::uint64_t unpacked = 0;
};

inline Bytes MakeFatbin(const std::vector<MadeEntry>& entries) {
  Bytes all;
  for (const MadeEntry& entry : entries) {
    const std::uint64_t padded = (entry.content.size() + 7) / 8 * 8;
    const auto packed = static_cast<std::uint32_t>(entry.unpacked == 0 ? 0 : entry.content.size());
    Append(&all, entry.kind);
    Append(&all, std::uint16_t{0x101});
    Append(&all, std::uint32_t{64});
    Append(&all, padded);
    for (const std::uint32_t word : {packed, 0u, 0x10008u, entry.architecture, 0u, 0u}) Append(&all, word);
    for (const std::uint64_t word : {entry.flags, std::uint64_t{0}, entry.unpacked}) Append(&all, word);
    all.insert(all.end(), entry.content.begin(), entry.content.end());
    all.resize(all.size() + padded - entry.content.size());
  }
  Bytes fatbin;
  Append(&fatbin, std::uint32_t{0xba55ed50});
  for (const std::uint16_t word : {std::uint16_t{1}, std::uint16_t{16}}) Append(&fatbin, word);
  Append(&fatbin, std::uint64_t{all.size()});
  fatbin.insert(fatbin.end(), all.begin(), all.end());
  return fatbin;
}

// Packs bytes as an LZ4 block that holds them as they are.
inline Bytes PackLz4(const Bytes& bytes) {
  Bytes block;
  const bool is_long = bytes.size() >= 15;
  block.push_back(static_cast<std::uint8_t>(is_long ? 0xf0 : bytes.size() << 4));
  if (is_long) {
    block.insert(block.end(), (bytes.size() - 15) / 255, 255);
    block.push_back(static_cast<std::uint8_t>((bytes.size() - 15) % 255));
  }
  block.insert(block.end(), bytes.begin(), bytes.end());
  return block;
}

// Packs bytes as a Zstandard frame of one block that holds them as they are. REQUIRES: at most 128 KiB.
inline Bytes PackZstd(const Bytes& bytes) {
  Bytes frame = {0x28, 0xb5, 0x2f, 0xfd, 0xa0};  // a single segment; its size has four bytes
  Append(&frame, static_cast<std::uint32_t>(bytes.size()));
  const auto header = static_cast<std::uint32_t>(bytes.size() << 3 | 1);
  for (int i = 0; i < 3; ++i) frame.push_back(static_cast<std::uint8_t>(header >> 8 * i));
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  return frame;
}

// Returns machine code with kernels of each kind.
inline Bytes SomeCubin(int architecture = 90) {
  CubinMaker maker(architecture);
  maker.AddKernel({.name = "plain", .parameters = {8, 4, 12, 8}, .registers = 17, .shared = 1280});
  maker.AddKernel({.name = "_Z5typedIfEvPT_S0_", .parameters = {8, 4}, .registers = 12});
  maker.AddKernel({.name = "large", .parameters = {20000, 8, 2}, .most_threads = 96});
  maker.AddKernel({.name = "_Z4nonev", .parameters = {}});
  maker.AddGlobal("counter", {7, 0, 0, 0});
  maker.AddGlobal("table", {}, 400);
  return maker.Make();
}

}  // namespace simgpu::image
