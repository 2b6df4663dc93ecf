# What `make install` and the Debian package put where. Installed programs bear the prefix nmc-.
include(GNUInstallDirs)

# nmc_install(PROGRAM...): the program, and a man page made from its --help.
function(nmc_install)
  foreach(program ${ARGN})
    install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION ${CMAKE_INSTALL_BINDIR}
            RENAME nmc-${program})
    set(page ${CMAKE_BINARY_DIR}/man/nmc-${program}.1)
    add_custom_command(OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
      COMMAND ${CMAKE_SOURCE_DIR}/tools/scripts/man_page $<TARGET_FILE:${program}> nmc-${program} > ${page}
      DEPENDS ${program} ${CMAKE_SOURCE_DIR}/tools/scripts/man_page VERBATIM)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(man_pages DEPENDS ${pages})
endfunction()

nmc_install(bench chat convert eval inspect server)

install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES deploy/completions/nmc.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME nmc-server)
foreach(program bench chat convert eval inspect)
  install(CODE "file(CREATE_LINK nmc-server
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/nmc-${program}\"
    SYMBOLIC)")
endforeach()
install(FILES deploy/completions/_nmc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

# The unit names /usr/bin and /etc: it belongs to the package.
set(NMC_PACKAGE OFF CACHE BOOL "Install what only the Debian package has: the systemd unit")
if(NMC_PACKAGE)
  install(FILES deploy/nmc-server.service DESTINATION /usr/lib/systemd/system)
  install(FILES deploy/nmc-server.default DESTINATION /etc/default RENAME nmc-server)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nmc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Local runtime and OpenAI-compatible server for North Mini Code")
set(CPACK_PACKAGE_CONTACT "The nmc authors <nmc@localhost>")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
file(WRITE ${CMAKE_BINARY_DIR}/deb/conffiles "/etc/default/nmc-server\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/deb/conffiles)
include(CPack)
