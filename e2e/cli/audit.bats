#!/usr/bin/env bats
# audit of files in the place of a cluster, and what it says when there is nothing to audit.

load ../lib/helpers

setup() { cd "$BATS_TEST_DIRNAME" || return 1; }

@test "what would have been denied, drivers by form, classes, nodes, rights, as text and as JSON" {
    run -1 "$DRAWBRIDGE" audit -f audit
    expect_golden audit.text
    run -1 "$DRAWBRIDGE" audit -f audit -o json
    expect_golden audit.json
    jq -e . <<<"$output" >/dev/null
    run -1 "$DRAWBRIDGE" audit --feed dir:audit -o json
    expect_golden audit.json
}

@test "the other minor reads the other field" {
    run -1 "$DRAWBRIDGE" audit -f audit --kubernetes-version 1.37
    expect_in "$output" "gpu.example.com  v1.36 field, not read by this cluster" "nic.example.com  v1.37 field; 1 of 1" \
        "it does not declare the feature DRANodeAllocatableResources"
}

@test "nothing to deny: 0, from a folder and from standard input" {
    run -0 "$DRAWBRIDGE" audit --feed "dir:$REPO/server/sample/cluster"
    expect_in "$output" "node-a  ready, Fresh" "0 would be denied, 0 warned about; 2 of 2 nodes ready"
    run -0 "$DRAWBRIDGE" audit -f - <"$REPO/server/sample/cluster/31-slices-gpu.yaml"
    expect_in "$output" "gpu.example.com  v1.36 field"
}

@test "a policy counts: actions, canary, gated classes" {
    cp -r audit "$BATS_TEST_TMPDIR/audit"
    cat >"$BATS_TEST_TMPDIR/audit/policy.yaml" <<'YAML'
apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default}
spec:
  rules: [{id: unit-bytes-fraction, action: warn}, {id: claim-duplicate, action: "off"}]
  canary: {namespaces: [shop]}
  gatedClasses: [large]
YAML
    run -0 "$DRAWBRIDGE" audit -f "$BATS_TEST_TMPDIR/audit"
    expect_in "$output" "large  gated      named by the policy" "warn: spec.devices[1]" "0 would be denied"
    expect_not_in "$output" "claim-duplicate" "canary-scope"
}

@test "usage 2, unreadable 3, unreachable 4" {
    run -2 "$DRAWBRIDGE" audit -f audit --kubeconfig x
    expect_in "$output" "either files"
    run -2 "$DRAWBRIDGE" audit --feed none
    expect_in "$output" "kube or dir:FOLDER"
    run -2 "$DRAWBRIDGE" audit word
    run -3 "$DRAWBRIDGE" audit -f no-such-file
    expect_in "$output" "no-such-file"
    printf 'kind: [' >"$BATS_TEST_TMPDIR/broken.yaml"
    cp audit/cluster.yaml "$BATS_TEST_TMPDIR"
    run -3 "$DRAWBRIDGE" audit -f "$BATS_TEST_TMPDIR"
    expect_in "$output" "broken.yaml" "ResourceSlice gpu-a" "4 would be denied"
    printf 'kind: Secret\napiVersion: v1\n' >"$BATS_TEST_TMPDIR/other"
    run -3 "$DRAWBRIDGE" audit -f "$BATS_TEST_TMPDIR/other"
    expect_in "$output" "no object that drawbridge knows"
    cat >"$BATS_TEST_TMPDIR/kubeconfig" <<'YAML'
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
YAML
    run -4 "$DRAWBRIDGE" audit --kubeconfig "$BATS_TEST_TMPDIR/kubeconfig"
    expect_in "$output" "does not answer"
}
