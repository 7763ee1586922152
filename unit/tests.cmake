# Every unit/**/test_*.c is one Criterion program and one ctest; every unit/fuzz/fuzz_*.c is one fuzz target that also
# replays its corpus in ctest; every unit/tsan/tsan_*.c is one plain program (Criterion does not start under TSan).
enable_testing()

file(GLOB TEST_LIB_SOURCES CONFIGURE_DEPENDS unit/lib/*.c)
if(TEST_LIB_SOURCES)
  add_library(testlib STATIC ${TEST_LIB_SOURCES})
  target_link_libraries(testlib PUBLIC server PkgConfig::CRITERION)
else()
  add_library(testlib INTERFACE)
  target_link_libraries(testlib INTERFACE server PkgConfig::CRITERION)
endif()

set(TEST_ENVIRONMENT "DRAWBRIDGE_SOURCE=${CMAKE_SOURCE_DIR}" "DRAWBRIDGE=$<TARGET_FILE:drawbridge>")
if(PRESET STREQUAL "asan" OR PRESET STREQUAL "fuzz")
  # Criterion passes over leaks that the sanitizer reports at exit, so reports go to files and a last test looks.
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/sanitizer)
  list(APPEND TEST_ENVIRONMENT "ASAN_OPTIONS=log_path=${CMAKE_BINARY_DIR}/sanitizer/report:detect_leaks=1"
       "UBSAN_OPTIONS=print_stacktrace=1:log_path=${CMAKE_BINARY_DIR}/sanitizer/report")
endif()

if(NOT PRESET STREQUAL "tsan")
  file(GLOB_RECURSE TEST_SOURCES CONFIGURE_DEPENDS unit/test_*.c)
  foreach(source ${TEST_SOURCES})
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/unit ${source})
    string(REGEX REPLACE "\\.c$" "" name ${name})
    string(REPLACE "/" "." name ${name})
    string(REPLACE "test_" "" name ${name})
    add_executable(test.${name} ${source})
    target_link_libraries(test.${name} PRIVATE testlib)
    # Criterion finds its tests by a section of their own, which the linker would drop.
    target_link_options(test.${name} PRIVATE -Wl,--no-gc-sections)
    add_test(NAME ${name} COMMAND test.${name})
    # A program that runs no test has lost its tests: that is a failure, which Criterion does not see.
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${TEST_ENVIRONMENT}"
                         FAIL_REGULAR_EXPRESSION "Synthesis: Tested: 0 ")
  endforeach()

  file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS unit/fuzz/fuzz_*.c)
  foreach(source ${FUZZ_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    if(PRESET STREQUAL "fuzz")
      add_executable(${name} ${source})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    else()
      add_executable(${name} ${source} unit/fuzz/replay.c)
    endif()
    target_link_libraries(${name} PRIVATE server)
    add_test(NAME ${name} COMMAND sh -c "exec $<TARGET_FILE:${name}> -runs=0 ${CMAKE_SOURCE_DIR}/unit/fuzz/corpus/${name}")
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${TEST_ENVIRONMENT}")
  endforeach()
endif()

file(GLOB TSAN_SOURCES CONFIGURE_DEPENDS unit/tsan/tsan_*.c)
foreach(source ${TSAN_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE server PkgConfig::CURL)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT "${TEST_ENVIRONMENT}")
endforeach()
# Of the library of tests only what has no Criterion in it.
target_sources(tsan_random PRIVATE unit/lib/world.c unit/lib/ledger_lines.c)
