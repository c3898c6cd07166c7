# SPDX-License-Identifier: MIT
# Installs the header, the library, the program, the pkg-config file and the CMake package.

install(TARGETS headspec EXPORT headspecTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/headspec.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/headspec DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET headspec_program)
    install(TARGETS headspec_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    # Under the names that the shells look for.
    if(TARGET headspec_completions)
        install(FILES ${PROJECT_BINARY_DIR}/completions/headspec
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
        install(FILES ${PROJECT_BINARY_DIR}/completions/_headspec
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    endif()
endif()

# pkg-config: who links the static library needs its libraries too, who links the shared one does not.
string(JOIN " " hspec_pc_requires ${HSPEC_PC_REQUIRES})
if(BUILD_SHARED_LIBS)
    set(HSPEC_PC_BODY "Requires.private: ${hspec_pc_requires}\nLibs: -L\${libdir} -lheadspec\nLibs.private: ${HSPEC_PC_LIBS}")
else()
    set(HSPEC_PC_BODY "Requires: ${hspec_pc_requires}\nLibs: -L\${libdir} -lheadspec ${HSPEC_PC_LIBS}")
endif()
configure_file(cmake/headspec.pc.in headspec.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/headspec.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(hspec_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/headspec)
install(EXPORT headspecTargets NAMESPACE headspec:: DESTINATION ${hspec_package_dir})
configure_package_config_file(cmake/headspecConfig.cmake.in headspecConfig.cmake INSTALL_DESTINATION ${hspec_package_dir})
write_basic_package_version_file(headspecConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/headspecConfig.cmake ${PROJECT_BINARY_DIR}/headspecConfigVersion.cmake
    DESTINATION ${hspec_package_dir})
