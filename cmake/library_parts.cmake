# crossover_library_parts() returns what libcrossover.so is made of, for libraries that differ from it in one thing. It
# sets core_sources and entry_sources (whole paths), library_options and library_link_options in the caller's scope.
function(crossover_library_parts)
  get_target_property(directory crossover_sidecar_core SOURCE_DIR)
  get_target_property(core_sources crossover_sidecar_core SOURCES)
  get_target_property(entry_sources crossover_sidecar SOURCES)
  get_target_property(library_options crossover_sidecar COMPILE_OPTIONS)
  get_target_property(library_link_options crossover_sidecar LINK_OPTIONS)
  list(TRANSFORM core_sources PREPEND ${directory}/)
  list(TRANSFORM entry_sources PREPEND ${directory}/)
  return(PROPAGATE core_sources entry_sources library_options library_link_options)
endfunction()
