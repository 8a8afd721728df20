/* Declares what the generated part of libcublas calls. It is C: that part is. */
#ifndef SIMGPU_MATH_CUBLAS_OTHER_H_
#define SIMGPU_MATH_CUBLAS_OTHER_H_

#ifdef __cplusplus
extern "C" {
#endif

/* Queues one kernel of fixed length on the stream of `handle`, for the call `name` whose sizes the stand-in
   does not read. Returns a cublasStatus_t. */
int simgpu_cublas_timed(void* handle, const char* name);

/* Does what simgpu_cublas_timed() does, for a call that returns a number. Refuses by name if the number would
   go to the host. */
int simgpu_cublas_scalar(void* handle, const char* name);

#ifdef __cplusplus
}
#endif

#endif /* SIMGPU_MATH_CUBLAS_OTHER_H_ */
