// What the doctor looks at: gathered by probe.cc, judged by checks.cc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace crossover::node::v1 {
class Top;
}

namespace crossover::cli {

struct SocketFacts {
  std::string path;
  bool exists = false;
  bool is_socket = false;
  unsigned mode = 0;  // of the file
  uid_t owner = 0;
  int connect_errno = 0;  // 0: somebody answers
};

struct ElfFacts {
  bool is_elf = false;
  unsigned char elf_class = 0;  // ELFCLASS32, ELFCLASS64
  std::uint16_t machine = 0;    // EM_X86_64, ...
};

struct LibraryFacts {
  std::string path;  // empty: none was found
  bool readable = false;
  ElfFacts file;
  ElfFacts own;           // this program's
  bool tried = false;     // a process was started with it
  std::string complaint;  // what the dynamic linker said to that
};

struct DriverFacts {
  bool loaded = false;
  std::string error;  // of the dynamic linker
  int version = 0;    // as the driver counts: 13000 is 13.0
};

struct MpsFacts {
  std::string control;  // where its control daemon's pipe would be
  bool there = false;
};

struct KernelFacts {
  std::string release;
  std::string memfd_error;  // why no sealed memory can be made; empty: it can
  bool robust_futex = false;
  bool peer_pidfd = false;
  bool membarrier = false;
};

struct Facts {
  uid_t user = 0;
  SocketFacts arbiter;
  SocketFacts api;
  LibraryFacts library;
  std::map<std::string, std::string> environment;
  std::vector<std::string> unreadable_preloads;  // files that LD_PRELOAD names and nobody can read
  DriverFacts driver;
  MpsFacts mps;
  KernelFacts kernel;
  std::shared_ptr<const node::v1::Top> daemon;    // null: it was not asked, or did not answer
  std::map<std::uint32_t, double> process_age_s;  // of the jobs' processes that can be seen
};

}  // namespace crossover::cli
