# crossover_gpu_fatbin(OUTPUT variable PTX file) makes a fatbin of the kernels with nvcc, for the architectures of
# CROSSOVER_GPU_ARCHITECTURES and as PTX, and sets `variable` to its path. The variable is empty where no architecture
# is named, or nvcc is missing or refuses: the programs then have PTX alone, which the driver must compile.
set(CROSSOVER_GPU_ARCHITECTURES "" CACHE STRING "Compute capabilities of the benchmark kernels' fatbin, such as 80;90")

function(crossover_gpu_fatbin)
  cmake_parse_arguments(PARSE_ARGV 0 ARG "" "OUTPUT;PTX" "")
  set(${ARG_OUTPUT} "" PARENT_SCOPE)
  if(NOT CROSSOVER_GPU_ARCHITECTURES)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_PTX})
  find_program(CROSSOVER_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH ${CROSSOVER_CUDA_INCLUDE}/.. /usr/local/cuda
               PATH_SUFFIXES bin)
  if(NOT CROSSOVER_NVCC)
    message(STATUS "gpu: no nvcc: the kernels are PTX alone")
    return()
  endif()
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/kernels.fatbin)
  set(targets)
  foreach(architecture IN LISTS CROSSOVER_GPU_ARCHITECTURES)
    list(APPEND targets -gencode arch=compute_75,code=sm_${architecture})
  endforeach()
  execute_process(COMMAND ${CROSSOVER_NVCC} -fatbin ${targets} -gencode arch=compute_75,code=compute_75 -o ${fatbin}
                          ${ARG_PTX}
                  RESULT_VARIABLE result ERROR_VARIABLE error OUTPUT_VARIABLE error)
  if(NOT result EQUAL 0 OR NOT EXISTS ${fatbin})
    string(STRIP "${error}" error)
    message(STATUS "gpu: ${CROSSOVER_NVCC}: ${error}: the kernels are PTX alone")
    return()
  endif()
  message(STATUS "gpu: the kernels are a fatbin for ${CROSSOVER_GPU_ARCHITECTURES}, and PTX")
  set(${ARG_OUTPUT} ${fatbin} PARENT_SCOPE)
endfunction()
