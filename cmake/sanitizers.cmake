# CROSSOVER_SANITIZE is a value of -fsanitize= for all targets of this project, e.g. "address,undefined" or "thread".
set(CROSSOVER_SANITIZE "" CACHE STRING "Sanitizers to build with, as in -fsanitize=")
add_library(crossover_sanitizers INTERFACE)
if(CROSSOVER_SANITIZE)
  target_compile_options(crossover_sanitizers INTERFACE -fsanitize=${CROSSOVER_SANITIZE} -fno-omit-frame-pointer
                                                        -fno-sanitize-recover=all)
  # Functions of NVIDIA's libraries are found by name, with types of our own for handles: clang takes each call for one
  # through a pointer of another type.
  target_compile_options(crossover_sanitizers INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fno-sanitize=function>)
  target_link_options(crossover_sanitizers INTERFACE -fsanitize=${CROSSOVER_SANITIZE})
  if(CROSSOVER_SANITIZE MATCHES thread)
    # g++ warns that it does not model fences. If they order plain data the code must hold without them.
    target_compile_options(crossover_sanitizers INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>)
  endif()
endif()
