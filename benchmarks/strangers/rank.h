/* Runs one rank of a job of two, for programs that do something strange meanwhile. Each iteration computes,
 * reduces and checks the sum.
 *
 * Where the driver, NCCL or a sum is wrong, a function leaves the verdict and ends the process with code 1.
 * One thread calls these functions. Environment: RANK, LOCAL_RANK; STATE, a folder that both ranks and the
 * figure share; PLAIN, where the library is not there. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Joins the job. */
void StrangerBegin(void);
/* Trains for so many iterations. Both ranks name the same number. */
void StrangerTrain(int iterations);
/* Says that the strange act begins or is over, with the time in ns of CLOCK_MONOTONIC, in the file
 * STATE/acted-RANK. */
void StrangerActed(void);
/* Trains until the file STATE/enough is there, for 60 s at most. Both ranks end after the same iteration. */
void StrangerTrainOn(void);
/* Leaves the job, and leaves the verdict in STATE/verdict-RANK. */
void StrangerEnd(void);
/* Records what the program has seen, in STATE/seen-RANK: with and without the library it must be the same. */
void StrangerSaw(const char* what, int answer);
/* Leaves the verdict that something is wrong, and ends the process. */
void StrangerFail(const char* what);
/* Returns the number of the socket by which the library is connected to its arbiter, once it is. Where PLAIN
 * is set, opens a file that stands in for that socket, and returns its number. */
int StrangerNumber(void);
/* Returns 1 if `number` is open and neither the program nor the driver can do without it, else 0. The
 * library's own numbers are not needed. */
int StrangerNeeds(int number);

#ifdef __cplusplus
}
#endif
