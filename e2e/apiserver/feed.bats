#!/usr/bin/env bats
# drawbridge follows a real API server of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37): what it holds is what the
# server would list, and its gate judges by it.

load ../lib/helpers

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }
setup_file() {
    load ../lib/helpers
    cluster up --with kubectl --taint-rules --user narrow --ttl 1200 >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    eventually 30 k get namespace default
    eventually 30 k get namespace kube-node-lease
    TLS_DIR=$BATS_FILE_TMPDIR/tls
    export TLS_DIR
    "$DRAWBRIDGE" certs issue --dir "$TLS_DIR" --host localhost --host 127.0.0.1 >/dev/null
}

teardown_file() { cluster down; }

teardown() { [ -z "${SERVER_PID:-}" ] || stop_drawbridge; }

follow() { start_drawbridge --feed kube --kubeconfig "$KUBECONFIG" "$@"; }

held() { metric "drawbridge_cache_objects{resource=\"$1\"}"; }
# What is held is what the API server lists: same RESOURCE [KUBECTL-FLAG…]
same() {
    local have want
    have=$(held "$1")
    want=$(k get "$@" --all-namespaces --no-headers -o name 2>/dev/null | wc -l)
    [ "$have" -eq "$want" ] || fail "$1: $have are held, the API server has $want"
}

node() { # NAME CPU
    printf 'apiVersion: v1\nkind: Node\nmetadata: {name: %s}\nstatus: {allocatable: {cpu: "%s", memory: 8Gi}}\n---\n' "$1" "$2"
}
# slice NAME GENERATION
slice() {
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1}
spec:
  driver: nic.example.com
  nodeName: node-1
  pool: {name: pool, generation: $2, resourceSliceCount: 1}
  devices: [{name: nic-0}]
---
YAML
}
# The verdict of the gate on a slice beside what is live: judged NAME GENERATION
judged() {
    slice "$1" "$2" | k create --dry-run=client -o json -f - | jq '{apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request:
        {uid: "u", kind: {group: "resource.k8s.io", version: "v1", kind: "ResourceSlice"},
         resource: {group: "resource.k8s.io", version: "v1", resource: "resourceslices"}, name: .metadata.name, operation: "CREATE",
         userInfo: {username: "a"}, object: ., oldObject: null, dryRun: false}}' >"$BATS_TEST_TMPDIR/review.json"
    post "$BATS_TEST_TMPDIR/review.json" | jq -r '.response | if .allowed then "allowed" else .status.message end'
}
regresses() { [[ $(judged "$@") == *"[generation-regressed]"* ]]; }
passes() { [ "$(judged "$@")" = allowed ]; }

@test "the version is the server's, and every kind is there" {
    follow
    expect_equal "$(jq -r 'select(.msg == "The cluster says its version") | .version' "$SERVER_LOG")" "$DRAWBRIDGE_KUBE_VERSION"
    local resource
    for resource in nodes namespaces deviceclasses resourceslices resourceclaimtemplates resourceclaims pods devicetaintrules leases; do
        expect_equal "$(metric "drawbridge_cache_synced{resource=\"$resource\"}")" 1 || return 1
    done
    eventually 10 same namespaces
    expect_in "$(jq -r 'select(.msg == "Not served by this cluster, passed over") | .resource' "$SERVER_LOG")" ledgerpolicies nodeledgers
}

@test "what changes is followed, and the gate judges by it" {
    follow
    k create -f <(node node-1 4; slice live 5)
    eventually 10 same resourceslices
    eventually 10 same nodes
    eventually 5 regresses other 4
    passes other 5
    k delete resourceslice live
    eventually 10 same resourceslices
    eventually 5 passes other 4
    k delete node node-1
    eventually 10 same nodes
}

@test "hundreds of objects come and go; in the end it holds what a fresh list has" {
    follow
    { for i in $(seq 300); do node "n-$i" 4; done; } >"$BATS_TEST_TMPDIR/nodes.yaml"
    { for i in $(seq 200); do printf 'apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: c-%s, namespace: default}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: a.example.com}}]}}\n---\n' "$i"; done; } >"$BATS_TEST_TMPDIR/claims.yaml"
    k create -f "$BATS_TEST_TMPDIR/nodes.yaml" >/dev/null
    k create -f "$BATS_TEST_TMPDIR/claims.yaml" >/dev/null
    k delete node n-1 n-2 n-3 n-150 >/dev/null
    k delete resourceclaim c-1 c-200 >/dev/null
    k label node n-5 n-6 a=b >/dev/null
    eventually 20 same nodes
    eventually 20 same resourceclaims
    expect_equal "$(held nodes)" 296
    local followed
    followed=$(held nodes)
    stop_drawbridge
    follow
    expect_equal "$(held nodes)" "$followed"
    k delete node --all >/dev/null
    k delete resourceclaim --all >/dev/null
    eventually 20 same nodes
    eventually 20 same resourceclaims
}

@test "Pods that have ended are not held" {
    k create serviceaccount default 2>/dev/null || true
    follow
    k create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: ends, namespace: default}
spec: {containers: [{name: c, image: i}], automountServiceAccountToken: false}
YAML
    eventually 10 eval '[ "$(held pods)" -eq 1 ]'
    k patch pod ends --subresource=status --type=merge -p '{"status":{"phase":"Succeeded"}}'
    eventually 10 eval '[ "$(held pods)" -eq 0 ]'
    k delete pod ends --force --grace-period=0
}

@test "taint rules are followed in the version that is served" {
    local version=v1
    [ "$(minor)" != 1.36 ] || version=v1beta2
    follow
    k create -f - <<YAML
apiVersion: resource.k8s.io/$version
kind: DeviceTaintRule
metadata: {name: t}
spec: {deviceSelector: {driver: nic.example.com}, taint: {key: example.com/a, effect: NoSchedule}}
YAML
    eventually 10 same devicetaintrules
    expect_equal "$(held devicetaintrules)" 1
    k delete devicetaintrule t
    eventually 10 same devicetaintrules
}

@test "rights that are missing are named, and used once they are there" {
    "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 --tls-cert-file "$TLS_DIR/tls.crt" \
        --tls-private-key-file "$TLS_DIR/tls.key" --shutdown-delay 0s --logging-format json --feed kube \
        --kubeconfig "$DRAWBRIDGE_KUBE_DIR/kubeconfigs/narrow" --address-file "$BATS_TEST_TMPDIR/addresses" >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
    SERVER_PID=$!
    SERVER_LOG=$BATS_TEST_TMPDIR/log
    eventually 10 test -s "$BATS_TEST_TMPDIR/addresses"
    STATUS=http://$(sed -n 's/^status //p' "$BATS_TEST_TMPDIR/addresses")
    eventually 10 eval 'curl -s "$STATUS/readyz?verbose" | grep -q "403: "'
    expect_in "$(curl -s "$STATUS/readyz?verbose")" "[-]feed failed: not listed yet: " 'narrow\" cannot watch'
    k create -f - <<'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: narrow}
rules:
- {apiGroups: [""], resources: [nodes, namespaces, pods], verbs: [get, list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, list, watch]}
- {apiGroups: [resource.k8s.io], resources: [deviceclasses, resourceslices, resourceclaims, resourceclaimtemplates, devicetaintrules], verbs: [get, list, watch]}
- {apiGroups: [drawbridge.dev], resources: [ledgerpolicies, nodeledgers], verbs: [get, list, watch]}
YAML
    k create clusterrolebinding narrow --clusterrole=narrow --user=narrow
    eventually 60 fetch "$STATUS/readyz"
}
