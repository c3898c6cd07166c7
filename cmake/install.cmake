# SPDX-License-Identifier: MIT
# Installs the header, the library, the program, the pkg-config file and the CMake package.

install(TARGETS headspec EXPORT headspecTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/headspec.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET headspec_program)
    install(TARGETS headspec_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
