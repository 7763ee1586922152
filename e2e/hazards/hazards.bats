#!/usr/bin/env bats
# The hazards of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37) on a real control plane: each one happens while drawbridge
# is not registered and, where drawbridge can prevent it, not when it is; where it cannot, drawbridge names it.

load ../lib/helpers
load objects

setup_file() {
    load ../lib/helpers
    load objects
    start_cluster
}

teardown_file() {
    load ../lib/helpers
    load objects
    stop_cluster
}

setup() { recall_server; }

teardown() {
    unregister
    clear_all
}

@test "one pool and device name under two drivers: v1.36 charges for the wrong one" {
    local big small
    big=$(slice big.example.com node-a d0 memory 8Gi)
    small=$(slice small.example.com node-a d0 cpu 1)
    { class big.example.com; class small.example.com; echo "$big"; echo "$small"; } | k apply -f -
    { claim big big.example.com; claim small small.example.com; pod big big; pod small small; } | k apply -f -
    if [ "$(minor)" = 1.36 ]; then
        eventually 60 is_charged_wrong
    else
        eventually 60 is_charged big memory 8Gi
        eventually 60 is_charged small cpu 1
    fi
    clear_all
    register
    { class big.example.com; class small.example.com; echo "$big"; } | k apply -f -
    eventually 10 follows_slices 1
    if [ "$(minor)" = 1.36 ]; then
        run -1 k create -f - <<<"$small"
        expect_in "$output" "[device-ambiguous]" "big.example.com"
    else
        run -0 k create -f - <<<"$small"
    fi
}
is_charged_wrong() {
    says_scheduled big "SchedulerError" || says_scheduled small "SchedulerError" ||
        { is_scheduled big && ! is_charged big memory 8Gi; } || { is_scheduled small && ! is_charged small cpu 1; }
}

@test "a claim that is allocated already: v1.36 charges its second Pod nothing, and the ledger names it" {
    local network
    network=$(slice net.example.com node-a d0 cpu 2 | sed 's/nodeName: node-a/allNodes: true/')
    { class net.example.com; echo "$network"; claim one net.example.com; pod first one | on node-a; } | k apply -f -
    eventually 60 is_charged first cpu 2
    pod second one | on node-b | k apply -f -
    if [ "$(minor)" = 1.36 ]; then
        eventually 60 is_scheduled second
        is_uncharged second
        eventually 60 diverges second preallocated-uncharged
    else
        eventually 60 says_scheduled second ""
        run -1 is_scheduled second
    fi
}

@test "a claim with a mapping has one Pod at a time on a node: the second one waits, and is charged in its turn" {
    register
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; claim one cpu.example.com; pod first one; } | k apply -f -
    eventually 60 is_charged first cpu 2
    pod second one | k apply -f -
    eventually 60 says_scheduled second ""
    run -1 is_scheduled second
    k -n work delete pod first --force --grace-period=0
    eventually 90 is_charged second cpu 2
}

@test "capacityKey on a device that is not shared: no Pod that asks for its class is ever scheduled" {
    local bad
    bad=$(slice cpu.example.com node-a d0 cpu key:cpu)
    { class cpu.example.com; echo "$bad"; claim one cpu.example.com; pod stuck one; } | k apply -f -
    eventually 60 says_scheduled stuck "SchedulerError"
    clear_all
    register
    class cpu.example.com | k apply -f -
    run -1 k create -f - <<<"$bad"
    expect_in "$output" "[mapping-needs-sharing]" "allowMultipleAllocations"
    run -0 k create -f - <<<"$(slice cpu.example.com node-a d0 cpu key:cpu shared)"
    { claim one cpu.example.com; pod fine one; } | k apply -f -
    eventually 60 is_scheduled fine
}

@test "a generation that goes backwards is taken by the API server" {
    slice cpu.example.com node-a d0 cpu 2 | sed 's/generation: 1/generation: 5/' | k create -f -
    slice cpu.example.com node-a d0 cpu 2 | sed 's/generation: 1/generation: 2/' | k replace -f -
    clear_all
    register
    slice cpu.example.com node-a d0 cpu 2 | sed 's/generation: 1/generation: 5/' | k create -f -
    run -1 k replace -f <(slice cpu.example.com node-a d0 cpu 2 | sed 's/generation: 1/generation: 2/')
    expect_in "$output" "[generation-regressed]" "use 5 or more"
}

@test "a Pod that names its node is reserved by the controller; v1.36 never charges it" {
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; claim one cpu.example.com; pod first one; } | k apply -f -
    eventually 60 is_scheduled first
    pod fixed one | sed 's/^spec:/spec:\n  nodeName: node-a/' | k create -f -
    eventually 60 is_reserved_for one fixed
    is_uncharged fixed
    clear_all
    register
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; } | k apply -f -
    eventually 10 follows_slices 1
    claim one cpu.example.com | k apply -f -
    eventually 10 refuses_fixed
    run -1 k create -f <(pod fixed one | sed 's/^spec:/spec:\n  nodeName: node-a/')
    expect_in "$output" "[pod-bypasses-scheduler]"
}
refuses_fixed() { ! pod fixed one | sed 's/^spec:/spec:\n  nodeName: node-a/' | k create --dry-run=server -f -; }

@test "an extended resource over devices with mappings never schedules: drawbridge cannot help it and says so" {
    local with
    with=$(class cpu.example.com | sed 's/^spec: {/spec: {extendedResourceName: example.com\/cpus, /')
    { echo "$with"; slice cpu.example.com node-a d0 cpu 2; } | k apply -f -
    extended waits | k apply -f -
    eventually 60 says_scheduled waits ""
    run -1 is_scheduled waits
    clear_all
    register
    slice cpu.example.com node-a d0 cpu 2 | k apply -f -
    eventually 10 follows_slices 1
    run -0 k create -f - <<<"$with"
    expect_in "$output" "[class-extended-resource]"
    extended waits | k apply -f -
    eventually 60 says_scheduled waits ""
    # What the scheduler creates by itself for such a Pod is never refused.
    expect_equal "$(denials)" ""
}

@test "admin access to a device with mappings is charged like any other: the ledger counts it and marks it" {
    k label namespace work resource.kubernetes.io/admin-access=true
    local monitor
    monitor=$(claim monitor cpu.example.com | sed 's/deviceClassName:/adminAccess: true, deviceClassName:/')
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; echo "$monitor"; pod monitor monitor; } | k apply -f -
    eventually 60 is_charged monitor cpu 2
    clear_all
    register
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; } | k apply -f -
    eventually 10 follows_slices 1
    { echo "$monitor"; pod monitor monitor; } | k apply -f -
    eventually 60 is_charged monitor cpu 2
    eventually 10 books node-a cpu 2
    [ "$(metric 'drawbridge_rule_results_total{rule="admin-charged",result="warn"}')" -ge 1 ] || fail "$(metrics | grep admin-charged)"
    expect_equal "$(denials)" ""
    k label namespace work resource.kubernetes.io/admin-access-
}

@test "drivers without mappings, and with the field of the other minor: nothing of theirs is refused, and audit names them" {
    register
    local other=nodeAllocatableResources form='{cpu: {mapping: {deviceMultiplier: "2"}}}'
    [ "$(minor)" = 1.36 ] || { other=nodeAllocatableResourceMappings; form='{cpu: {allocationMultiplier: "2"}}'; }
    { class plain.example.com; class other.example.com; } | k apply -f -
    slice plain.example.com node-a d0 cpu 2 | sed 's/devices: .*/devices: [{name: d0}]/' | k apply -f -
    slice other.example.com node-b d0 cpu 2 | sed "s/devices: .*/devices: [{name: d0, $other: $form}]/" | k apply --validate=false -f -
    { claim plain plain.example.com; pod plain plain; claim other other.example.com; pod other other; } | k apply -f -
    eventually 60 is_scheduled plain
    eventually 60 is_scheduled other
    is_uncharged plain
    is_uncharged other
    expect_equal "$(denials)" ""
    "$DRAWBRIDGE" audit --kubeconfig "$KUBECONFIG" -o json |
        jq -e '[.drivers[] | select(.driver == "plain.example.com" or .driver == "other.example.com") | .form] == ["none", "none"]'
}
