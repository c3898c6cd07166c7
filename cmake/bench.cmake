# SPDX-License-Identifier: MIT
# The target bench: every bench/bench_*.c and every peer in C, left in BUILD/bench. bench/run.sh runs them.

add_custom_target(bench)

# Lanes are compiled for each instruction set, as those of the library.
set(hspec_bench_lanes "")
foreach(level IN LISTS hspec_levels)
    string(TOLOWER bench_lanes_${level} name)
    hspec_objects(${name} CONTRACT fast SOURCES bench/philox_lanes.c)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    target_compile_definitions(${name} PRIVATE HSPEC_LEVEL_${level})
    target_compile_options(${name} PRIVATE ${hspec_flags_${level}})
    list(APPEND hspec_bench_lanes $<TARGET_OBJECTS:${name}>)
endforeach()

# hspec_bench(source LIBRARIES libraries... [SOURCES more...]): one program, named as its source.
function(hspec_bench source)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LIBRARIES;SOURCES")
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source} bench/contender.c ${arg_SOURCES})
    hspec_flags(${name})
    target_include_directories(${name} PRIVATE
        ${PROJECT_SOURCE_DIR}/bench ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE ${hspec_have})
    target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    add_dependencies(bench ${name})
endfunction()

file(GLOB hspec_benches CONFIGURE_DEPENDS bench/bench_*.c)
foreach(source IN LISTS hspec_benches)
    hspec_bench(${source} LIBRARIES headspec_whole ${hspec_libraries} SOURCES bench/workload.c ${hspec_bench_lanes})
endforeach()

# A peer is compiled as its writer would: for this processor.
include(CheckCCompilerFlag)
check_c_compiler_flag(-march=native hspec_has_native)
file(GLOB hspec_peers CONFIGURE_DEPENDS bench/peers/*.c)
foreach(source IN LISTS hspec_peers)
    get_filename_component(name ${source} NAME_WE)
    hspec_bench(${source} LIBRARIES m)
    target_compile_options(${name} PRIVATE $<$<BOOL:${hspec_has_native}>:-march=native> -ffp-contract=fast)
endforeach()

# Errors, not times: run by itself.
hspec_bench(bench/nodes.c LIBRARIES headspec_whole ${hspec_libraries})
