# Tests of whole processes preload libraries with the address and the undefined-behaviour sanitizer into programs
# without one. The presets asan and tsan do not build these tests. Such a library is behind the sanitizer's own one in
# LD_PRELOAD, whose path crossover_sanitizer_runtime() returns. This needs GCC, which links the sanitizer as a shared library.
set(CROSSOVER_LIBRARY_SANITIZERS -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all
                                 -fno-omit-frame-pointer -O1)

# crossover_sanitized_objects(NAME SOURCES sources... PLAIN sources... OPTIONS options... LIBS libraries...) compiles the
# sources with the sanitizers, but for those in PLAIN, into the object libraries NAME and NAME_plain. The sanitizer looks
# functions up by dlsym() before its shadow memory is there. So what answers then has to be in PLAIN. Paths are whole.
function(crossover_sanitized_objects name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "" "SOURCES;PLAIN;OPTIONS;LIBS")
  list(REMOVE_ITEM its_SOURCES ${its_PLAIN})
  add_library(${name} OBJECT ${its_SOURCES})
  add_library(${name}_plain OBJECT ${its_PLAIN})
  foreach(objects ${name} ${name}_plain)
    target_compile_options(${objects} PRIVATE ${its_OPTIONS})
    target_link_libraries(${objects} PRIVATE ${its_LIBS})
    set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  endforeach()
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${CROSSOVER_LIBRARY_SANITIZERS}>)
endfunction()

# crossover_sanitized_library(NAME sources... OBJECTS objects OPTIONS options... LINK_OPTIONS options... LIBS libraries...)
# links such a library of what crossover_sanitized_objects() has made, with sources of its own.
function(crossover_sanitized_library name)
  cmake_parse_arguments(PARSE_ARGV 1 its "" "OBJECTS" "OPTIONS;LINK_OPTIONS;LIBS")
  add_library(${name} SHARED ${its_UNPARSED_ARGUMENTS})
  target_compile_options(${name} PRIVATE ${its_OPTIONS} ${CROSSOVER_LIBRARY_SANITIZERS})
  target_link_options(${name} PRIVATE ${its_LINK_OPTIONS} -fsanitize=address,undefined)
  target_link_libraries(${name} PRIVATE ${its_OBJECTS} ${its_OBJECTS}_plain ${its_LIBS} Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
endfunction()

# Sets `variable` to the path of the sanitizer's own library.
function(crossover_sanitizer_runtime variable)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE runtime
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${variable} ${runtime} PARENT_SCOPE)
endfunction()
