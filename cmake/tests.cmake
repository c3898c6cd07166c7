# SPDX-License-Identifier: MIT
# Tests, by label: unit (cmocka), law (statistical), cli (golden cases), python (archives seen from h5py), example,
# house (names, floors, file lengths, installation). Tests link the static library, where internal functions are visible.

find_package(PkgConfig REQUIRED)
pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
if(NOT CMOCKA_FOUND)
    message(FATAL_ERROR "cmocka was not found (Debian: libcmocka-dev). Install it, or configure with -DHEADSPEC_TESTS=OFF.")
endif()

# Tests share the cores: threads that wait must not spin.
set(hspec_test_environment "HEADSPEC_SOURCE_DIR=${PROJECT_SOURCE_DIR};OMP_WAIT_POLICY=PASSIVE")
if(HEADSPEC_SANITIZE)
    # OpenMP of Clang tells the thread sanitizer about its own synchronization through archer.
    list(APPEND hspec_test_environment
        "ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1"
        "UBSAN_OPTIONS=print_stacktrace=1"
        "LSAN_OPTIONS=print_suppressions=0:suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp"
        "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:allocator_may_return_null=1")
endif()

# A test that defines __wrap_aligned_alloc and __wrap_free takes the place of these functions in the library.
include(CheckLinkerFlag)
set(hspec_wrap -Wl,--wrap=aligned_alloc -Wl,--wrap=free)
check_linker_flag(C "${hspec_wrap}" hspec_has_wrap)

# hspec_c_tests(label folder pattern libraries...): each file that matches is one executable and one test; the other
# files of the folder are linked to all of them, those named *_lanes.c once for each instruction set.
function(hspec_c_tests label folder pattern)
    file(GLOB tests CONFIGURE_DEPENDS ${folder}/${pattern})
    file(GLOB shared CONFIGURE_DEPENDS ${folder}/*.c)
    file(GLOB lanes CONFIGURE_DEPENDS ${folder}/*_lanes.c)
    if(NOT tests)
        return()
    endif()
    list(REMOVE_ITEM shared ${tests} ${lanes})
    set(timeout 900)
    if(label STREQUAL law)
        set(timeout 3600) # with HSPEC_LAW_FULL, on two cores
    endif()
    string(REPLACE "/" "_" support "support_${folder}")
    set(support_objects "")
    if(shared)
        add_library(${support} OBJECT ${shared})
        hspec_test_target(${support})
        list(APPEND support_objects $<TARGET_OBJECTS:${support}>)
    endif()
    if(lanes)
        foreach(level IN LISTS hspec_levels)
            string(TOLOWER ${support}_${level} name)
            add_library(${name} OBJECT ${lanes})
            hspec_test_target(${name} CONTRACT fast)
            target_compile_definitions(${name} PRIVATE HSPEC_LEVEL_${level})
            target_compile_options(${name} PRIVATE ${hspec_flags_${level}})
            list(APPEND support_objects $<TARGET_OBJECTS:${name}>)
        endforeach()
    endif()
    foreach(source IN LISTS tests)
        get_filename_component(name ${source} NAME_WE)
        add_executable(${name} ${source})
        hspec_test_target(${name})
        target_link_libraries(${name} PRIVATE ${ARGN} headspec_whole ${hspec_libraries})
        target_sources(${name} PRIVATE ${support_objects})
        file(STRINGS ${source} wraps REGEX "__wrap_aligned_alloc")
        if(wraps AND hspec_has_wrap)
            target_link_options(${name} PRIVATE ${hspec_wrap})
            target_compile_definitions(${name} PRIVATE HSPEC_WRAPPED)
        endif()
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        add_test(NAME ${label}/${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
        set_tests_properties(${label}/${name} PROPERTIES
            LABELS ${label} TIMEOUT ${timeout} ENVIRONMENT "${hspec_test_environment}")
    endforeach()
endfunction()

# hspec_test_target(name [CONTRACT fast])
function(hspec_test_target name)
    hspec_flags(${name} ${ARGN})
    target_include_directories(${name} PRIVATE
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE ${hspec_have} HEADSPEC_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} PRIVATE PkgConfig::CMOCKA)
endfunction()

# hspec_script_test(label name command...)
function(hspec_script_test label name)
    add_test(NAME ${label}/${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${label}/${name} PROPERTIES LABELS ${label} TIMEOUT 900 ENVIRONMENT
        "${hspec_test_environment};HEADSPEC_PROGRAM=${PROJECT_BINARY_DIR}/headspec;PYTHONDONTWRITEBYTECODE=1")
endfunction()

hspec_c_tests(unit tests/unit test_*.c)
hspec_c_tests(law tests/law law_*.c)
if(HEADSPEC_IO)
    set(hspec_cli_library "")
    if(TARGET headspec_cli)
        set(hspec_cli_library headspec_cli)
    endif()
    hspec_c_tests(unit tests/unit/io test_*.c ${hspec_cli_library})
endif()

if(TARGET headspec_program)
    if(EXISTS ${PROJECT_SOURCE_DIR}/tests/cli/run.py)
        hspec_script_test(cli golden ${HEADSPEC_PYTHON} tests/cli/run.py --program $<TARGET_FILE:headspec_program>)
    endif()
    file(GLOB hspec_python CONFIGURE_DEPENDS tests/python/test_*.py)
    foreach(source IN LISTS hspec_python)
        get_filename_component(name ${source} NAME_WE)
        hspec_script_test(python ${name} ${HEADSPEC_PYTHON} ${source})
    endforeach()
endif()

# Examples see only the public header. Those that read files need HEADSPEC_IO.
file(GLOB hspec_examples CONFIGURE_DEPENDS examples/*.c)
foreach(source IN LISTS hspec_examples)
    get_filename_component(name ${source} NAME_WE)
    file(STRINGS ${source} needs_io REGEX "hspec_(experiment|archive|figure)_")
    if(HEADSPEC_IO OR NOT needs_io)
        add_executable(example_${name} ${source})
        hspec_flags(example_${name})
        target_link_libraries(example_${name} PRIVATE headspec m)
        set_target_properties(example_${name} PROPERTIES
            OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        add_test(NAME example/${name} COMMAND example_${name} WORKING_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
        set_tests_properties(example/${name} PROPERTIES
            LABELS example TIMEOUT 300 ENVIRONMENT "${hspec_test_environment}")
    endif()
endforeach()

# Rules of the house. Exported names are read from a shared library, whatever kind is installed.
if(NOT HEADSPEC_SANITIZE)
    set(hspec_shared headspec)
    if(NOT BUILD_SHARED_LIBS)
        hspec_library(headspec_exports SHARED)
        set(hspec_shared headspec_exports)
    endif()
    hspec_script_test(house names scripts/check-names.sh
        $<TARGET_FILE:${hspec_shared}> $<TARGET_FILE:headspec_whole> $<IF:$<BOOL:${HEADSPEC_IO}>,with-io,without-io>)
    hspec_script_test(house sources scripts/check-sources.sh)
    hspec_script_test(house install tests/install/run.sh
        ${PROJECT_BINARY_DIR} ${CMAKE_C_COMPILER} $<IF:$<TARGET_EXISTS:headspec_program>,ON,OFF>)
endif()
