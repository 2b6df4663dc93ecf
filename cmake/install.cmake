# What `make install` and the Debian package put where. Installed programs bear the prefix nmc-.
include(GNUInstallDirs)

# nmc_install(PROGRAM...): the program, and a man page made from its --help.
function(nmc_install)
  foreach(program ${ARGN})
    install(PROGRAMS $<TARGET_FILE:${program}> DESTINATION ${CMAKE_INSTALL_BINDIR}
            RENAME nmc-${program})
    # CMake strips what it installs under its own name only.
    install(CODE "if(CMAKE_INSTALL_DO_STRIP)
      execute_process(COMMAND ${CMAKE_STRIP} --strip-unneeded --remove-section=.comment --remove-section=.note
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/nmc-${program}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()")
    set(page ${CMAKE_BINARY_DIR}/man/nmc-${program}.1.gz)
    add_custom_command(OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
      COMMAND ${CMAKE_SOURCE_DIR}/tools/scripts/man_page $<TARGET_FILE:${program}> nmc-${program} ${page}
      DEPENDS ${program} ${CMAKE_SOURCE_DIR}/tools/scripts/man_page VERBATIM)
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    list(APPEND pages ${page})
  endforeach()
  add_custom_target(man_pages DEPENDS ${pages})
endfunction()

nmc_install(bench chat convert eval inspect server)

install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(FILES deploy/completions/nmc.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME nmc-server)
foreach(program bench chat convert eval inspect)
  install(CODE "file(CREATE_LINK nmc-server
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/bash-completion/completions/nmc-${program}\"
    SYMBOLIC)")
endforeach()
install(FILES deploy/completions/_nmc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)

set(NMC_PACKAGE OFF CACHE BOOL "Install what only the Debian package has: its licences and the systemd unit")
if(NMC_PACKAGE)
  install(FILES deploy/debian/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES /usr/share/doc/nlohmann-json3-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}
          RENAME copyright.nlohmann-json)
  install(FILES /usr/share/doc/libcli11-dev/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright.cli11)
  install(FILES deploy/debian/nmc-server.service DESTINATION /usr/lib/systemd/system)
  install(FILES deploy/debian/nmc-server.default DESTINATION /etc/default RENAME nmc-server)
  install(DIRECTORY DESTINATION /var/lib/nmc)  # for the model
else()
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nmc)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Local runtime and OpenAI-compatible server for North Mini Code")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Runs one mixture-of-experts model of the cohere2_moe family, such as North
Mini Code, on this machine. It holds a converter from safetensors, a server
that speaks the APIs of OpenAI and Anthropic, a chat for the terminal, and
tools that inspect, measure and compare. Nothing is quantized, and nothing is
asked of the network.")
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
