#!/usr/bin/env bats
# Parts of a control plane of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37) crash and stand still while drawbridge guards it.
# What happens when nothing is heard for longer than the windows allow is proved in ../feed, where time is cheap.

load ../lib/helpers
load objects

setup_file() {
    load ../lib/helpers
    load objects
    start_cluster
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; slice cpu.example.com node-b d0 cpu 2; } | k apply -f -
    eventually 10 follows_slices 2
    register
}

teardown_file() {
    load ../lib/helpers
    load objects
    stop_cluster
}

# The claims of the test before are let go a moment after their Pods are gone.
setup() {
    recall_server
    eventually 60 no_claims
    allocation_review "$BATS_TEST_TMPDIR/review"
    eventually 30 is_free
}
no_claims() { [ -z "$(k -n work get resourceclaims -o name)" ]; }
is_free() { expect_equal "$(direct "$BATS_TEST_TMPDIR/review")" allowed; }

# What a failed test left standing still must not keep the next one waiting.
teardown() {
    kill -CONT "$SERVER_PID" 2>/dev/null || true
    cluster signal etcd CONT || true
    cluster signal kube-apiserver CONT || true
    k -n work delete pod,resourceclaim --all --force --grace-period=0 >/dev/null 2>&1 || true
}

is_ready() { fetch "$STATUS/readyz"; }
is_alive() { kill -0 "$SERVER_PID" && fetch "$STATUS/livez" >/dev/null; }
# A review that no API server sends: what drawbridge says while there is none.
direct() { # REVIEW-FILE
    TLS_DIR=$BATS_FILE_TMPDIR/tls WEBHOOK=https://localhost:$SERVER_PORT post "$1" | jq -r '.response | if .allowed then "allowed" else .status.message end'
}
runs() { # POD
    { claim "$1" cpu.example.com; pod "$1" "$1"; } | k create -f - >/dev/null
    eventually 60 is_charged "$1" cpu 2
}
# The sum of failed calls of our webhook, as the API server counts them.
failed_calls() {
    api GET /metrics | awk '/^apiserver_admission_webhook_rejection_count.*error_type="calling_webhook_error".*validate.drawbridge.dev/ { n += $2 } END { print n + 0 }'
}
open_calls() { api GET /metrics | awk '/^apiserver_admission_webhook_fail_open_count.*validate.drawbridge.dev/ { n += $2 } END { print n + 0 }'; }
allocation_review() { # FILE: a claim that the scheduler gives d0 of node-a
    jq -n '{metadata: {name: "direct", namespace: "work", uid: "u1", resourceVersion: "5"}, spec: {devices: {requests: [{name: "r", exactly: {deviceClassName: "cpu.example.com"}}]}}} as $old |
        {apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request: {uid: "1", kind: {group: "resource.k8s.io", version: "v1", kind: "ResourceClaim"},
        resource: {group: "resource.k8s.io", version: "v1", resource: "resourceclaims"}, subResource: "status", name: "direct", namespace: "work", operation: "UPDATE",
        userInfo: {username: "system:kube-scheduler"}, dryRun: true, oldObject: $old, object: ($old + {status: {allocation: {devices: {results: [{request: "r", driver: "cpu.example.com", pool: "node-a", device: "d0"}]},
        nodeSelector: {nodeSelectorTerms: [{matchFields: [{key: "metadata.name", operator: "In", values: ["node-a"]}]}]}}}})}}' >"$1"
}

@test "the API server crashes: verdicts go on from the cache, and afterwards everything is followed as before" {
    cluster restart kube-apiserver
    expect_equal "$(direct "$BATS_TEST_TMPDIR/review")" allowed
    is_alive
    eventually 60 k get --raw /readyz
    eventually 30 is_ready
    slice cpu.example.com node-b d0 cpu 2 | sed 's/generation: 1/generation: 2/' | k apply -f -
    eventually 60 runs_fine after-crash
}
runs_fine() { k -n work get pod "$1" >/dev/null 2>&1 || { claim "$1" cpu.example.com; pod "$1" "$1"; } | k create -f - >/dev/null; is_charged "$1" cpu 2; }

@test "etcd stands still: nothing is lost, nothing wrong is let in, and all goes on" {
    cluster signal etcd STOP
    expect_equal "$(direct "$BATS_TEST_TMPDIR/review")" allowed
    run -1 k --request-timeout=3s create -f <(claim lost cpu.example.com)
    is_alive
    cluster signal etcd CONT
    eventually 60 k get --raw /readyz
    eventually 30 is_ready
    eventually 60 runs_fine after-etcd
}

@test "the API server stands still for a while: verdicts go on from the cache, and so does everything afterwards" {
    cluster signal kube-apiserver STOP
    run -1 k --request-timeout=6s get nodes
    expect_equal "$(direct "$BATS_TEST_TMPDIR/review")" allowed
    is_alive
    cluster signal kube-apiserver CONT
    eventually 60 k get --raw /readyz
    eventually 30 is_ready
    eventually 60 runs_fine after-stall
}

@test "drawbridge stands still: each call fails closed after its time, and is counted once; then it goes on" {
    local before
    before=$(failed_calls)
    kill -STOP "$SERVER_PID"
    run -1 k create -f <(claim one cpu.example.com)
    expect_in "$output" "failed calling webhook" "validate.drawbridge.dev"
    run -1 k create -f <(claim two cpu.example.com)
    kill -CONT "$SERVER_PID"
    expect_equal "$(failed_calls)" $((before + 2))
    expect_equal "$(open_calls)" 0
    eventually 30 k create -f <(claim three cpu.example.com)
}

@test "drawbridge is dead: what runs stays, releases and everything of no claim goes on; a new claim waits for it" {
    runs holder
    kill -KILL "$SERVER_PID"
    eventually 10 gone "$SERVER_PID"
    run -1 k create -f <(claim new cpu.example.com)
    run -0 k create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: work}
spec:
  automountServiceAccountToken: false
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
YAML
    eventually 30 is_scheduled plain
    k -n work delete pod holder --force --grace-period=0
    eventually 60 is_released holder
    k -n work delete resourceclaim holder
    DRAWBRIDGE_TEST_PORT=$SERVER_PORT start_follower
    eventually 30 is_ready
    eventually 60 runs_fine new
}
is_released() { k -n work get resourceclaim "$1" -o json | jq -e '(.status.allocation // null) == null and (.status.reservedFor // []) == []'; }
