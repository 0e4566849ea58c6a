# make install: headers, both libraries, a pkg-config file and a CMake package.
include(GNUInstallDirs)
install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS sinew_static sinew_shared ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
