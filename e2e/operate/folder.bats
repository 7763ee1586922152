#!/usr/bin/env bats
# freeze and resume with a folder of manifests as the control plane.

load ../lib/helpers

setup() {
    FOLDER=$(mktemp -d "$BATS_FILE_TMPDIR/folder.XXXXXX")
    cp "$REPO"/server/sample/cluster/*.yaml "$FOLDER"
}

teardown() { [ -z "${SERVER_PID:-}" ] || stop_drawbridge; }

freeze() { "$DRAWBRIDGE" freeze --feed "dir:$FOLDER" "$@"; }
resume() { "$DRAWBRIDGE" resume --feed "dir:$FOLDER" "$@"; }

# A new claim of a gated class, as a person would make it.
review() {
    jq '.request.userInfo.username = "jane" | .request.dryRun = false | .request.object.spec.devices.requests = [{name: "cpu", exactly: {deviceClassName: "numa-cpus"}}]' \
        "$REPO/server/sample/reviews/claim-good.json" >"$BATS_TEST_TMPDIR/review.json"
    post "$BATS_TEST_TMPDIR/review.json" | jq -r '.response | if .allowed then "allowed" else .status.message end'
}
frozen_drivers() { [ "$(metric 'drawbridge_frozen{scope="driver"}')" -eq "$1" ]; }
says() { [[ $(review) == *"$1"* ]]; }

@test "a freeze reaches the server, a resume ends it" {
    start_drawbridge --feed "dir:$FOLDER"
    eventually 5 says allowed
    run -0 freeze --driver cpu.example.com --reason "new firmware" --for 2h
    expect_in "$output" "driver cpu.example.com is frozen until" "written to ledgerpolicy.yaml"
    eventually 5 says "new firmware"
    expect_in "$(review)" "[frozen]"
    eventually 5 frozen_drivers 1
    run -0 resume --driver cpu.example.com --reason over
    eventually 5 says allowed
}

@test "a freeze survives a restart and ends by itself" {
    freeze --cluster --reason "short" --for 4s
    start_drawbridge --feed "dir:$FOLDER"
    eventually 3 says "short"
    stop_drawbridge
    start_drawbridge --feed "dir:$FOLDER"
    eventually 8 says allowed
    freeze --node node-a --reason "next" --for 1h
    grep -q next "$FOLDER/ledgerpolicy.yaml"
    run -1 grep -q short "$FOLDER/ledgerpolicy.yaml"
}

@test "the policy is changed where it is; comments and other objects stay" {
    cat >"$FOLDER/mine.yaml" <<'YAML'
# Our policy.
apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default}
spec:
  # The lease clock is off in the lab.
  windows: {lease: 0s}
---
apiVersion: v1
kind: Namespace
metadata: {name: other} # not ours
YAML
    cp "$FOLDER/mine.yaml" "$BATS_TEST_TMPDIR/before"
    chmod 640 "$FOLDER/mine.yaml"
    freeze -n team-a --reason r --for 1h
    resume -n team-a --reason r
    run -1 diff "$BATS_TEST_TMPDIR/before" "$FOLDER/mine.yaml"
    [[ $output != *"<"* ]] || fail "lines are gone:" "$output"
    expect_equal "$(stat -c %a "$FOLDER/mine.yaml")" 640
    run -0 "$DRAWBRIDGE" check "$FOLDER/mine.yaml"
    [ ! -e "$FOLDER/ledgerpolicy.yaml" ] || fail "a second policy was made"
}

@test "what cannot be done changes nothing and says why" {
    run -1 resume --cluster --reason r
    expect_in "$output" "the cluster is not frozen; nothing was changed"
    [ ! -e "$FOLDER/ledgerpolicy.yaml" ] || fail "a policy was made"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: LedgerPolicy\nmetadata: {name: default}\nspec: {hold: {deny: false}}\n' >"$FOLDER/flow.yaml"
    cp "$FOLDER/flow.yaml" "$BATS_TEST_TMPDIR/before"
    run -3 freeze --cluster --reason r --for 1h
    expect_in "$output" "flow.yaml:4: this form of YAML is not edited in place"
    cmp "$BATS_TEST_TMPDIR/before" "$FOLDER/flow.yaml"
    run -3 "$DRAWBRIDGE" freeze --feed "dir:$FOLDER/none" --cluster --reason r --for 1h
    expect_in "$output" "No such file"
    run -2 "$DRAWBRIDGE" freeze --feed somewhere --cluster --reason r --for 1h
    expect_in "$output" "kube or dir:FOLDER"
    run -2 freeze --cluster --reason r --for soon
    run -2 freeze --cluster --driver d --reason r --for 1h
    expect_in "$output" "exactly one of --cluster, --driver, --node and --namespace"
}

@test "two at a time lose nothing" {
    local i
    for i in 1 2 3 4 5 6 7 8; do
        freeze --node "n$i" --reason r --for 1h >/dev/null 3>&- &
    done
    wait
    expect_equal "$(grep -c 'node: "n' "$FOLDER/ledgerpolicy.yaml")" 8
}

# ---- Events about denials; with a folder they are log lines

events() { jq -c 'select(.msg == "Event" and .reason == "ClaimDenied") | [.kind, .object.name]' "$SERVER_LOG" | sort -u | tr '\n' ' '; }
event_count() { jq -c 'select(.msg == "Event" and .reason == "ClaimDenied")' "$SERVER_LOG" | wc -l; }
tells_all() { expect_equal "$(events)" '["Node","node-b"] ["Pod","job-1"] ["ResourceClaim","job-1-gpu"] '; }
allocation() { # FILTER: the answer to the scheduler's write
    jq "$1" "$REPO/server/sample/reviews/claim-allocation.json" >"$BATS_TEST_TMPDIR/allocation.json"
    post "$BATS_TEST_TMPDIR/allocation.json" | jq -r '.response.allowed'
}

@test "a denied allocation is told on Pod, claim and Node, once; a dry run or a forged one is not" {
    start_drawbridge --feed "dir:$FOLDER" --kubernetes-version 1.36
    freeze --driver gpu.example.com --reason "new firmware" --for 2h
    frozen() { frozen_drivers 1; }
    eventually 10 frozen
    expect_equal "$(allocation '.request.dryRun = true')" false
    expect_equal "$(allocation '.request.object.status.reservedFor[0].uid = "forged"')" false
    expect_equal "$(allocation '.request.object.metadata.uid = "forged"')" false
    expect_equal "$(allocation .)" false
    eventually 10 tells_all
    for _ in 1 2 3; do expect_equal "$(allocation .)" false; done
    repeated() { [ "$(metric 'drawbridge_events_dropped_total{reason="repeated"}')" -ge 9 ]; }
    eventually 10 repeated
    expect_equal "$(event_count)" 3
    expect_in "$(jq -r 'select(.msg == "Event" and .kind == "Pod") | .note' "$SERVER_LOG")" \
        "claim job-1-gpu (00000000-0000-4000-8000-000000000053) for Pod job-1 was denied" "[frozen]" "new firmware"
}

# ---- promote

promote() { "$DRAWBRIDGE" promote --feed "dir:$FOLDER" --kubernetes-version 1.36 --ledger-dir "$BATS_TEST_TMPDIR/ledger" "$@"; }
is_met() { [ "$(promote -o json | jq -r --arg n "$1" '.criteria[] | select(.name == $n) | .met')" = true ]; }
recorded() { "$DRAWBRIDGE" ledger audit --ledger-dir "$BATS_TEST_TMPDIR/ledger" | grep -q "$1"; }

@test "promote: what is not known or not done is not met; drills, restarts, upgrades and checkpoints are found" {
    run -1 "$DRAWBRIDGE" promote --feed "dir:$FOLDER"
    expect_in "$output" "met      compatible drivers" "2 of 2; wanted: 100%" "not met  rollback drills" "no journal was read" \
        "not ready to be widened"
    cat >"$FOLDER/policy.yaml" <<'YAML'
apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default}
spec:
  promotion: {zeroDivergence: 1s, verdictTime: 10s, headroom: "1%"}
YAML
    start_drawbridge --feed "dir:$FOLDER" --kubernetes-version 1.36 --ledger-dir "$BATS_TEST_TMPDIR/ledger"
    post "$REPO/server/sample/reviews/claim-good.json" >/dev/null
    run -1 promote
    expect_in "$output" "the journal has none: a freeze, and its resume by an operator" "the journal has none: a pool that went" \
        "1 of 1 in time, 0 failed"
    freeze --node node-a --reason drill --for 1h
    eventually 10 recorded "freeze node node-a"
    resume --node node-a --reason drilled
    mv "$FOLDER/31-slices-gpu.yaml" "$BATS_TEST_TMPDIR/slices"
    eventually 15 recorded "resume node node-a"
    gone_slices() { [ "$(metric 'drawbridge_cache_objects{resource="resourceslices"}')" -eq 2 ]; }
    eventually 15 gone_slices
    sed 's/generation: 5/generation: 6/' "$BATS_TEST_TMPDIR/slices" >"$FOLDER/31-slices-gpu.yaml"
    eventually 20 is_met restartReplays
    sed 's/generation: 5/generation: 7/' "$BATS_TEST_TMPDIR/slices" >"$FOLDER/31-slices-gpu.yaml"
    eventually 20 is_met upgradeReplays
    eventually 40 is_met replay
    run -0 promote
    expect_in "$output" "node node-a was frozen and resumed by" "driver gpu.example.com, pool node-" "to generation 7" \
        "9 of 9 met: the canary may be widened"
    stop_drawbridge
    run -1 promote
    expect_in "$output" "no server answers" "no running server was asked"
}

@test "promote: a driver that is not compatible, a threshold that is none, an overdrawn node" {
    sed -i 's/allocationMultiplier: 2Gi/allocationMultiplier: 500m/' "$FOLDER"/31-slices-gpu.yaml
    sed -i 's/allocatable: {cpu: "31"/allocatable: {cpu: "1"/' "$FOLDER"/00-nodes.yaml
    run -1 promote --ledger-dir ""
    expect_in "$output" "not met  compatible drivers     1 of 2" "gpu.example.com: a slice of it would be denied" \
        "not met  capacity" "1 of 2 ready" "the fullest: node node-a, cpu"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: LedgerPolicy\nmetadata: {name: default}\nspec: {promotion: {speed: 9}}\n' >"$FOLDER/policy.yaml"
    run -3 promote --ledger-dir ""
    expect_in "$output" "what is no threshold: speed"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: LedgerPolicy\nmetadata: {name: default}\nspec: {promotion: {zeroDivergence: soon}}\n' >"$FOLDER/policy.yaml"
    run -3 promote --ledger-dir ""
    expect_in "$output" 'spec.promotion.zeroDivergence is a duration such as "24h"'
}
