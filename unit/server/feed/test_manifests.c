// SPDX-License-Identifier: Apache-2.0
// From a file to objects: identity, what is passed over, what keeps a file out.
#include <criterion/criterion.h>

#include "server/feed/manifests.h"

static struct manifest_list read_all(const char *yaml) {
    struct manifest_list list = {.items = NULL};
    struct fault fault;
    cr_assert(manifests_read("a.yaml", text_of(yaml), MINOR_36, &list, &fault), "%s", fault.text);
    return list;
}

static void expect_refused(const char *yaml, const char *words) {
    struct manifest_list list;
    struct fault fault = {.text = ""};
    cr_assert_not(manifests_read("a.yaml", text_of(yaml), MINOR_36, &list, &fault), "%s was taken", yaml);
    cr_expect_not_null(strstr(fault.text, words), "\"%s\" does not say \"%s\"", fault.text, words);
}

Test(manifests, identity) {
    struct manifest_list list = read_all("apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n---\n"
                                         "apiVersion: v1\nkind: Node\nmetadata: {name: n1, uid: mine}\n---\n"
                                         "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n---\n"
                                         "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
                                         "metadata: {name: n1, namespace: kube-node-lease}\n---\n"
                                         "apiVersion: coordination.k8s.io/v1\nkind: Lease\n"
                                         "metadata: {name: n1, namespace: other, resourceVersion: '7'}\n");
    cr_assert_eq(list.count, 3, "%zu objects", list.count);
    cr_expect_eq(list.items[0].row->kind, KIND_POD);
    cr_expect(text_equal(list.items[0].namespace, TEXT("default")));
    cr_expect_eq(list.items[0].uid.len, 36, "made: %.*s", TEXT_ARG(list.items[0].uid));
    cr_expect(text_equal(list.items[1].uid, TEXT("mine")));
    cr_expect_eq(list.items[1].namespace.len, 0);
    cr_expect_eq(list.items[2].row->kind, KIND_LEASE);
    struct manifest_list again =
        read_all("apiVersion: v1\nkind: Pod\nmetadata: {namespace: default, name: p}\n");
    cr_expect(text_equal(again.items[0].uid, list.items[0].uid), "the same object, the same UID");
    cr_expect_eq(manifest_compare(&again.items[0], &list.items[0]), 0);
    cr_expect_gt(manifest_compare(&list.items[0], &list.items[1]), 0);
    manifest_list_release(&again);
    manifest_list_release(&list);
}

Test(manifests, only_content_counts) {
    struct manifest_list a = read_all("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n");
    struct manifest_list b =
        read_all("# a comment\napiVersion:   v1\nkind: Node\nmetadata:\n  resourceVersion: '9'\n"
                 "  name: n1\n");
    struct manifest_list c = read_all("apiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {a: b}}\n");
    cr_expect(text_equal(a.items[0].json, b.items[0].json));
    cr_expect_not(text_equal(a.items[0].json, c.items[0].json));
    cr_expect_eq(b.written_version, 9);
    manifest_list_release(&a);
    manifest_list_release(&b);
    manifest_list_release(&c);
}

Test(manifests, refused) {
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {}\n", "metadata.name");
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {generateName: a}\n", "a.yaml:3:");
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {name: 'a\"b'}\n", "metadata");
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {name: [\n", "a.yaml:");
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: x}}\n",
                   "status.allocatable");
    expect_refused("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\n: :\n - ]", "a.yaml:");
}
