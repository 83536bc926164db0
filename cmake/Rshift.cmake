# Functions and flags, so that every folder's CMakeLists.txt is a list of sources and of what they may use.
include_guard(GLOBAL)

# g++ 12 warns about the deliberately undefined operands inside its own AVX-512 headers.
set(RSHIFT_AVX512_WARNINGS $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-uninitialized>)

# A preset that compiles several sources as one (CMAKE_UNITY_BUILD, preset asan: a third of the time; preset release the
# toolchain's, RSHIFT_UNITY_TOOLCHAIN) takes files of one library together: names in their anonymous namespaces must
# differ. Preset debug compiles each by itself, which is faster after an edit.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 12)

# Loops written for the vectoriser. Under a sanitizer g++ 12 takes many minutes for a vector unit at -O3.
set(RSHIFT_KERNEL_OPTIMIZATION -O3)
if(RSHIFT_SANITIZE)
  set(RSHIFT_KERNEL_OPTIMIZATION -O1)
endif()

# rshift_add_library(name SOURCES a.cc b.cc DEPS lib...)
function(rshift_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE rshift_warnings ${ARG_PRIVATE_DEPS})
  if(RSHIFT_SANITIZE)  # tests of a library that is not optimised at all take longer than compiling it
    target_compile_options(${name} PRIVATE -O1)
  endif()
endfunction()

# What all tests are compiled and linked with. Their own code is compiled faster at -O1, and runs as fast: the time goes
# in the libraries that they test. Under the sanitizers -O1 doubles the time of compiling, so that it is for the folders alone
# whose tests have long loops of their own (RSHIFT_OPTIMIZE_SANITIZED_TESTS). lld needs a fifth of the time of GNU ld, for hundreds of programs.
find_program(RSHIFT_LLD ld.lld)
function(rshift_add_test_options name)
  target_link_libraries(${name} PRIVATE rshift_warnings GTest::gtest GTest::gmock OpenMP::OpenMP_CXX)
  if(CMAKE_BUILD_TYPE STREQUAL Release OR (RSHIFT_SANITIZE AND RSHIFT_OPTIMIZE_SANITIZED_TESTS))
    target_compile_options(${name} PRIVATE -O1)
  endif()
  if(RSHIFT_PRECOMPILED_TEST_HEADERS AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -fpch-preprocess)  # without it ccache stores nothing
  endif()
  if(RSHIFT_LLD AND NOT CMAKE_CROSSCOMPILING)
    target_link_options(${name} PRIVATE -fuse-ld=lld)
  endif()
endfunction()

# GoogleTest's headers and the standard library's, parsed once for all tests (RSHIFT_PRECOMPILED_TEST_HEADERS, preset
# release). A test includes what it uses all the same: other presets compile it without. Not for clang: what it
# precompiles names its folder, so ccache has nothing for another checkout.
function(rshift_precompile_test_headers)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cc CONTENT "")
  add_library(rshift_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cc)
  rshift_add_test_options(rshift_test_headers)
  target_precompile_headers(rshift_test_headers PRIVATE <gtest/gtest.h> <gmock/gmock.h> <algorithm> <array> <cmath>
    <cstdint> <functional> <map> <memory> <numeric> <optional> <random> <span> <string> <string_view> <vector>)
endfunction()

# rshift_add_test(name SOURCES a_test.cc DEPS lib...): one GoogleTest program, one CTest entry. A source with compile options
# of its own needs SKIP_PRECOMPILE_HEADERS.
function(rshift_add_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main)
  rshift_add_test_options(${name})
  if(TARGET rshift_test_headers)
    target_precompile_headers(${name} REUSE_FROM rshift_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "RSHIFT_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
                                          TIMEOUT 600)
endfunction()
