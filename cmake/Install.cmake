# What `cmake --install` puts where, by component:
#   runtime      librshift_runtime.so.0: integer programs; nothing but OpenMP
#   float        librshift_float.so.0: the same with F32 convolutions and matrix products by oneDNN
#   tools        the four programs, man pages, shell completion, configs/
#   development  headers, static libraries, find_package(Rshift), pkg-config files
#   python       the Python package (python/CMakeLists.txt)
include(CMakePackageConfigHelpers)

set(RSHIFT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Rshift)
set(RSHIFT_PUBLIC_LIBRARIES runtime)
if(TARGET rshift_public_float_static)
  list(APPEND RSHIFT_PUBLIC_LIBRARIES float)
endif()
set(headers rshift/rshift.h rshift/rshift.hpp rshift/preprocess.h)
if(TARGET rshift_public_toolchain_static)
  list(APPEND RSHIFT_PUBLIC_LIBRARIES toolchain)
  list(APPEND headers rshift/toolchain.h)
endif()

install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/rshift COMPONENT development)
foreach(name IN LISTS RSHIFT_PUBLIC_LIBRARIES)
  install(TARGETS rshift_public_${name}_static EXPORT RshiftTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  if(TARGET rshift_public_${name})
    install(TARGETS rshift_public_${name} EXPORT RshiftTargets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${name} NAMELINK_COMPONENT development)
  endif()
endforeach()

install(EXPORT RshiftTargets NAMESPACE Rshift:: DESTINATION ${RSHIFT_CMAKE_DIR} COMPONENT development)
configure_package_config_file(cmake/RshiftConfig.cmake.in ${PROJECT_BINARY_DIR}/RshiftConfig.cmake
                              INSTALL_DESTINATION ${RSHIFT_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RshiftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RshiftConfig.cmake ${PROJECT_BINARY_DIR}/RshiftConfigVersion.cmake
        DESTINATION ${RSHIFT_CMAKE_DIR} COMPONENT development)

# What a static library links is private to a shared one.
file(RELATIVE_PATH PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(what_runtime "integer programs")
set(what_float "integer and F32 programs")
set(what_toolchain "integer and F32 programs, calibration and deployment")
foreach(name IN LISTS RSHIFT_PUBLIC_LIBRARIES)
  get_target_property(private rshift_public_${name}_static INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM private PREPEND -l)
  list(JOIN private " " private)
  set(PC_NAME ${name})
  set(PC_WHAT "${what_${name}}")
  set(PC_PRIVATE "\nLibs.private: ${private}")
  if(NOT TARGET rshift_public_${name})
    set(PC_PRIVATE " ${private}")
  endif()
  configure_file(cmake/rshift.pc.in ${PROJECT_BINARY_DIR}/rshift-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/rshift-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
          COMPONENT development)
endforeach()

if(TARGET model_tool)
  install(TARGETS model_calibrate model_deploy model_runner model_tool
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  # Each program says itself what its options are (tools/cli_pages.h).
  set(RSHIFT_PAGES)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man ${PROJECT_BINARY_DIR}/completions)
  foreach(tool model_calibrate model_deploy model_runner model_tool)
    set(page ${PROJECT_BINARY_DIR}/man/${tool}.1)
    set(completion ${PROJECT_BINARY_DIR}/completions/${tool})
    add_custom_command(
      OUTPUT ${page} ${completion}
      COMMAND ${tool} --print-man-page > ${page}
      COMMAND ${tool} --print-bash-completion > ${completion}
      DEPENDS ${tool} VERBATIM)
    list(APPEND RSHIFT_PAGES ${page} ${completion})
    install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
    install(FILES ${completion} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools)
  endforeach()
  add_custom_target(rshift_pages ALL DEPENDS ${RSHIFT_PAGES})
  if(TARGET rshift_mpi)
    install(TARGETS rshift_mpi LIBRARY DESTINATION lib/rshift COMPONENT mpi)
  endif()
  install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rshift/configs COMPONENT tools)
endif()
if(TARGET model_tool AND RSHIFT_SHARED_RUNTIME)
  include(Packages)
endif()
