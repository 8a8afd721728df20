// Asking servers of this process over real sockets.
#pragma once

#include <string>
#include <vector>

namespace crossover::extender::testing {

int FreePort();  // of 127.0.0.1; nobody else has it, for now

struct Question {
  std::string url;
  std::string body{};    // empty: GET
  std::string method{};  // empty: as the body wants it
  std::vector<std::string> headers{};
  std::string ca_file{}, certificate_file{}, key_file{};  // of https
};

struct Reply {
  long status = 0;  // 0: there was none
  std::string body;
  std::string error;
};

Reply Ask(const Question& question);

// A connection that says anything.
class RawConnection {
 public:
  explicit RawConnection(int port);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  void Say(const std::string& bytes) const;
  // Says no more, and hears what there is until the other end closes.
  std::string Hear() const;

 private:
  int fd_ = -1;
};

// One that somebody else listens on.
class TakenPort {
 public:
  TakenPort();
  ~TakenPort();
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  int port() const { return port_; }

 private:
  int fd_ = -1;
  int port_ = 0;
};

// Writes a new certificate for 127.0.0.1, its own authority, and its key.
void MakeCertificate(const std::string& chain_file, const std::string& key_file, long lasts_s = 3600);

int Threads();  // of this process

}  // namespace crossover::extender::testing
