# Defines the target crossover_portable: the library that ships, for x86-64 and aarch64, which loads from
# glibc 2.17 on. A preloaded library that needs a newer C library than the image has kills every process of
# the pod. The distribution's compiler links against the distribution's C library only; zig brings the stubs
# of old ones. zig is found where tools/install.sh puts it. Without zig the target does not exist.
find_program(CROSSOVER_ZIG_PYTHON python HINTS ${crossover_cache}/cuda-13.0/bin NO_DEFAULT_PATH)
if(NOT CROSSOVER_ZIG_PYTHON)
  message(STATUS "no ziglang under ${crossover_cache}: crossover_portable cannot be built")
  return()
endif()

set(sources ${CROSSOVER_SIDECAR_SOURCES} ${CROSSOVER_SIDECAR_ENTRIES})
list(TRANSFORM sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h ${CMAKE_CURRENT_SOURCE_DIR}/*.def ${CMAKE_CURRENT_SOURCE_DIR}/*.S
     ${PROJECT_SOURCE_DIR}/common/base/*.h ${PROJECT_SOURCE_DIR}/turn/ops.h ${PROJECT_SOURCE_DIR}/turn/signal.h ${PROJECT_SOURCE_DIR}/turn/signal_memory.h ${PROJECT_SOURCE_DIR}/turn/slice.h
     ${PROJECT_SOURCE_DIR}/proto/*.h)
crossover_portable_library(
  crossover_portable libcrossover.so
  SOURCES ${sources}
  HEADERS ${headers}
  OPTIONS ${CROSSOVER_SIDECAR_OPTIONS}
  MAP ${CMAKE_CURRENT_SOURCE_DIR}/crossover.map)
