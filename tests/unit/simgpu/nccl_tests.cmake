crossover_unit_test(
  simgpu_nccl_test APART
  nccl/nccl_arithmetic_test.cc
  nccl/nccl_engine_test.cc
  nccl/nccl_exchange_test.cc
  nccl/nccl_join_test.cc
  nccl/nccl_links_test.cc
  nccl/nccl_peers_test.cc
  nccl/nccl_ring_test.cc
  nccl/nccl_settings_test.cc
  nccl/nccl_wire_test.cc
  LIBS
  simgpu_nccl_core)
crossover_unit_test(simgpu_peer_test ONE_THREAD peer/peer_profile_test.cc LIBS simgpu_peer_core)
