#!/usr/bin/env bats
# The gate in front of a real control plane of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37), scheduler and resourceclaim
# controller included: whatever they do by themselves passes, and what no book has is refused.

load ../lib/helpers

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }
mapping() { # CPU
    if [ "$(minor)" = 1.36 ]; then
        echo "nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: \"$1\"}}"
    else
        echo "nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: \"$1\"}}}"
    fi
}

slice() { # DRIVER NODE DEVICES
    local i
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1-$2}
spec:
  driver: $1
  nodeName: $2
  pool: {name: $2-$1, generation: 1, resourceSliceCount: 1}
  devices:
YAML
    for ((i = 0; i < $3; i++)); do printf '  - {name: dev-%d, %s}\n' "$i" "$(mapping 1)"; done
    echo ---
}

class() { # DRIVER
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1}
spec: {selectors: [{cel: {expression: 'device.driver == "$1"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: $1, namespace: work}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: $1}}]}}}
---
YAML
}

# pod NAME DRIVER…: one claim of each, from templates
pod() {
    local name=$1 driver claims='' uses=''
    shift
    for driver in "$@"; do
        claims+="{name: ${driver%%.*}, resourceClaimTemplateName: $driver}, "
        uses+="{name: ${driver%%.*}}, "
    done
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $name, namespace: work}
spec:
  automountServiceAccountToken: false
  resourceClaims: [${claims%, }]
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}, claims: [${uses%, }]}}]
---
YAML
}

setup_file() {
    load ../lib/helpers
    cluster up --with scheduler,controller-manager,kubectl --ttl 1800 \
        --disable-admission-plugins NodeDeclaredFeatureValidator >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    local node
    for node in node-a node-b; do
        cluster node "$node" cpu=32 memory=64Gi
        k patch node "$node" --subresource=status --type=merge -p '{"status":{"declaredFeatures":["DRANodeAllocatableResources"]}}'
        slice cpu.example.com "$node" 12 | k apply -f -
        slice nic.example.com "$node" 12 | k apply -f -
    done
    k create namespace work
    k label namespace work drawbridge.dev/canary=true
    { class cpu.example.com; class nic.example.com; } | k apply -f -
    eventually 30 k -n work get serviceaccount default
    start_drawbridge --feed kube --kubeconfig "$KUBECONFIG"
    printf '%s\n' "$SERVER_PID" >"$BATS_FILE_TMPDIR/pid"
    printf '%s\n' "$STATUS" >"$BATS_FILE_TMPDIR/status"
    printf '%s\n' "$SERVER_LOG" >"$BATS_FILE_TMPDIR/log"
    register_guard
}

teardown_file() {
    load ../lib/helpers
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")" 2>/dev/null || true
    cluster down
}

setup() {
    STATUS=$(cat "$BATS_FILE_TMPDIR/status")
    SERVER_LOG=$(cat "$BATS_FILE_TMPDIR/log")
}

clear_work() { k -n work delete pod,resourceclaim --all --force --grace-period=0 >/dev/null 2>&1; }
no_claims() { [ -z "$(k -n work get resourceclaims -o name)" ]; }
bound() { k -n work get pods -o json | jq '[.items[] | select(.spec.nodeName)] | length'; }
all_bound() { [ "$(bound)" -eq "$1" ]; }
reserved() { k -n work get resourceclaims -o json | jq '[.items[] | select(.status.allocation and (.status.reservedFor | length) == 1)] | length'; }
denials() { jq -rc 'select(.decision == "denied") | [.resource, .rules // .rule]' "$SERVER_LOG" 2>/dev/null | sort | uniq -c; }
condition() { k -n work get pod "$1" -o json | jq -r '.status.conditions[]? | select(.type == "PodScheduled") | .message'; }
says() { [[ $(condition "$1") == *"$2"* ]]; }

@test "Pods with one claim and with two get their nodes, again and again, and nothing is denied" {
    local round i
    for round in 1 2 3; do
        for i in 1 2 3 4 5 6; do
            pod "one-$round-$i" cpu.example.com
            pod "two-$round-$i" cpu.example.com nic.example.com
        done | k apply -f - >/dev/null
        eventually 60 all_bound 12
        expect_equal "$(reserved)" 18
        clear_work
        eventually 60 no_claims
    done
    expect_equal "$(denials)" ""
}

@test "a Pod that names its node is refused" {
    run -1 k create -f <(pod fixed cpu.example.com | sed 's/^spec:/spec:\n  nodeName: node-a/')
    expect_in "$output" "pod-bypasses-scheduler" "nodeSelector for kubernetes.io/hostname"
    expect_in "$(denials)" pods pod-bypasses-scheduler # so the test before this one would have seen a denial
}

@test "a claim outside of the canary is refused, a claim of no guarded class is not" {
    local claim='apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: CLASS}}]}}'
    run -1 k create -f - <<<"${claim/CLASS/cpu.example.com}"
    expect_in "$output" "[canary-scope]" "namespace default is not in the canary"
    run -0 k create -f - <<<"${claim/CLASS/unknown}"
    k -n default delete resourceclaim c
}

@test "a driver that is gone holds its Pods, and they run when it is back" {
    k delete resourceslice cpu.example.com-node-a cpu.example.com-node-b
    pod waits cpu.example.com nic.example.com | k apply -f -
    eventually 30 says waits "cannot allocate"
    slice cpu.example.com node-a 12 | k apply -f -
    eventually 60 all_bound 1
    slice cpu.example.com node-b 12 | k apply -f -
    clear_work
    eventually 60 no_claims
}

@test "a second allocation of a device by hand is refused, its release is not" {
    pod first cpu.example.com | k apply -f -
    eventually 30 all_bound 1
    local status
    status=$(k -n work get resourceclaims -o json | jq -c '{status: {allocation: .items[0].status.allocation}}')
    k apply -f - <<'YAML'
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: thief, namespace: work}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: cpu.example.com}}]}}
YAML
    run -1 k -n work patch resourceclaim thief --subresource=status --type=merge -p "$status"
    expect_in "$output" "[claim-duplicate]" "is held by another claim" "claim UID"
    clear_work
    eventually 60 no_claims
}

# lease NODE TIME
lease() {
    cat <<YAML
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: $1, namespace: kube-node-lease}
spec: {holderIdentity: $1, leaseDurationSeconds: 40, renewTime: "$2"}
---
YAML
}
# By denial, or quietly by a taint rule where the API server has them.
is_held() {
    local message
    message=$(condition held)
    [[ $message == *"[ledger-stale] node node-"*"the node's Lease was renewed"*"claim UID"* || $message == *"cannot allocate all claims"* ]]
}
allocated() { k -n work get resourceclaims -o json | jq '[.items[] | select(.status.allocation)] | length'; }

@test "a Pod on a stale node is held whole: none of its claims is allocated, and it runs charged when the node is back" {
    { lease node-a 2020-01-01T00:00:00.000000Z; lease node-b 2020-01-01T00:00:00.000000Z; } | k apply -f -
    pod held cpu.example.com nic.example.com | k apply -f -
    eventually 30 is_held
    expect_equal "$(allocated)" 0
    local now
    now=$(date -u +%Y-%m-%dT%H:%M:%S.000000Z)
    { lease node-a "$now"; lease node-b "$now"; } | k apply -f -
    eventually 90 all_bound 1
    expect_equal "$(allocated)" 2
    expect_equal "$(k -n work get pod held -o json | jq '.status.nodeAllocatableResourceClaimStatuses | length')" 2
    k -n kube-node-lease delete lease node-a node-b
    clear_work
    eventually 60 no_claims
}
