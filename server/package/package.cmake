# What an installation holds, and the .deb of it: `server/package/build`. Completions and the man page are printed by the
# program itself, from the one table of flags.
if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT)
  set(CMAKE_INSTALL_PREFIX /usr CACHE PATH "where an installation goes" FORCE)
endif()

set(PACKAGE_FILES ${CMAKE_BINARY_DIR}/package)
file(MAKE_DIRECTORY ${PACKAGE_FILES})
set(PACKAGE_PRINTED)
foreach(form man bash zsh fish)
  add_custom_command(
    OUTPUT ${PACKAGE_FILES}/${form}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PACKAGE_FILES}
    COMMAND drawbridge completion ${form} > ${PACKAGE_FILES}/${form}
    DEPENDS drawbridge
    VERBATIM)
  list(APPEND PACKAGE_PRINTED ${PACKAGE_FILES}/${form})
endforeach()
# Without a name and a time in them, so that the same commit gives the same bytes.
function(package_gzip source name)
  add_custom_command(
    OUTPUT ${PACKAGE_FILES}/${name}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PACKAGE_FILES}
    COMMAND gzip -9 -n -c ${source} > ${PACKAGE_FILES}/${name}
    DEPENDS ${source}
    VERBATIM)
endfunction()
package_gzip(${PACKAGE_FILES}/man drawbridge.1.gz)
package_gzip(${CMAKE_SOURCE_DIR}/server/package/changelog changelog.gz)
list(APPEND PACKAGE_PRINTED ${PACKAGE_FILES}/drawbridge.1.gz ${PACKAGE_FILES}/changelog.gz)
add_custom_target(package_files DEPENDS ${PACKAGE_PRINTED})

install(TARGETS drawbridge RUNTIME DESTINATION bin)
# kubectl takes a program of this name in the PATH for a plugin: `kubectl drawbridge`.
file(CREATE_LINK drawbridge ${PACKAGE_FILES}/kubectl-drawbridge SYMBOLIC)
file(CREATE_LINK drawbridge.1.gz ${PACKAGE_FILES}/kubectl-drawbridge.1.gz SYMBOLIC)
install(FILES ${PACKAGE_FILES}/kubectl-drawbridge DESTINATION bin)
install(FILES ${PACKAGE_FILES}/kubectl-drawbridge.1.gz DESTINATION share/man/man1)
install(FILES ${PACKAGE_FILES}/drawbridge.1.gz DESTINATION share/man/man1)
install(FILES ${PACKAGE_FILES}/bash DESTINATION share/bash-completion/completions RENAME drawbridge)
install(FILES ${PACKAGE_FILES}/zsh DESTINATION share/zsh/vendor-completions RENAME _drawbridge)
install(FILES ${PACKAGE_FILES}/fish DESTINATION share/fish/vendor_completions.d RENAME drawbridge.fish)
install(FILES server/package/copyright ${PACKAGE_FILES}/changelog.gz DESTINATION share/doc/drawbridge)
install(FILES server/package/drawbridge.service DESTINATION lib/systemd/system)
install(FILES server/package/drawbridge.sysusers DESTINATION lib/sysusers.d RENAME drawbridge.conf)
install(FILES server/package/config.yaml DESTINATION /etc/drawbridge)
install(DIRECTORY DESTINATION /etc/drawbridge/tls)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME drawbridge)
set(CPACK_PACKAGE_VENDOR drawbridge.dev)
set(CPACK_PACKAGE_CONTACT "drawbridge maintainers <maintainers@drawbridge.dev>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "admission webhook and node ledger for Kubernetes DRA")
set(CPACK_PACKAGE_DESCRIPTION
    "Makes Kubernetes DRA Node Allocatable resources safe to turn on: judges the\nmappings of ResourceSlices, keeps one ledger per node and holds claims back\nwhile it is not fresh. The same rules run on files: drawbridge check.")
set(CPACK_SET_DESTDIR ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# libcurl is loaded when it is needed; the service has a user.
set(CPACK_DEBIAN_PACKAGE_DEPENDS
    "libcurl4 (>= 7.85), systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
    ${CMAKE_SOURCE_DIR}/server/package/conffiles ${CMAKE_SOURCE_DIR}/server/package/postinst
    ${CMAKE_SOURCE_DIR}/server/package/prerm ${CMAKE_SOURCE_DIR}/server/package/postrm)
# Packaging builds what it needs itself, not the tests.
set(CMAKE_SKIP_PACKAGE_ALL_DEPENDENCY ON)
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
include(CPack)
