# Sets warnings for the project's own targets, which link them through crossover_tree. They are errors in the
# preset dev and those that inherit from it (CMAKE_COMPILE_WARNING_AS_ERROR), but not for a user who builds with a newer
# compiler without them.
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
