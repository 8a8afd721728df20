# crossover_portable_library(TARGET FILE SOURCES sources... HEADERS headers... OPTIONS options... MAP map
# LINK_OPTIONS options...) defines the target TARGET: the shared library FILE for x86-64 and aarch64, which loads from
# glibc 2.17 on, in portable/ARCHITECTURE of the build directory. sidecar/portable.cmake says why, and looks for zig;
# without it this does nothing. Paths of sources are whole. HEADERS are what else a change of causes a new build.
function(crossover_portable_library target file)
  cmake_parse_arguments(PARSE_ARGV 2 its "" "MAP" "SOURCES;HEADERS;OPTIONS;LINK_OPTIONS")
  if(NOT CROSSOVER_ZIG_PYTHON)
    return()
  endif()
  set(libraries)
  foreach(architecture x86_64 aarch64)
    set(library ${PROJECT_BINARY_DIR}/portable/${architecture}/${file})
    add_custom_command(
      OUTPUT ${library}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/portable/${architecture}
      COMMAND ${CROSSOVER_ZIG_PYTHON} -m ziglang c++ -target ${architecture}-linux-gnu.2.17 -std=c++20 -O2 -g0 -fPIC
              -shared -s ${its_OPTIONS} -I${PROJECT_SOURCE_DIR} -isystem ${CROSSOVER_CUDA_INCLUDE} ${its_SOURCES} -o
              ${library} -Wl,-z,nodelete -Wl,--no-undefined -Wl,--version-script=${its_MAP} -Wl,--as-needed
              ${its_LINK_OPTIONS}
      DEPENDS ${its_SOURCES} ${its_HEADERS} ${its_MAP}
      COMMENT "Linking ${file} for ${architecture}, glibc 2.17"
      VERBATIM)
    list(APPEND libraries ${library})
  endforeach()
  add_custom_target(${target} DEPENDS ${libraries})
endfunction()
