# SPDX-License-Identifier: MIT
# Flags of every target of the project: hspec_flags(target).

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug, RelWithDebInfo" FORCE)
endif()
if(CMAKE_C_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
    set(CMAKE_C_FLAGS_RELEASE "-O3 -g -DNDEBUG") # symbols for profilers; they cost no speed
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(hspec_flags INTERFACE)
target_compile_features(hspec_flags INTERFACE c_std_17)
target_compile_definitions(hspec_flags INTERFACE _DEFAULT_SOURCE)
# errno and floating-point traps are never looked at.
target_compile_options(hspec_flags INTERFACE
    -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
    -fno-math-errno -fno-trapping-math)
# Wide vectors are passed between functions of one file only, so that the calling convention does not matter.
include(CheckCCompilerFlag)
check_c_compiler_flag(-Wpsabi hspec_has_psabi)
if(hspec_has_psabi)
    target_compile_options(hspec_flags INTERFACE -Wno-psabi)
endif()
if(HEADSPEC_WERROR)
    target_compile_options(hspec_flags INTERFACE -Werror)
endif()
if(NOT HEADSPEC_OPENMP)
    target_compile_options(hspec_flags INTERFACE -Wno-unknown-pragmas)
endif()
if(HEADSPEC_SANITIZE)
    target_compile_options(hspec_flags INTERFACE
        -fsanitize=${HEADSPEC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(hspec_flags INTERFACE -fsanitize=${HEADSPEC_SANITIZE})
endif()

# Contraction (a x + b in one instruction) is for lanes only: elsewhere results would depend on the compiler.
function(hspec_flags target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONTRACT" "")
    if(NOT arg_CONTRACT)
        set(arg_CONTRACT off)
    endif()
    target_compile_options(${target} PRIVATE -ffp-contract=${arg_CONTRACT})
    set_target_properties(${target} PROPERTIES
        C_STANDARD 17 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:hspec_flags>)
endfunction()
