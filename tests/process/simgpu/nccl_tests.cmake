# These ranks are processes over the software GPU. They test what NCCL promises, and what happens when a rank fails.
add_executable(simgpu_nccl_rank nccl_rank.cc)
target_link_libraries(simgpu_nccl_rank PRIVATE crossover_tree crossover_cuda_headers simgpu_cuda simgpu_nccl)

crossover_process_test(
  simgpu_nccl_processes
  TIMEOUT
  180
  COMMAND
  ${Python3_EXECUTABLE}
  ${CMAKE_CURRENT_SOURCE_DIR}/nccl_test_processes.py
  $<TARGET_FILE:simgpu_nccl_rank>
  $<TARGET_FILE_DIR:simgpu_nccl>)
