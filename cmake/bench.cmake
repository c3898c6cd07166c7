# SPDX-License-Identifier: MIT
# The target bench: every bench/bench_*.c, left in BUILD/bench. bench/run.sh runs them.

add_custom_target(bench)
file(GLOB hspec_bench CONFIGURE_DEPENDS bench/bench_*.c)
foreach(source IN LISTS hspec_bench)
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} EXCLUDE_FROM_ALL ${source})
    hspec_flags(${name})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE ${hspec_have})
    target_link_libraries(${name} PRIVATE headspec_whole ${hspec_libraries})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    add_dependencies(bench ${name})
endforeach()
