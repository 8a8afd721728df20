#include "shrink/library/table.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "shrink/library/wrappers.h"
#include "sidecar/hooks/elf.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"

namespace crossover::shrink::library {
namespace {

constexpr std::size_t kFiles = 8;

struct Row {
  const char* symbol;
  void* wrapper;  // for calls that are known to be into the first file
};
const Row kRows[] = {
#define SHRINK_HOOK(symbol, type, policy) \
  {#symbol, reinterpret_cast<void*>(&Wrapper<Hook::k_##symbol>::Call)},
#include "shrink/library/hooks.def"
#undef SHRINK_HOOK
};

struct Question {
  const void* address;
  bool stands_in;
};

int Visit(dl_phdr_info* info, std::size_t, void* argument) {
  auto* question = static_cast<Question*>(argument);
  if (!hooks::Contains(*info, question->address)) return 0;
  question->stands_in = hooks::FindInObject(*info, "dlsym") != nullptr;
  return 1;
}

// Returns the function of the next library in line that stands in front of NCCL, if its calls would reach
// the first file: it decides by the caller, which is this library.
void* NextInLine(const char* symbol) {
  void* next = NextThatStandsIn(symbol);
  if (next == nullptr) return nullptr;
  const void* reached = hooks::FindNcclAnywhere(reinterpret_cast<const void*>(&NextInLine), symbol);
  return reached != nullptr && hooks::NcclFileOf(reached, kFiles) == 0 ? next : nullptr;
}

}  // namespace

bool StandsIn(const void* address) {
  Question question{address, false};
  if (address != nullptr) dl_iterate_phdr(&Visit, &question);
  return question.stands_in;
}

void* NextThatStandsIn(const char* symbol) {
  const hooks::DlsymFunction find = hooks::RealDlsym();
  void* next = find == nullptr ? nullptr : find(RTLD_NEXT, symbol);
  return StandsIn(next) ? next : nullptr;
}

void* FindFunction(Way way, const char* symbol) {
  void* next = way == Way::kLine ? NextInLine(symbol) : nullptr;
  return next != nullptr ? next : hooks::FindNcclSymbol(0, symbol);
}

void* RealFunction(Hook hook, const char* symbol) {
  std::atomic<void*>& known = real_functions[static_cast<std::size_t>(hook)];
  void* real = known.load(std::memory_order_acquire);
  if (real != nullptr) return real;
  real = FindFunction(Way::kLine, symbol);
  if (real != nullptr) known.store(real, std::memory_order_release);
  return real;
}

Target TargetOf(Hook hook, const char* symbol, const void* site) {
  const std::size_t file = hooks::NcclFileOfCall(site, symbol, kFiles);
  if (file == 0) return {RealFunction(hook, symbol), true};
  return {hooks::FindNcclAnywhere(site, symbol), false};
}

void* SubstituteFor(const char* name, void* value, const void* of_nccl) {
  if (hooks::NcclFileOf(of_nccl, kFiles) != 0) return value;
  for (std::size_t i = 0; i < kHooks; ++i) {
    if (strcmp(kRows[i].symbol, name) != 0) continue;
    void* next = NextInLine(name);  // the real dlsym() passes it by
    void* none = nullptr;
    real_functions[i].compare_exchange_strong(none, next == nullptr ? value : next,
                                              std::memory_order_acq_rel);
    return kRows[i].wrapper;
  }
  return value;
}

bool IsHooked(const char* name) {
  for (const Row& row : kRows) {
    if (strcmp(row.symbol, name) == 0) return true;
  }
  return false;
}

}  // namespace crossover::shrink::library
