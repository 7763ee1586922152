#!/usr/bin/env bats
# Zero divergence: random Pods and claims on a real control plane of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37), its
# scheduler included, with drawbridge enforcing. SEED=… makes the Pods of an earlier run again.

load ../lib/helpers

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }

# All that drawbridge judges is sent to it.
register() {
    register_guard
    register_webhook mutating Fail <<<'- {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}'
}

setup_file() {
    load ../lib/helpers
    cluster up --with scheduler,controller-manager,kubectl --taint-rules --ttl 1800 >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    k apply -f "$REPO/chart/crds"
    k wait --for=condition=Established --timeout=30s crd/ledgerpolicies.drawbridge.dev crd/nodeledgers.drawbridge.dev
    # A claim that diverges is shown after one second, not ten.
    k create -f - <<<'{apiVersion: drawbridge.dev/v1alpha1, kind: LedgerPolicy, metadata: {name: default}, spec: {windows: {settle: 1s}}}'
    export LEDGER_DIR=$BATS_FILE_TMPDIR/ledger
    mkdir "$LEDGER_DIR"
    start_drawbridge --feed kube --kubeconfig "$KUBECONFIG" --ledger-dir "$LEDGER_DIR"
    register
}

teardown_file() {
    load ../lib/helpers
    stop_drawbridge
    cluster down
}

go_test() { # NAME [FLAG…]
    local flags=(-timeout 12m -v -run "^$1\$")
    shift
    KUBERNETES_VERSION=$(minor) "$REPO/e2e/go-test" "${flags[@]}" ./accounting -args "$@"
}

@test "a recorder sees a denial" {
    run -1 k create --dry-run=server -f - <<'YAML'
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: probe, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, capacity: {requests: {memory: "-1"}}}}]}}
YAML
    expect_in "$output" "[unit-negative]"
    expect_equal "$(jq -r 'select(.decision == "denied") | "\(.rules) \(.object.name)"' "$SERVER_LOG")" "unit-negative probe"
}

@test "at every step the ledger is what the scheduler charged, and nothing is denied" {
    run -0 go_test TestLedgerAgreesWithTheScheduler -seed "${SEED:-0}"
    echo "$output"
    expect_in "$output" "seed " " charges and "
}
