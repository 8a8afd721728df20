/* A framework's library: linked against NCCL, loaded without making its symbols global. */
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclGetVersion(int* version);

int call_group_start(void) { return ncclGroupStart(); }
int call_group_end(void) { return ncclGroupEnd(); }
int call_get_version(void) {
  int version;
  return ncclGetVersion(&version);
}
