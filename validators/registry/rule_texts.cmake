# Writes OUTPUT, a C file that holds the head comment of every rule: what `drawbridge explain ID` prints.
# The head comment is the block of // lines at the top of validators/rules/rule_<id>.c, without its SPDX line.
# The text of the rule "schema" is the head comment of validators/registry/check_schema.c.
#
#   cmake -DOUTPUT=FILE -DSOURCE_DIR=FOLDER -P rule_texts.cmake
cmake_minimum_required(VERSION 3.25)

function(head_comment path ret_literal)
  file(READ "${path}" source)
  if(NOT source MATCHES "^(//[^\n]*\n)+")
    message(FATAL_ERROR "${path} has no head comment")
  endif()
  set(comment "\n${CMAKE_MATCH_0}")
  string(REGEX REPLACE "\n// SPDX[^\n]*" "" comment "${comment}")
  string(REGEX REPLACE "\n// ?" "\n" comment "${comment}")
  string(REGEX REPLACE "^\n" "" comment "${comment}")
  if(comment MATCHES "^[ \n]*$")
    message(FATAL_ERROR "${path}: its head comment says nothing, but `drawbridge explain` prints it")
  endif()
  string(REPLACE "\\" "\\\\" comment "${comment}")
  string(REPLACE "\"" "\\\"" comment "${comment}")
  string(REPLACE "?" "\\?" comment "${comment}")
  string(REPLACE "\n" "\\n\"\n     \"" comment "${comment}")
  set(${ret_literal} "\"${comment}\"" PARENT_SCOPE)
endfunction()

file(GLOB sources "${SOURCE_DIR}/validators/rules/rule_*.c")
list(SORT sources)
head_comment("${SOURCE_DIR}/validators/registry/check_schema.c" literal)
set(rows "    {\"schema\",\n     ${literal}},\n")
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  string(REGEX REPLACE "^rule_" "" id "${name}")
  string(REPLACE "_" "-" id "${id}")
  head_comment("${source}" literal)
  string(APPEND rows "    {\"${id}\",\n     ${literal}},\n")
endforeach()

file(WRITE "${OUTPUT}" "// SPDX-License-Identifier: Apache-2.0
// Written by validators/registry/rule_texts.cmake from the head comments of the rules. Do not edit.
#include \"validators/registry/rule_texts.h\"

#include <stddef.h>
#include <string.h>

struct rule_text_row {
    const char *id;
    const char *text;
};

static const struct rule_text_row rows[] = {
${rows}};

const char *rule_text(const char *id) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].id, id) == 0) return rows[i].text;
    return NULL;
}
")
