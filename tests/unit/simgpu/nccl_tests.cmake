crossover_unit_test(
  simgpu_nccl_test APART
  nccl_arithmetic_test.cc
  nccl_engine_test.cc
  nccl_exchange_test.cc
  nccl_join_test.cc
  nccl_links_test.cc
  nccl_peers_test.cc
  nccl_ring_test.cc
  nccl_settings_test.cc
  nccl_wire_test.cc
  LIBS
  simgpu_nccl_core)
crossover_unit_test(simgpu_peer_test ONE_THREAD peer_profile_test.cc LIBS simgpu_peer_core)
