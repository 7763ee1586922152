#!/usr/bin/env bats
# Kubernetes $KUBERNETES_VERSION (1.36 or 1.37) with DRANodeAllocatableResources switched off: drawbridge says so, and blocks nothing.

load ../lib/helpers
load objects

setup_file() {
    load ../lib/helpers
    load objects
    start_cluster --feature-gates DRANodeAllocatableResources=false
    register_guard
}

teardown_file() {
    load ../lib/helpers
    load objects
    stop_cluster
}

setup() { recall_server; }

teardown() { k -n work delete pod,resourceclaim --all --force --grace-period=0 >/dev/null 2>&1 || true; }

@test "slices, claims and Pods go on as if drawbridge were not there: nothing is charged, nothing refused, nothing in the books" {
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; claim one cpu.example.com; pod one one; } | k apply -f -
    eventually 60 is_scheduled one
    is_uncharged one
    eventually 10 follows_slices 1
    expect_equal "$(k get resourceslice cpu.example.com-node-a -o json | jq '.spec.devices[0] | has("nodeAllocatableResourceMappings") or has("nodeAllocatableResources")')" false
    expect_equal "$(denials)" ""
    pod two one | k apply -f -
    eventually 60 is_reserved_for one two
    expect_equal "$(denials)" ""
}

@test "audit says that the gate is off, and that the driver has no mappings" {
    run -0 "$DRAWBRIDGE" audit --kubeconfig "$KUBECONFIG"
    expect_in "$output" "DRANodeAllocatableResources" "cpu.example.com"
    "$DRAWBRIDGE" audit --kubeconfig "$KUBECONFIG" -o json |
        jq -e '.featureGates.DRANodeAllocatableResources == false and any(.drivers[]; .driver == "cpu.example.com" and .form == "none")'
}
