// Asks servers of this process over real sockets.
#pragma once

#include <string>
#include <vector>

namespace crossover::extender::testing {

int FreePort();  // a port of 127.0.0.1 that is free for now

struct Question {
  std::string url;
  std::string body{};    // empty: GET
  std::string method{};  // empty: GET or POST, as `body` needs
  std::vector<std::string> headers{};
  std::string ca_file{}, certificate_file{}, key_file{};  // for https
};

struct Reply {
  long status = 0;  // 0: no reply came
  std::string body;
  std::string error;
};

Reply Ask(const Question& question);

// A TCP connection to 127.0.0.1 that sends any bytes, valid HTTP or not.
class RawConnection {
 public:
  explicit RawConnection(int port);
  ~RawConnection();
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  void Say(const std::string& bytes) const;
  // Sends no more, and returns what the other end sends until it closes.
  std::string Hear() const;

 private:
  int fd_ = -1;
};

// Listens on a port, so that a server finds it taken.
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

// Writes a new self-signed certificate for 127.0.0.1, and its key.
void MakeCertificate(const std::string& chain_file, const std::string& key_file, long lasts_s = 3600);

int Threads();  // threads of this process

}  // namespace crossover::extender::testing
