# make install: headers, both libraries, the program, a pkg-config file and a CMake package; the manual page and the completion
# of the shell when they exist.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(sinew_shared PROPERTIES EXPORT_NAME sinew)
set_target_properties(sinew_libraries PROPERTIES EXPORT_NAME libraries)
install(TARGETS ${SINEW_LIBRARIES} sinew_libraries EXPORT sinew ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
                                                                LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sinew)
  set_target_properties(sinew PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS sinew RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# find_package(sinew): sinew::sinew is the shared library, sinew::sinew_static the static one.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(EXPORT sinew NAMESPACE sinew:: FILE sinewTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/sinewConfig.cmake.in ${CMAKE_BINARY_DIR}/sinewConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sinewConfig.cmake ${CMAKE_BINARY_DIR}/sinewConfigVersion.cmake DESTINATION ${package_folder})

set(AT @)
configure_file(cmake/sinew.pc.in ${CMAKE_BINARY_DIR}/sinew.pc.in @ONLY)
# The prefix is known when installing, not before: `cmake --install --prefix` and `make install PREFIX=` may change it.
install(CODE "
  set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
  configure_file(\"${CMAKE_BINARY_DIR}/sinew.pc.in\" \"${CMAKE_BINARY_DIR}/sinew.pc\" @ONLY)")
install(FILES ${CMAKE_BINARY_DIR}/sinew.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cli/sinew.1)
  install(FILES cli/sinew.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/cli/sinew.bash)
  install(FILES cli/sinew.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sinew)
endif()
