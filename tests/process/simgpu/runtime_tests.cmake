# These programs use libcudart.so.13 of the software GPU as programs of others do.
if(NOT TARGET simgpu_runtime OR CROSSOVER_SANITIZE)
  return()
endif()

# The driver is linked too, for checks, and so that the runtime's dlopen() finds it.
add_executable(
  simgpu_runtime_programs
  runtime/capture_test.cc
  runtime/device_test.cc
  runtime/launch_test.cc
  runtime/memory_test.cc
  runtime/program.cc
  runtime/stream_test.cc)
target_link_libraries(simgpu_runtime_programs PRIVATE crossover_tree crossover_cuda_headers simgpu_runtime simgpu_cuda
                                                      GTest::gmock GTest::gtest_main)
target_compile_options(simgpu_runtime_programs PRIVATE -Og -g1 -Wno-deprecated-declarations)
set_target_properties(simgpu_runtime_programs PROPERTIES ENABLE_EXPORTS ON)
if(TARGET simgpu_math_launch)
  target_sources(simgpu_runtime_programs PRIVATE math_test.cc)
  target_link_libraries(simgpu_runtime_programs PRIVATE simgpu_math_launch)
endif()
crossover_gtest(simgpu_runtime_programs process 120)

# A driver that shows one name, cuGetProcAddress_v2, and writes down what it is asked for.
add_library(simgpu_narrow_driver SHARED runtime/narrow_driver.c)
target_compile_options(simgpu_narrow_driver PRIVATE -Wno-missing-prototypes -Wno-pedantic)
target_link_libraries(simgpu_narrow_driver PRIVATE crossover_cuda_headers ${CMAKE_DL_LIBS})
set_target_properties(simgpu_narrow_driver PROPERTIES OUTPUT_NAME cuda SOVERSION 1
                                                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/narrow_driver)

set(runtime_environment RUNTIME=$<TARGET_FILE:simgpu_runtime> DRIVER=$<TARGET_FILE:simgpu_cuda>
                        NARROW_DRIVER=$<TARGET_FILE:simgpu_narrow_driver>)
if(TARGET sidecar_recorder)
  list(APPEND runtime_environment RECORDER=$<TARGET_FILE_DIR:sidecar_recorder>)
endif()
crossover_process_test(
  simgpu_runtime_library
  COMMAND
  ${CMAKE_COMMAND}
  -E
  chdir
  ${PROJECT_SOURCE_DIR}
  ${Python3_EXECUTABLE}
  -B
  -m
  tests.process.simgpu.runtime.test_library
  ENVIRONMENT
  ${runtime_environment})
