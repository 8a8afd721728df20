/* Says on stderr which call a stand-in library refuses. It is C: the generated libraries are. */
#ifndef SIMGPU_STAND_INS_REFUSE_H_
#define SIMGPU_STAND_INS_REFUSE_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Writes one line, "simgpu <library> [<pid>] refused <name>: <reason>". Thread-safe. */
void simgpu_refuse(const char* library, const char* name, const char* reason);

#ifdef __cplusplus
}
#endif

#endif /* SIMGPU_STAND_INS_REFUSE_H_ */
