# Defines the target crossover_cuda_headers: cuda.h and its companions, from a CUDA toolkit or from the packages that
# tools/install.sh puts under CROSSOVER_CACHE. It has only headers: programs find the driver at run time.
if(DEFINED ENV{CROSSOVER_CACHE})
  set(crossover_cache $ENV{CROSSOVER_CACHE})
else()
  set(crossover_cache $ENV{HOME}/.cache/crossover)
endif()
file(GLOB crossover_cuda_hints LIST_DIRECTORIES true
     ${crossover_cache}/cuda-*/lib/python3*/site-packages/nvidia/cu13/include)
find_path(CROSSOVER_CUDA_INCLUDE cuda.h
          HINTS ENV CUDA_HOME ENV CUDA_PATH ${crossover_cuda_hints} /usr/local/cuda
          PATH_SUFFIXES include targets/x86_64-linux/include
          NO_CMAKE_FIND_ROOT_PATH) # the same headers serve each architecture
if(NOT CROSSOVER_CUDA_INCLUDE)
  message(FATAL_ERROR "cuda.h not found: run tools/install.sh, or set CUDA_HOME or CROSSOVER_CUDA_INCLUDE")
endif()
add_library(crossover_cuda_headers INTERFACE)
target_include_directories(crossover_cuda_headers SYSTEM INTERFACE ${CROSSOVER_CUDA_INCLUDE})
