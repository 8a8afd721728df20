/* Stands for a plugin, and reaches the driver in every way: by its link, by dlsym, by cuGetProcAddress. */
#include <dlfcn.h>
#include <stddef.h>

typedef int (*GetProcAddress)(const char*, void**, int, unsigned long long, void*);
typedef int (*GetExportTable)(const void**, const void*);

int cuLaunchKernel(void);

static void* driver(void) { return dlopen("libcuda.so.1", RTLD_NOW); }

void* caller_linked(void) { return (void*)cuLaunchKernel; }
void* caller_dlsym(void) { return dlsym(driver(), "cuLaunchKernel"); }
void* caller_export_table(void) { return dlsym(driver(), "cuGetExportTable"); }

void* caller_proc_address(void) {
  const GetProcAddress get = (GetProcAddress)dlsym(driver(), "cuGetProcAddress_v2");
  void* function = NULL;
  if (get == NULL || get("cuLaunchKernel", &function, 12000, 0, NULL) != 0) return NULL;
  return function;
}
