/* Closes descriptor numbers or takes them over while it trains: `stranger_closer WAY`.
 *
 * closefrom  closes every number that it and the driver can do without, as a daemon does, and opens sockets
 * socket     puts a socket of its own on the library's number, by dup2()
 * pipe       puts a pipe there
 * forks      puts a socket there, and lets a child read what lies in it
 * twice      becomes a daemon by two forks, with a clean table, before it begins
 *
 * What lies in its sockets and pipes must be there at the end, and nothing else may come. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "benchmarks/strangers/rank.h"

enum { kEager = 60, kNumbers = 1024, kPairs = 48 };
static const char kData[] = "what belongs to the program";

static void Need(int holds, const char* what) {
  if (!holds) StrangerFail(what);
}

/* A Held is a channel of two ends. Data lies in one direction, and nothing in the other. */
struct Held {
  int near, far;
};

static struct Held Hold(int near, int far) {
  const struct Held held = {near, far};
  Need(write(far, kData, sizeof kData) == (ssize_t)sizeof kData, "data cannot be sent");
  return held;
}

static struct Held HoldSocket(int number) {
  int ends[2];
  Need(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "no socketpair");
  if (number >= 0 && ends[0] != number) {
    Need(dup2(ends[0], number) == number, "dup2 of a socket failed");
    close(ends[0]);
    ends[0] = number;
  }
  return Hold(ends[0], ends[1]);
}

static struct Held HoldPipe(int number) {
  int ends[2];
  Need(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  if (ends[0] != number) {
    Need(dup2(ends[0], number) == number, "dup2 of a pipe failed");
    close(ends[0]);
  }
  return Hold(number, ends[1]);
}

static void ReadBack(struct Held held) {
  char data[2 * sizeof kData];
  Need(fcntl(held.near, F_SETFL, fcntl(held.near, F_GETFL) | O_NONBLOCK) == 0,
       "a number of the program is closed");
  Need(read(held.near, data, sizeof data) == (ssize_t)sizeof kData && memcmp(data, kData, sizeof kData) == 0,
       "data that lay in a file of the program is gone");
  Need(read(held.near, data, sizeof data) < 0, "more came than was sent, or the other end is closed");
  struct stat status;
  Need(fstat(held.far, &status) == 0, "the other number of the program is closed");
  if (S_ISSOCK(status.st_mode))
    Need(recv(held.far, data, sizeof data, MSG_DONTWAIT) < 0, "something of others came to the program");
}

static void CloseAll(void) {
  for (int number = 3; number < kNumbers; ++number) {
    if (!StrangerNeeds(number)) close(number);
  }
}

static void LetChildRead(struct Held held) {
  const pid_t child = fork();
  Need(child >= 0, "no fork");
  if (child == 0) {
    char data[sizeof kData];
    const int is_there = recv(held.near, data, sizeof data, MSG_DONTWAIT) == (ssize_t)sizeof kData &&
                         memcmp(data, kData, sizeof kData) == 0;
    /* It puts back what it read, for the parent. */
    _exit(is_there && send(held.far, kData, sizeof kData, 0) == (ssize_t)sizeof kData ? 0 : 1);
  }
  int status = 0;
  Need(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
       "a child did not find the data of its parent");
}

static void BecomeDaemon(void) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  for (int number = 3; number < kNumbers; ++number) close(number);
  const int nothing = open("/dev/null", O_RDWR);
  for (int number = 0; number < 3; ++number) dup2(nothing, number);
  if (nothing > 2) close(nothing);
}

int main(int argc, char** argv) {
  const char* const way = argc == 2 ? argv[1] : "";
  struct Held held[kPairs] = {{0, 0}};
  int count = 0;
  if (strcmp(way, "twice") == 0) BecomeDaemon();
  StrangerBegin();
  StrangerTrain(kEager);
  const int number = StrangerNumber();
  if (strcmp(way, "closefrom") == 0 || strcmp(way, "twice") == 0) {
    CloseAll();
    while (count < kPairs) held[count++] = HoldSocket(-1);
  } else if (strcmp(way, "pipe") == 0) {
    held[count++] = HoldPipe(number);
  } else if (strcmp(way, "socket") == 0 || strcmp(way, "forks") == 0) {
    held[count++] = HoldSocket(number);
  } else {
    StrangerFail("usage: stranger_closer closefrom|socket|pipe|forks|twice");
  }
  if (strcmp(way, "forks") == 0) LetChildRead(held[0]);
  StrangerActed();
  StrangerTrainOn();
  while (count > 0) ReadBack(held[--count]);
  StrangerEnd();
  return 0;
}
