# Compiles for aarch64 on another machine: Debian's cross compiler, with the libraries of CROSSOVER_SYSROOT, a root that
# `python3 -m tools.packages roots arm64` unpacks. The protocol compilers are those of this machine.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
if(DEFINED ENV{CROSSOVER_SYSROOT})
  set(CROSSOVER_SYSROOT $ENV{CROSSOVER_SYSROOT} CACHE PATH "A root with the libraries of aarch64" FORCE)
endif()
if(NOT IS_DIRECTORY "${CROSSOVER_SYSROOT}/usr/lib/aarch64-linux-gnu")
  message(FATAL_ERROR "CROSSOVER_SYSROOT: expected a root with the libraries of aarch64, got '${CROSSOVER_SYSROOT}': "
                      "python3 -m tools.packages roots arm64 makes it")
endif()
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CROSSOVER_SYSROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT ${CROSSOVER_SYSROOT})
# Headers of gRPC and Protocol Buffers put their paths into programs. There the root is that of the target.
add_compile_options(-ffile-prefix-map=${CMAKE_SYSROOT}=)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
# LEMON's package names its files by absolute paths, which hold in a root alone.
set(LEMON_INCLUDE_DIR ${CMAKE_SYSROOT}/usr/include CACHE PATH "LEMON include directory")
set(LEMON_LIBRARY ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/liblemon.a CACHE FILEPATH "LEMON library")
set(CROSSOVER_MOLD OFF CACHE FILEPATH "The cross compiler finds no mold")
