#include "simgpu/image/cubin.h"

#include <elf.h>

#include <algorithm>
#include <unordered_map>

#include "common/base/refusal.h"

namespace simgpu::image {
namespace {

using crossover::base::Refusal;
using crossover::base::Shown;

constexpr unsigned char kEntry = 0x10;  // of a symbol's st_other: a kernel
constexpr std::uint64_t kMostSections = 1 << 22;

// These are attributes of a kernel (.nv.info.NAME) or of the file (.nv.info).
enum Attribute : std::uint8_t {
  kMaxThreads = 0x05,
  kParameter = 0x17,
  kRegisters = 0x2f,
  kLargeParameter = 0x45,
};
// An attribute of this format has a size and a value behind its first four bytes. All others have four bytes.
constexpr std::uint8_t kSizedValue = 0x04;

bool Refuse(const std::string& key, const std::string& expected, const std::string& got, std::string* error) {
  *error = Refusal(key, expected, got);
  return false;
}

struct Section {
  Elf64_Shdr header;
  std::string_view name;  // lies in the file
};

// A File is an ELF file whose section table was read.
struct File {
  View bytes;
  Elf64_Ehdr header;
  std::vector<Section> sections;
  std::unordered_map<std::string_view, std::size_t> by_name;

  const Section* Find(const std::string& name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : &sections[found->second];
  }
};

bool ReadHeader(View bytes, Elf64_Ehdr* header, std::string* error) {
  const auto read = ReadAt<Elf64_Ehdr>(bytes, 0);
  if (!read || !IsElf(bytes))
    return Refuse("ELF header", "64 bytes that begin with 0x7f ELF", "others", error);
  *header = *read;
  if (header->e_ident[EI_CLASS] != ELFCLASS64) {
    return Refuse("ELF class", "2 (64 bits)", std::to_string(header->e_ident[EI_CLASS]), error);
  }
  if (header->e_machine != EM_CUDA) {
    return Refuse("ELF machine", "190 (NVIDIA CUDA)", std::to_string(header->e_machine), error);
  }
  if (header->e_shentsize != sizeof(Elf64_Shdr)) {
    return Refuse("ELF size of a section header", "64", std::to_string(header->e_shentsize), error);
  }
  return true;
}

// Returns the content of a section; one without content in the file is empty. Returns no value if it lies
// outside.
std::optional<View> ContentOf(const File& file, const Section& section) {
  if (section.header.sh_type == SHT_NOBITS) return View{};
  return Part(file.bytes, section.header.sh_offset, section.header.sh_size);
}

std::string_view TextAt(View strings, std::uint64_t at) {
  if (at >= strings.size()) return {};
  const auto* begin = reinterpret_cast<const char*>(strings.data() + at);
  return {begin, strnlen(begin, strings.size() - at)};
}

// Returns how many sections the file has and which of them holds their names. A file with very many of them
// says both in its first section header.
bool CountSections(const File& file, std::uint64_t* count, std::uint64_t* names, std::string* error) {
  *count = file.header.e_shnum;
  *names = file.header.e_shstrndx;
  const auto first = ReadAt<Elf64_Shdr>(file.bytes, file.header.e_shoff);
  if (*count == 0 && first) *count = first->sh_size;
  if (*names == SHN_XINDEX && first) *names = first->sh_link;
  if (*count == 0 || *count > kMostSections) {
    return Refuse("number of sections", "1 to 4194304", std::to_string(*count), error);
  }
  if (*names < *count) return true;
  return Refuse("number of the section of names", "one below " + std::to_string(*count),
                std::to_string(*names), error);
}

bool ReadSections(File* file, std::string* error) {
  std::uint64_t count = 0, names_at = 0;
  if (!CountSections(*file, &count, &names_at, error)) return false;
  const auto table = Part(file->bytes, file->header.e_shoff, count * sizeof(Elf64_Shdr));
  if (!table) {
    return Refuse("table of " + std::to_string(count) + " sections", "to lie within the file",
                  "offset " + std::to_string(file->header.e_shoff), error);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    file->sections.push_back({*ReadAt<Elf64_Shdr>(*table, i * sizeof(Elf64_Shdr)), {}});
  }
  const auto names = ContentOf(*file, file->sections[names_at]);
  for (Section& section : file->sections) {
    if (names) section.name = TextAt(*names, section.header.sh_name);
    if (!names || !ContentOf(*file, section)) {
      return Refuse(
          "section '" + Shown(section.name) + "'", "to lie within the file",
          std::to_string(section.header.sh_size) + " bytes at " + std::to_string(section.header.sh_offset),
          error);
    }
    file->by_name.emplace(section.name, static_cast<std::size_t>(&section - file->sections.data()));
  }
  return true;
}

bool Open(View bytes, File* file, std::string* error) {
  file->bytes = bytes;
  return ReadHeader(bytes, &file->header, error) && ReadSections(file, error);
}

// Gives `take` each attribute of a table: its number and its value. Returns false if the table is cut off.
template <typename Take>
bool ForEachAttribute(View table, const Take& take) {
  std::uint64_t at = 0;
  while (at + 4 <= table.size()) {
    const std::uint8_t format = table[at], attribute = table[at + 1];
    std::uint64_t bytes = 0;
    if (format == kSizedValue) bytes = *ReadAt<std::uint16_t>(table, at + 2);
    const std::optional<View> value = Part(table, at + 4, bytes);
    if (!value) return false;
    take(attribute, *value);
    at += 4 + bytes;
  }
  return at == table.size();
}

void TakeParameter(View value, bool large, KernelImage* kernel) {
  const auto offset = ReadAt<std::uint16_t>(value, 6);
  const auto size = ReadAt<std::uint32_t>(value, 8);
  if (!offset || !size) return;
  kernel->parameters.push_back({*offset, large ? *size : *size >> 18});
}

void TakeMaxThreads(View value, KernelImage* kernel) {
  std::uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t size = ReadAt<std::uint32_t>(value, 4 * static_cast<std::uint64_t>(i)).value_or(1);
    threads *= std::clamp<std::uint32_t>(size, 1, 1024);
  }
  kernel->most_threads = static_cast<int>(std::min<std::uint64_t>(threads, 1024));
}

// Reads what the table of one kernel says. Returns false and sets *error if the table is malformed.
bool ReadKernel(const File& file, KernelImage* kernel, std::string* error) {
  const std::string name = ".nv.info." + kernel->name;
  const Section* table = file.Find(name);
  const bool whole =
      table == nullptr || ForEachAttribute(*ContentOf(file, *table), [&](auto attribute, View value) {
        if (attribute == kParameter) TakeParameter(value, false, kernel);
        if (attribute == kLargeParameter) TakeParameter(value, true, kernel);
        if (attribute == kMaxThreads) TakeMaxThreads(value, kernel);
      });
  if (!whole)
    return Refuse("section '" + Shown(name) + "'", "whole attributes", "one that is cut off", error);
  std::sort(kernel->parameters.begin(), kernel->parameters.end(),
            [](const Parameter& a, const Parameter& b) { return a.offset < b.offset; });
  const Section* shared = file.Find(".nv.shared." + kernel->name);
  if (shared != nullptr) kernel->shared_bytes = static_cast<std::uint32_t>(shared->header.sh_size);
  return true;
}

bool IsVariable(const Elf64_Sym& symbol, std::string_view section) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size > 0 &&
         (section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3");
}

bool ReadVariable(const File& file, const Section& section, const Elf64_Sym& symbol, std::string_view name,
                  Image* image, std::string* error) {
  GlobalImage variable{std::string(name), symbol.st_size, {}};
  if (section.header.sh_type != SHT_NOBITS) {
    const auto initial = Part(*ContentOf(file, section), symbol.st_value, symbol.st_size);
    if (!initial) {
      return Refuse("variable '" + Shown(name) + "'", "to lie within section '" + Shown(section.name) + "'",
                    std::to_string(symbol.st_size) + " bytes at " + std::to_string(symbol.st_value), error);
    }
    variable.initial.assign(initial->begin(), initial->end());
  }
  image->globals.push_back(std::move(variable));
  return true;
}

// Returns in which section a symbol lies. If its own field is too small for the number, it stands in a table.
std::uint32_t SectionOf(const Elf64_Sym& symbol, std::uint32_t index, View large_numbers) {
  if (symbol.st_shndx != SHN_XINDEX) return symbol.st_shndx < SHN_LORESERVE ? symbol.st_shndx : SHN_UNDEF;
  return ReadAt<std::uint32_t>(large_numbers, std::uint64_t{index} * 4).value_or(SHN_UNDEF);
}

// Reads the kernels and variables. Notes in *kernels which symbol is which kernel. Returns false and sets
// *error if anything is malformed.
bool ReadSymbols(const File& file, Image* image, std::unordered_map<std::uint32_t, std::size_t>* kernels,
                 std::string* error) {
  const Section* table = file.Find(".symtab");
  if (table == nullptr || table->header.sh_link >= file.sections.size()) {
    return Refuse("ELF sections", "'.symtab' with a section of names", "none", error);
  }
  const View symbols = *ContentOf(file, *table);
  const View names = *ContentOf(file, file.sections[table->header.sh_link]);
  const Section* large = file.Find(".symtab_shndx");
  const View large_numbers = large == nullptr ? View{} : *ContentOf(file, *large);
  for (std::uint32_t i = 0; i < symbols.size() / sizeof(Elf64_Sym); ++i) {
    const auto symbol = *ReadAt<Elf64_Sym>(symbols, std::uint64_t{i} * sizeof(Elf64_Sym));
    const std::string_view name = TextAt(names, symbol.st_name);
    const std::uint32_t at = SectionOf(symbol, i, large_numbers);
    if (at == SHN_UNDEF || at >= file.sections.size() || name.empty()) continue;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && (symbol.st_other & kEntry) != 0) {
      KernelImage kernel;
      kernel.name = name;
      if (!ReadKernel(file, &kernel, error)) return false;
      (*kernels)[i] = image->kernels.size();
      image->kernels.push_back(std::move(kernel));
    } else if (IsVariable(symbol, file.sections[at].name)) {
      if (!ReadVariable(file, file.sections[at], symbol, name, image, error)) return false;
    }
  }
  return true;
}

// Returns the architecture that the header names. Files before ABI 8 say it in another place.
int ArchitectureOf(const Elf64_Ehdr& header) {
  constexpr unsigned char kNewAbi = 8;
  const unsigned shift = header.e_ident[EI_ABIVERSION] >= kNewAbi ? 8 : 0;
  return static_cast<int>(header.e_flags >> shift & 0xff);
}

}  // namespace

bool IsElf(View bytes) { return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0; }

std::optional<std::uint64_t> SizeOfCubin(View bytes, std::string* error) {
  File file;
  if (!Open(bytes, &file, error)) return std::nullopt;
  const Elf64_Ehdr& header = file.header;
  std::uint64_t size = header.e_shoff + file.sections.size() * sizeof(Elf64_Shdr);
  if (header.e_phnum > 0) {
    size = std::max(size, header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize);
  }
  for (const Section& section : file.sections) {
    if (section.header.sh_type != SHT_NOBITS)
      size = std::max(size, section.header.sh_offset + section.header.sh_size);
  }
  if (size <= bytes.size()) return size;
  Refuse("size of the ELF file", std::to_string(size) + " bytes, as its headers say",
         std::to_string(bytes.size()), error);
  return std::nullopt;
}

std::optional<int> ArchitectureOfCubin(View bytes, std::string* error) {
  Elf64_Ehdr header;
  if (!ReadHeader(bytes, &header, error)) return std::nullopt;
  return ArchitectureOf(header);
}

std::optional<Image> ParseCubin(View bytes, std::string* error) {
  File file;
  if (!Open(bytes, &file, error)) return std::nullopt;
  Image image;
  image.architecture = ArchitectureOf(file.header);
  std::unordered_map<std::uint32_t, std::size_t> kernels;
  if (!ReadSymbols(file, &image, &kernels, error)) return std::nullopt;
  const Section* table = file.Find(".nv.info");
  if (table == nullptr) return image;
  const bool whole = ForEachAttribute(*ContentOf(file, *table), [&](auto attribute, View value) {
    const auto symbol = ReadAt<std::uint32_t>(value, 0);
    const auto number = ReadAt<std::uint32_t>(value, 4);
    if (attribute != kRegisters || !symbol || !number) return;
    const auto kernel = kernels.find(*symbol);
    if (kernel != kernels.end()) image.kernels[kernel->second].registers = static_cast<int>(*number & 0xffff);
  });
  if (whole) return image;
  Refuse("section '.nv.info'", "whole attributes", "one that is cut off", error);
  return std::nullopt;
}

}  // namespace simgpu::image
