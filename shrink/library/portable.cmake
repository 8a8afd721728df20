# Defines the target crossover_shrink_portable: the libcrossover-shrink.so that ships. crossover_portable builds it, too.
crossover_sources_of(sources crossover_shrink_core crossover_shrink crossover_shrink_meeting crossover_shrink_vote)
file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shrink/*.h ${PROJECT_SOURCE_DIR}/shrink/*.def
     ${PROJECT_SOURCE_DIR}/common/base/*.h ${PROJECT_SOURCE_DIR}/sidecar/hooks/*.h
     ${PROJECT_SOURCE_DIR}/sidecar/hooks/*.def ${PROJECT_SOURCE_DIR}/sidecar/log/*.h ${PROJECT_SOURCE_DIR}/proto/*.h)
list(APPEND headers ${PROJECT_SOURCE_DIR}/sidecar/hooks/export_hook.S)
# zig keeps objects by what the compiler has read, and does not see what the assembler includes: the kernels.
set(kernels ${PROJECT_SOURCE_DIR}/shrink/kernels/kernels.ptx)
file(SHA256 ${kernels} digest)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernels})
crossover_portable_library(
  crossover_shrink_portable libcrossover-shrink.so
  SOURCES ${sources}
  HEADERS ${headers}
  OPTIONS ${CROSSOVER_SHRINK_OPTIONS} -DCROSSOVER_KERNELS=${digest}
  MAP ${CMAKE_CURRENT_SOURCE_DIR}/shrink.map
  LINK_OPTIONS -Wl,--build-id=sha1)
if(TARGET crossover_portable)
  add_dependencies(crossover_portable crossover_shrink_portable)
endif()
