# With CROSSOVER_BATCHES, up to eight sources of a target are compiled as one: they include much of the same headers, and
# reading those is most of what compiling costs. A cold build takes less than half as long. The names of all sources
# of a target then have to differ, also those in unnamed namespaces.
#
# CMake's own UNITY_BUILD writes the absolute paths of sources into its files, so that ccache knows none of them in
# another checkout. Here they are written as every include of the tree is.
#
# These stay as they are: sources with options of their own, generated ones, those with SKIP_UNITY_BUILD_INCLUSION, and
# targets with UNITY_BUILD OFF. A linker's --wrap changes no call within one object, so libraries in which programs
# wrap functions are such targets.
option(CROSSOVER_BATCHES "Compile several sources of a target as one" OFF)
set(CROSSOVER_BATCH_SIZE 8)

# crossover_compiles_alone(SOURCE DIRECTORY RESULT) sets RESULT if a source of a target in DIRECTORY has to be compiled
# for itself.
function(crossover_compiles_alone source directory result)
  set(${result} ON)
  if(source MATCHES "^[^$]*\\.cc$")
    set(${result} OFF)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
    cmake_path(IS_PREFIX PROJECT_BINARY_DIR ${source} NORMALIZE generated)
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(value ${source} DIRECTORY ${directory} ${property})
      if(value OR generated)
        set(${result} ON)
      endif()
    endforeach()
  endif()
  return(PROPAGATE ${result})
endfunction()

# crossover_batch_target(TARGET) replaces sources of a target by batches.
function(crossover_batch_target target)
  get_target_property(type ${target} TYPE)
  get_target_property(allowed ${target} UNITY_BUILD)
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  get_target_property(binary_dir ${target} BINARY_DIR)
  if(NOT type MATCHES "LIBRARY|EXECUTABLE" OR type STREQUAL INTERFACE_LIBRARY OR allowed STREQUAL OFF OR NOT sources)
    return()
  endif()
  set(kept "")
  set(batched "")
  foreach(source IN LISTS sources)
    crossover_compiles_alone(${source} ${directory} alone)
    if(alone)
      list(APPEND kept ${source})
    else()
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${directory} NORMALIZE)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      list(APPEND batched ${source})
    endif()
  endforeach()
  list(LENGTH batched count)
  if(count LESS 2)
    return()
  endif()
  set(number 0)
  while(batched)
    list(SUBLIST batched 0 ${CROSSOVER_BATCH_SIZE} batch)
    list(REMOVE_ITEM batched ${batch})
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" text)
    set(file ${binary_dir}/batches/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
    # g++ warns of a class with a member from an unnamed namespace if the class is not in the main file.
    set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES COMPILE_OPTIONS
                                "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
    list(APPEND kept ${file})
    math(EXPR number "${number} + 1")
  endwhile()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()

# crossover_batch_directory(DIRECTORY) does so for all targets of a directory and of those below it.
function(crossover_batch_directory directory)
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    crossover_batch_target(${target})
  endforeach()
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory IN LISTS below)
    crossover_batch_directory(${subdirectory})
  endforeach()
endfunction()
