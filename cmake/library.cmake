# SPDX-License-Identifier: MIT
# The library: target headspec. Sources are found floor by floor (docs/naming.md), so that adding a file is enough.

set(hspec_floors core model attention sgd theory study)
if(HEADSPEC_IO)
    list(APPEND hspec_floors io)
endif()

set(hspec_sources "")
set(hspec_lanes "")
foreach(floor IN LISTS hspec_floors)
    file(GLOB hspec_found CONFIGURE_DEPENDS src/${floor}/*.c)
    list(APPEND hspec_sources ${hspec_found})
endforeach()
foreach(source IN LISTS hspec_sources)
    if(source MATCHES "_lanes\\.c$")
        list(APPEND hspec_lanes ${source})
    endif()
endforeach()
list(REMOVE_ITEM hspec_sources ${hspec_lanes})

# Files named *_lanes.c are compiled once for each instruction set; the program chooses when it starts.
# The flags of a level live on its object library alone: no other file may use instructions that a machine lacks.
set(hspec_levels BASELINE)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    foreach(level IN LISTS HEADSPEC_LEVELS)
        if(NOT level MATCHES "^(AVX2|AVX512)$")
            message(FATAL_ERROR "HEADSPEC_LEVELS: found ${level}, allowed AVX2 and AVX512")
        endif()
        list(APPEND hspec_levels ${level})
    endforeach()
endif()
set(hspec_flags_BASELINE "")
set(hspec_flags_AVX2 -march=x86-64-v3)
set(hspec_flags_AVX512 -march=x86-64-v4 -mprefer-vector-width=512)
set(hspec_have "")
foreach(level IN LISTS hspec_levels)
    if(NOT level STREQUAL "BASELINE")
        list(APPEND hspec_have HSPEC_HAVE_${level})
    endif()
endforeach()
if(HEADSPEC_SOLVERS)
    list(APPEND hspec_have HSPEC_HAVE_SUNDIALS HSPEC_HAVE_NLOPT)
endif()

# hspec_objects(name [CONTRACT fast] SOURCES sources...): one object library with the flags, include folders and
# libraries of the project.
function(hspec_objects name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "CONTRACT" "SOURCES")
    add_library(${name} OBJECT ${arg_SOURCES})
    hspec_flags(${name} CONTRACT ${arg_CONTRACT})
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE ${hspec_have})
    target_link_libraries(${name} PRIVATE ${hspec_libraries})
endfunction()

hspec_objects(headspec_objects SOURCES ${hspec_sources})
target_compile_definitions(headspec_objects PRIVATE
    HSPEC_BUILD="${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_BUILD_TYPE}")
set(hspec_all_objects $<TARGET_OBJECTS:headspec_objects>)
if(hspec_lanes)
    foreach(level IN LISTS hspec_levels)
        string(TOLOWER headspec_lanes_${level} name)
        hspec_objects(${name} CONTRACT fast SOURCES ${hspec_lanes})
        target_compile_definitions(${name} PRIVATE HSPEC_LEVEL_${level})
        target_compile_options(${name} PRIVATE ${hspec_flags_${level}})
        list(APPEND hspec_all_objects $<TARGET_OBJECTS:${name}>)
    endforeach()
endif()

# hspec_library(name type): a library of all objects.
function(hspec_library name type)
    add_library(${name} ${type} ${hspec_all_objects})
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
    target_include_directories(${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${name} PRIVATE ${hspec_libraries} $<BUILD_INTERFACE:hspec_flags>)
endfunction()

if(BUILD_SHARED_LIBS)
    hspec_library(headspec SHARED)
    set_target_properties(headspec PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    # The program and the unit tests also call functions that a shared library hides.
    hspec_library(headspec_whole STATIC)
else()
    hspec_library(headspec STATIC)
    add_library(headspec_whole ALIAS headspec)
endif()
add_library(headspec::headspec ALIAS headspec)
