# Warnings for our own targets, linked through crossover_tree. Errors in the dev and ci presets
# (CMAKE_COMPILE_WARNING_AS_ERROR), not for somebody who builds with a newer compiler.
add_library(crossover_warnings INTERFACE)
target_compile_options(
  crossover_warnings
  INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall>
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra>
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wconversion>
            $<$<COMPILE_LANGUAGE:C,CXX>:-Wimplicit-fallthrough>
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>)
