# SPDX-License-Identifier: MIT
# The program: BUILD/headspec.

if(NOT HEADSPEC_IO)
    return()
endif()
file(GLOB hspec_cli CONFIGURE_DEPENDS src/cli/*.c)
list(LENGTH hspec_cli hspec_cli_count)
if(hspec_cli_count LESS 2 OR NOT "${PROJECT_SOURCE_DIR}/src/cli/main.c" IN_LIST hspec_cli)
    message(WARNING "src/cli is not complete: the program is not built.")
    return()
endif()
# Everything but main.c is a library, from which unit tests take what they test.
list(REMOVE_ITEM hspec_cli ${PROJECT_SOURCE_DIR}/src/cli/main.c)
hspec_objects(headspec_cli_objects SOURCES ${hspec_cli})
add_library(headspec_cli STATIC $<TARGET_OBJECTS:headspec_cli_objects>)
set_target_properties(headspec_cli PROPERTIES LINKER_LANGUAGE C)
target_link_libraries(headspec_cli PRIVATE headspec_whole)
hspec_objects(headspec_main SOURCES src/cli/main.c)
add_executable(headspec_program $<TARGET_OBJECTS:headspec_main>)
set_target_properties(headspec_program PROPERTIES
    OUTPUT_NAME headspec LINKER_LANGUAGE C RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
hspec_flags(headspec_program)
target_link_libraries(headspec_program PRIVATE headspec_cli headspec_whole ${hspec_libraries})

# Completion for the shells, written by the program itself.
if(NOT CMAKE_CROSSCOMPILING)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/completions)
    add_custom_command(
        OUTPUT completions/headspec completions/_headspec
        COMMAND headspec_program completion bash > completions/headspec
        COMMAND headspec_program completion zsh > completions/_headspec
        DEPENDS headspec_program VERBATIM)
    add_custom_target(headspec_completions ALL DEPENDS completions/headspec completions/_headspec)
endif()
