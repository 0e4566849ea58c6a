# make install: headers, both libraries, the program, two pkg-config files and a CMake package; the manual page and the
# completion of the shell.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/sinew DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/studio DESTINATION share/sinew OPTIONAL) # the page, if `make studio` built it
set_target_properties(sinew_shared PROPERTIES EXPORT_NAME sinew)
set_target_properties(sinew_io_shared PROPERTIES EXPORT_NAME io INSTALL_RPATH "$ORIGIN") # libsinew.so lies beside it
set_target_properties(sinew_io_static PROPERTIES EXPORT_NAME io_static)
set_target_properties(sinew_libraries PROPERTIES EXPORT_NAME libraries)
set_target_properties(sinew_io_libraries PROPERTIES EXPORT_NAME io_libraries)
install(TARGETS ${SINEW_LIBRARIES} sinew_libraries sinew_io_libraries EXPORT sinew
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET sinew)
  set_target_properties(sinew PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS sinew RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# find_package(sinew): sinew::sinew and sinew::io are the shared libraries, sinew::sinew_static and sinew::io_static the static
# ones.
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sinew)
install(EXPORT sinew NAMESPACE sinew:: FILE sinewTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/sinewConfig.cmake.in ${PROJECT_BINARY_DIR}/sinewConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinewConfig.cmake ${PROJECT_BINARY_DIR}/sinewConfigVersion.cmake
        DESTINATION ${package_folder})

# The prefix is known when installing, not before: `cmake --install --prefix` and `make install PREFIX=` may change it. Outside
# the folders that the loader searches, programs linked by pkg-config remember where the libraries are.
set(AT @)
foreach(name sinew sinew_io)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc.in @ONLY)
  install(CODE "
    set(prefix \"\${CMAKE_INSTALL_PREFIX}\")
    set(rpath \" -Wl,-rpath,\\\${libdir}\")
    if(prefix MATCHES \"^/usr(/local)?/?\\$\")
      set(rpath \"\")
    endif()
    configure_file(\"${PROJECT_BINARY_DIR}/${name}.pc.in\" \"${PROJECT_BINARY_DIR}/${name}.pc\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

install(FILES cli/sinew.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cli/sinew.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sinew)
