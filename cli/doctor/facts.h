// Holds what the doctor looks at. probe.cc collects it, checks.cc judges it.
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
  int connect_errno = 0;  // of connect(); 0: the daemon accepts
};

struct ElfFacts {
  bool is_elf = false;
  unsigned char elf_class = 0;  // ELFCLASS32, ELFCLASS64
  std::uint16_t machine = 0;    // EM_X86_64, ...
};

struct LibraryFacts {
  std::string path;  // empty: not found
  bool readable = false;
  ElfFacts file;
  ElfFacts own;           // of this program
  bool tried = false;     // a process was started with the library
  std::string complaint;  // what the dynamic linker, or the process, then reported
};

struct DriverFacts {
  bool loaded = false;
  std::string error;  // from the dynamic linker
  int version = 0;    // as CUDA writes it: 13000 is 13.0
};

struct MpsFacts {
  std::string control;    // path of the control daemon's pipe
  int connect_errno = 0;  // of a connection to it; 0: the control daemon listens
  std::string fault{};    // why it takes no new clients, as the node daemon knows
  std::string unasked{};  // why the node daemon cannot ask it
  // The file system that pods under MPS have as /dev/shm, and what is free there, in bytes; 0: none is known.
  std::uint64_t shm_bytes = 0;
  std::uint64_t shm_free_bytes = 0;
};

struct KernelFacts {
  std::string release;
  std::string memfd_error;  // why sealed memory cannot be made; empty: it can
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
  std::vector<std::string> unreadable_preloads;  // files in LD_PRELOAD that this user cannot read
  DriverFacts driver;
  MpsFacts mps;
  KernelFacts kernel;
  std::shared_ptr<const node::v1::Top> daemon;  // null: not asked, or no answer
  // These are the ages of those processes of jobs that are visible, when the daemon was asked.
  std::map<std::uint32_t, double> process_age_s;
};

}  // namespace crossover::cli
