// SPDX-License-Identifier: Apache-2.0
#include "server/operate/policy_text.h"

#include <stdlib.h>

#include <criterion/criterion.h>

#define HEAD           "apiVersion: drawbridge.dev/v1alpha1\nkind: LedgerPolicy\nmetadata:\n  name: default\n"
#define FREEZE         "{\"driver\":\"a.example.com\",\"reason\":\"it's: \\\"#1\\\"\"}"
#define FREEZE_YAML(i) i "- driver: \"a.example.com\"\n" i "  reason: \"it's: \\\"#1\\\"\"\n"

static struct policy_edit edit_of(const char *freezes, const char *resumes) {
    return (struct policy_edit){.freezes = json_loads(freezes, 0, NULL),
                                .resumes = json_loads(resumes, 0, NULL)};
}

static void expect_edited(const char *before, const char *freezes, const char *after) {
    struct policy_edit edit = edit_of(freezes, "[]");
    struct fault fault;
    char *bytes;
    size_t len;
    cr_assert(policy_text_edit("p.yaml", text_of(before), &edit, &bytes, &len, &fault), "%s", fault.text);
    cr_expect_eq(len, strlen(after), "%s", bytes);
    cr_expect_str_eq(bytes, after);
    free(bytes);
    policy_edit_release(&edit);
}

static void expect_refused(const char *before, const char *part) {
    struct policy_edit edit = edit_of("[" FREEZE "]", "[]");
    struct fault fault = {.code = FAULT_NONE};
    char *bytes;
    size_t len;
    cr_expect_not(policy_text_edit("p.yaml", text_of(before), &edit, &bytes, &len, &fault));
    cr_expect_eq(fault.code, FAULT_STATE);
    cr_expect_not_null(strstr(fault.text, part), "\"%s\" is not in \"%s\"", part, fault.text);
    policy_edit_release(&edit);
}

Test(policy_text, comments_and_neighbours_stay) {
    expect_edited("# first\n---\nkind: Other\n---\n" HEAD "spec: # what we want\n    # why\n    windows:\n"
                  "        lease: 0s # off\n\n# behind\n---\nkind: Third\n",
                  "[" FREEZE "]",
                  "# first\n---\nkind: Other\n---\n" HEAD "spec: # what we want\n    freezes:\n" FREEZE_YAML(
                      "      ") "    resumes: []\n    # why\n    windows:\n"
                                "        lease: 0s # off\n\n# behind\n---\nkind: Third\n");
}

Test(policy_text, lists_are_replaced_where_they_stand) {
    expect_edited(HEAD
                  "spec:\n  freezes:\n  - node: x\n    reason: |\n      long\n\n      text\n  # of hold\n"
                  "  hold: {deny: false}\n  resumes: [{node: y,\n    at: z}]\n",
                  "[" FREEZE "]",
                  HEAD "spec:\n  freezes:\n" FREEZE_YAML("    ") "  # of hold\n"
                                                                 "  hold: {deny: false}\n  resumes: []\n");
}

Test(policy_text, the_last_line_may_have_no_end) {
    expect_edited(HEAD "spec:\n  hold: {deny: false}", "[]",
                  HEAD "spec:\n  freezes: []\n  resumes: []\n  hold: {deny: false}");
}

Test(policy_text, a_spec_is_made_where_there_is_none) {
    const char *after = HEAD "spec:\n  freezes: []\n  resumes: []\n";
    expect_edited(HEAD "spec: {}\n", "[]", after);
    expect_edited(HEAD "spec:\n", "[]", after);
    expect_edited(HEAD, "[]", after);
}

Test(policy_text, json_is_written_anew) {
    struct policy_edit edit = edit_of("[" FREEZE "]", "[]");
    struct fault fault;
    char *bytes;
    size_t len;
    const char *before = "{\"apiVersion\":\"drawbridge.dev/v1alpha1\",\"kind\":\"LedgerPolicy\","
                         "\"metadata\":{\"name\":\"default\"},\"spec\":{\"gatedClasses\":[\"c\"]}}";
    cr_assert(policy_text_edit("p.json", text_of(before), &edit, &bytes, &len, &fault), "%s", fault.text);
    json_t *policy = json_loadb(bytes, len, 0, NULL);
    const json_t *spec = json_object_get(policy, "spec");
    cr_expect_eq(json_array_size(json_object_get(spec, "freezes")), 1u);
    cr_expect_eq(json_array_size(json_object_get(spec, "gatedClasses")), 1u);
    json_decref(policy);
    free(bytes);
    policy_edit_release(&edit);
}

Test(policy_text, forms_that_would_be_spoilt_are_refused) {
    expect_refused(HEAD "spec: {hold: {deny: false}}\n", "p.yaml:5: this form of YAML");
    expect_refused(HEAD "spec: {freezes: []}\n", "p.yaml:5: this form of YAML");
    expect_refused("{apiVersion: drawbridge.dev/v1alpha1, kind: LedgerPolicy, metadata: {name: default}}\n",
                   "this form of YAML");
    expect_refused("kind: List\napiVersion: v1\nitems:\n- apiVersion: drawbridge.dev/v1alpha1\n"
                   "  kind: LedgerPolicy\n  metadata:\n    name: default\n",
                   "item of a List");
    expect_refused(HEAD "spec: &a\n  hold:\n    deny: false\n", "this form of YAML");
}

Test(policy_text, other_policies_and_kinds_are_not_it) {
    struct fault fault;
    json_t *policy = NULL;
    cr_expect(policy_text_find("p",
                               TEXT("kind: LedgerPolicy\napiVersion: drawbridge.dev/v1alpha1\n"
                                    "metadata: {name: other}\n"),
                               &policy, &fault));
    cr_expect_null(policy);
    cr_expect_not(policy_text_find("p", TEXT(HEAD "---\n" HEAD), &policy, &fault));
    cr_expect_str_eq(fault.text, "p: the LedgerPolicy default is there twice");
    cr_expect_not(policy_text_find("p", TEXT("a: [\n"), &policy, &fault));
    cr_expect_eq(fault.code, FAULT_INPUT);
}

Test(policy_text, a_new_file_reads_as_its_lists) {
    struct policy_edit edit = edit_of("[" FREEZE "]", "[{\"node\":\"n\",\"accept\":[\"all\"]}]");
    struct fault fault;
    char *bytes;
    size_t len;
    json_t *policy;
    cr_assert(policy_text_new(&edit, &bytes, &len, &fault));
    cr_assert(policy_text_find("new", (struct text){bytes, len}, &policy, &fault), "%s", fault.text);
    const json_t *spec = json_object_get(policy, "spec");
    cr_expect(json_equal(json_object_get(spec, "freezes"), edit.freezes));
    cr_expect(json_equal(json_object_get(spec, "resumes"), edit.resumes));
    json_decref(policy);
    free(bytes);
    policy_edit_release(&edit);
}
