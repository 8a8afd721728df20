/* Has two libraries of the driver's name in the process while it trains: `stranger_loader WAY`.
 *
 * stub_first    opens the stub for all to see, and then the driver by its name
 * driver_first  opens the driver, trains, and then opens the stub
 * falls_back    opens libcuda.so, sees that it is a stub, and falls back to libcuda.so.1
 * deep          opens the stub and the driver with RTLD_DEEPBIND
 * plugin        opens a plugin that was linked against the stub, first
 * closes        opens the stub, looks, and closes it again
 * apart         opens the stub in a namespace of its own, by dlmopen()
 *
 * It records what each library answers. Environment: LIBRARIES, where our libraries are, and STUBS. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kEager = 60, kPath = 4096, kStubLibrary = 34 };

typedef int (*Call)(void*, void*);
typedef int (*Allocate)(unsigned long long*, size_t);
typedef int (*Free)(unsigned long long);

typedef void (*Plain)(void);
typedef void (*Train)(int);
typedef void (*Saw)(const char*, int);
typedef void (*Fail)(const char*);

/* These are the functions of rank.h. */
static Plain begin, acted, train_on, end;
static Train train;
static Saw saw;
static Fail fail;

static void* Open(const char* variable, const char* file, int flags) {
  char path[kPath];
  const char* const folder = variable == NULL ? NULL : getenv(variable);
  snprintf(path, sizeof path, "%s%s%s", folder == NULL ? "" : folder, folder == NULL ? "" : "/", file);
  void* const library = dlopen(path, flags);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return library;
}

static void* Find(void* library, const char* name) {
  void* const symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  return symbol;
}

static void OpenRank(void) {
  void* const rank = Open("LIBRARIES", "libstranger_rank.so", RTLD_NOW);
  begin = (Plain)Find(rank, "StrangerBegin");
  acted = (Plain)Find(rank, "StrangerActed");
  train_on = (Plain)Find(rank, "StrangerTrainOn");
  end = (Plain)Find(rank, "StrangerEnd");
  train = (Train)Find(rank, "StrangerTrain");
  saw = (Saw)Find(rank, "StrangerSaw");
  fail = (Fail)Find(rank, "StrangerFail");
}

static void* OpenStub(int flags) { return Open("STUBS", "libcuda.so", RTLD_NOW | flags); }

/* Asks a library for its version, and for memory where it has a context. */
static void Ask(const char* who, void* library, int is_stub) {
  char what[128];
  int version = 0;
  unsigned long long address = 0;
  const int known = ((Call)Find(library, "cuDriverGetVersion"))(&version, NULL);
  const int given = ((Allocate)Find(library, "cuMemAlloc_v2"))(&address, 4096);
  snprintf(what, sizeof what, "%s version", who);
  saw(what, known);
  snprintf(what, sizeof what, "%s allocation", who);
  saw(what, given);
  if (known != (is_stub ? kStubLibrary : 0)) fail("a library answered for the other one: its version");
  if (given != (is_stub ? kStubLibrary : 0)) fail("a library answered for the other one: an allocation");
  if (!is_stub && ((Free)Find(library, "cuMemFree_v2"))(address) != 0) fail("memory is not freed");
}

int main(int argc, char** argv) {
  const char* const way = argc == 2 ? argv[1] : "";
  void* stub = NULL;
  void* plugin = NULL;
  int deep = 0;
  if (strcmp(way, "stub_first") == 0) {
    stub = OpenStub(RTLD_LOCAL);
  } else if (strcmp(way, "falls_back") == 0) {
    stub = Open(NULL, "libcuda.so", RTLD_NOW | RTLD_LOCAL); /* the loader finds the stub first */
    if (((Call)Find(stub, "cuInit"))(NULL, NULL) != kStubLibrary) {
      fprintf(stderr, "libcuda.so is no stub\n");
      return 2;
    }
  } else if (strcmp(way, "deep") == 0) {
    deep = RTLD_DEEPBIND;
    stub = OpenStub(RTLD_LOCAL | deep);
  } else if (strcmp(way, "plugin") == 0) {
    plugin = Open("LIBRARIES", "libstranger_plugin.so", RTLD_NOW | RTLD_LOCAL);
    stub = OpenStub(RTLD_LOCAL | RTLD_NOLOAD);
  } else if (strcmp(way, "closes") == 0) {
    void* const brief = OpenStub(RTLD_LOCAL);
    int version = 0;
    ((Call)Find(brief, "cuDriverGetVersion"))(&version, NULL);
    dlclose(brief);
  } else if (strcmp(way, "apart") == 0) {
    char path[kPath];
    snprintf(path, sizeof path, "%s/libcuda.so", getenv("STUBS"));
    stub = dlmopen(LM_ID_NEWLM, path, RTLD_NOW | RTLD_LOCAL);
    if (stub == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 2;
    }
  } else if (strcmp(way, "driver_first") != 0) {
    fprintf(stderr,
            "usage: stranger_loader "
            "stub_first|driver_first|falls_back|deep|plugin|closes|apart\n");
    return 2;
  }
  void* const driver = Open(NULL, "libcuda.so.1", RTLD_NOW | deep);
  OpenRank();
  begin();
  if (stub == NULL && strcmp(way, "driver_first") == 0) {
    train(kEager);
    stub = OpenStub(RTLD_GLOBAL);
  }
  Ask("driver", driver, 0);
  if (stub != NULL) Ask("stub", stub, 1);
  if (plugin != NULL) saw("plugin version", ((int (*)(void))Find(plugin, "PluginVersion"))());
  train(kEager);
  Ask("driver again", driver, 0);
  acted();
  train_on();
  end();
  return 0;
}
