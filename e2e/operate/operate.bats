#!/usr/bin/env bats
# Operating drawbridge on a real control plane of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37), scheduler included:
# freeze and resume, NodeLedgers, taint rules, scheduling gates, Events, the leader.

load ../lib/helpers

DRIVER=cpu.example.com

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }
mapping() {
    if [ "$(minor)" = 1.36 ]; then
        echo "nodeAllocatableResourceMappings: {cpu: {allocationMultiplier: \"2\"}}"
    else
        echo "nodeAllocatableResources: {cpu: {mapping: {deviceMultiplier: \"2\"}}}"
    fi
}

# slice NODE [GENERATION [COUNT]]
slice() {
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: cpu-$1}
spec:
  driver: $DRIVER
  nodeName: $1
  pool: {name: $1, generation: ${2:-1}, resourceSliceCount: ${3:-1}}
  devices:
  - {name: d0, $(mapping)}
  - {name: d1, $(mapping)}
  - {name: d2, $(mapping)}
YAML
}

claim() { # NAME [NAMESPACE]
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, namespace: ${2:-work}}
spec: {devices: {requests: [{name: cpu, exactly: {deviceClassName: numa-cpus}}]}}
YAML
}

pod() { # NAME CLAIM
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: work}
spec:
  automountServiceAccountToken: false
  resourceClaims: [{name: cpu, resourceClaimName: $2}]
  containers: [{name: c, image: i, resources: {claims: [{name: cpu}]}}]
YAML
}

serve() {
    DRAWBRIDGE_TEST_PORT=${SERVER_PORT:-0} start_drawbridge --feed kube --kubeconfig "$KUBECONFIG"
    printf '%s\n' "$SERVER_PID" >"$BATS_FILE_TMPDIR/pid"
    printf '%s\n' "$SERVER_LOG" >"$BATS_FILE_TMPDIR/log"
    printf '%s\n' "$STATUS" >"$BATS_FILE_TMPDIR/status"
}
server_log() { cat "$(cat "$BATS_FILE_TMPDIR/log")"; }

register() {
    register_webhook validating Fail <<'RULES'
- apiGroups: [resource.k8s.io]
  apiVersions: [v1]
  operations: [CREATE, UPDATE]
  resources: [resourceclaims, resourceclaims/status, resourceclaimtemplates]
  scope: "*"
RULES
    register_webhook mutating Ignore <<'RULES'
- {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}
RULES
}

setup_file() {
    load ../lib/helpers
    cluster up --with scheduler,controller-manager,kubectl --taint-rules --user narrow --ttl 2400 \
        --disable-admission-plugins NodeDeclaredFeatureValidator >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    TLS_DIR=$BATS_FILE_TMPDIR/tls
    export TLS_DIR
    k apply -f "$REPO/chart/crds"
    k wait --for=condition=Established --timeout=30s crd/ledgerpolicies.drawbridge.dev crd/nodeledgers.drawbridge.dev
    local node
    for node in node-a node-b; do
        cluster node "$node" cpu=16 memory=64Gi
        k patch node "$node" --subresource=status --type=merge -p '{"status":{"declaredFeatures":["DRANodeAllocatableResources"]}}'
        slice "$node" | k apply -f -
    done
    k apply -f - <<YAML
apiVersion: v1
kind: Namespace
metadata: {name: work, labels: {drawbridge.dev/canary: "true"}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: numa-cpus}
spec: {selectors: [{cel: {expression: 'device.driver == "$DRIVER"'}}]}
YAML
    eventually 30 k -n work get serviceaccount default
    serve
    register
    eventually 30 leads
}

teardown_file() {
    load ../lib/helpers
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")" 2>/dev/null || true
    cluster down
}

setup() { STATUS=$(cat "$BATS_FILE_TMPDIR/status"); }

teardown() {
    k -n work delete pod,resourceclaim --all --force --grace-period=0 >/dev/null 2>&1 || true
    k delete ledgerpolicy --all >/dev/null 2>&1 || true
}

fails_twice() { [ "$(metric "drawbridge_writes_total{resource=\"$1\",result=\"failed\"}")" -ge 2 ]; }
leads() { [ "$(metric drawbridge_leader)" -eq 1 ]; }
freeze() { "$DRAWBRIDGE" freeze "$@"; }
resume() { "$DRAWBRIDGE" resume "$@"; }
try_claim() { claim "try-$RANDOM" "${1:-work}" | k create --dry-run=server -f - 2>&1; }
is_refused() { [[ $(try_claim "$2") == *"$1"* ]]; }
is_admitted() { [[ $(try_claim "$1") == *created* ]]; }
taint_rules() { k get devicetaintrules -o json | jq -c '[.items[] | [.spec.deviceSelector.driver, .spec.deviceSelector.pool, .spec.taint.key, .spec.taint.value, .spec.taint.effect]]'; }
has_rule() { [[ $(taint_rules) == *"$1"* ]]; }
last_written_before() { # SECONDS
    k get nodeledgers --show-managed-fields -o json | jq -e --argjson s "$1" '[.items[].metadata.managedFields[].time | fromdate] | max < now - $s'
}
has_device_rule() { # POOL DEVICE VALUE
    k get devicetaintrules -o json | jq -e --arg p "$1" --arg d "$2" --arg v "$3" \
        'any(.items[]; .spec.deviceSelector.pool == $p and (.spec.deviceSelector.device // "") == $d and .spec.taint.value == $v)'
}
no_rules() { expect_equal "$(taint_rules)" "[]"; }
state_of() { k get nodeledger "$1" -o jsonpath='{.status.state}'; }
is_state() { expect_equal "$(state_of "$1")" "$2"; }
runs_on() { expect_equal "$(k -n work get pod "$1" -o jsonpath='{.spec.nodeName}')" "$2"; }
scheduled() { [ -n "$(k -n work get pod "$1" -o jsonpath='{.spec.nodeName}')" ]; }
has_gate() { [[ $(k -n work get pod "$1" -o jsonpath='{.spec.schedulingGates[*].name}') == *drawbridge.dev/ledger* ]]; }
has_no_gate() { ! has_gate "$1"; }
# The newest of our Events: event_of KIND NAME REASON
event_of() {
    k get events.events.k8s.io -A -o json | jq -re --arg k "$1" --arg n "$2" --arg r "$3" \
        '[.items[] | select(.regarding.kind == $k and .regarding.name == $n and .reason == $r and .reportingController == "drawbridge.dev")] | sort_by(.eventTime) | last | .note | strings'
}
says() { [[ $(event_of "$1" "$2" "$3") == *"$4"* ]]; }

@test "the CRDs take what drawbridge reads, and nothing else" {
    run -0 k create --validate=strict --dry-run=server -f - <<'YAML'
apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default}
spec:
  rules: [{id: mapping-key-spelling, action: warn, namespaceSelector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: In, values: [d]}]}, drivers: [a.example.com]}, {id: ledger-stale, action: "off"}]
  canary: {namespaces: [work], nodeSelector: {matchLabels: {a: b}}}
  gatedClasses: [numa-cpus]
  numaAttributes: [dra.cpu/numaNodeID]
  windows: {transport: 25s, watch: 2m30s, grace: 500ms, lease: 0s, incomplete: 10s, settle: 1h}
  gateOnDivergence: [wrong-driver]
  hold: {taint: false, gate: true, deny: true}
  freezes: [{driver: a.example.com, reason: r, by: b, at: "2026-01-01T00:00:00Z", expires: "2026-01-02T00:00:00Z"}]
  resumes: [{driver: a.example.com, node: n1, fromVersion: 3, accept: [all], reason: r, by: b, at: "2026-01-01T00:00:00.5Z"}, {cluster: true, reason: r, at: "2026-01-01T00:00:00Z"}]
  promotion: {window: 24h, maxDivergences: 0}
YAML
    refused() { # SPEC TEXT
        run -1 k create --validate=strict --dry-run=server -f - <<<"{apiVersion: drawbridge.dev/v1alpha1, kind: LedgerPolicy, metadata: {name: ${3:-default}}, spec: $1}"
        expect_in "$output" "$2"
    }
    refused '{}' 'its name is "default"' other
    refused '{rules: [{id: unit-negative, action: "off"}]}' "this rule is locked"
    refused '{rules: [{id: a, action: maybe}]}' "Unsupported value"
    refused '{freezes: [{reason: r, expires: "2026-01-02T00:00:00Z"}]}' "exactly one of cluster, driver, node and namespace"
    refused '{freezes: [{node: n1, cluster: true, reason: r, expires: "2026-01-02T00:00:00Z"}]}' "exactly one of"
    refused '{freezes: [{node: n1, expires: "2026-01-02T00:00:00Z"}]}' "reason: Required value"
    refused '{freezes: [{node: n1, reason: r, at: "2026-01-02T00:00:00Z", expires: "2026-01-01T00:00:00Z"}]}' "ends after it began"
    refused '{windows: {watch: soon}}' "should match"
    refused '{resumes: [{cluster: true, fromVersion: 1, reason: r, at: "2026-01-02T00:00:00Z"}]}' "about a driver, a node or both"
    refused '{surprise: 1}' "unknown field"
}

@test "a NodeLedger for each node, in the columns that kubectl prints" {
    eventually 20 is_state node-a Fresh
    run -0 k get nodeledgers
    [[ ${lines[0]} =~ NODE\ +FRESH\ +CAUSE\ +AGE\ +VERSION\ +CPU\ +MEM\ +CLAIMS\ +HELD\ +DIVERGED ]] || fail "${lines[0]}"
    expect_in "$output" "0/16" "0/64Gi"
    expect_equal "$(k get nodeledger node-a -o jsonpath='{.metadata.ownerReferences[0].name}')" node-a
    claim one | k create -f -
    pod one one | k create -f -
    booked() { [ "$(k get nodeledgers -o json | jq '[.items[].status.claims[]? | select(.name == "one" and .namespace == "work" and .driver == "cpu.example.com")] | length')" -eq 1 ]; }
    eventually 30 booked
    expect_equal "$(k get nodeledgers -o json | jq -r '[.items[].status.summary.cpu] | sort | last')" "2/16"
}

@test "a cluster in which nothing happens is not written to" {
    eventually 20 is_state node-a Fresh
    # Writes about one node are 10 seconds apart.
    eventually 60 last_written_before 13
}

@test "freeze: new claims are refused with the reason, resume lets them in; the server may restart between" {
    eventually 10 is_admitted
    run -0 freeze --cluster --reason "moving house" --for 2h
    expect_in "$output" "the cluster is frozen until"
    eventually 5 is_refused "moving house"
    expect_in "$(try_claim)" "[frozen]"
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")"
    eventually 20 gone "$(cat "$BATS_FILE_TMPDIR/pid")"
    serve
    eventually 10 is_refused "moving house"
    run -0 resume --cluster --reason "moved"
    eventually 5 is_admitted
    expect_equal "$(k get ledgerpolicy default -o jsonpath='{.spec.resumes[0].reason} {.spec.resumes[0].by}')" "moved admin"
    eventually 30 leads
}

@test "freeze of a namespace, and what is wrong with a command" {
    freeze --namespace work --reason "quiet, please" --for 1h
    eventually 5 is_refused "quiet, please" work
    run -2 freeze --namespace work --for 1h
    expect_in "$output" "--reason is needed"
    run -1 resume --node nowhere --reason r
    expect_in "$output" "node nowhere is not frozen; nothing was changed"
    sed 's/127\.0\.0\.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >"$BATS_TEST_TMPDIR/away"
    run -4 freeze --kubeconfig "$BATS_TEST_TMPDIR/away" --cluster --reason r --for 1h
    expect_in "$output" "does not answer"
    run -0 resume --namespace work --reason over -o json
    expect_equal "$(jq -c '[.scope, .lifted, .freezes]' <<<"$output")" '["namespace work",1,[]]'
    eventually 5 is_admitted
}

@test "a frozen node is tainted within 5 seconds, the Pod goes to the other one, and the rule goes with the freeze" {
    eventually 20 no_rules
    freeze --node node-a --reason "new disks" --for 1h
    eventually 5 has_rule "[\"$DRIVER\",\"node-a\",\"drawbridge.dev/not-fresh\",\"Frozen\",\"NoSchedule\"]"
    expect_equal "$(taint_rules | jq length)" 1
    expect_equal "$(k get devicetaintrules -l app.kubernetes.io/managed-by=drawbridge -o name | wc -l)" 1
    claim steered | k create -f -
    pod steered steered | k create -f -
    eventually 15 runs_on steered node-b
    resume --node node-a --reason over
    eventually 5 no_rules
    eventually 5 says Node node-a LedgerFrozen "[ledger-stale] node is Frozen: node frozen by admin: new disks"
}

@test "a pool that stays incomplete is stale: tainted, shown, and fresh again when it is back" {
    slice node-a 2 2 | k apply -f -
    eventually 16 has_rule "[\"$DRIVER\",\"node-a\",\"drawbridge.dev/not-fresh\",\"Stale\",\"NoSchedule\"]"
    eventually 15 is_state node-a Stale
    expect_in "$(k get nodeledgers)" "pool node-a has 1 of 2 slices at generation 2"
    slice node-a 3 1 | k apply -f -
    eventually 6 no_rules
    eventually 15 is_state node-a Fresh
}

@test "a device that two slices have is tainted, and it alone" {
    slice node-b 2 2 | k apply -f -
    slice node-b 2 2 | sed 's/name: cpu-node-b/name: cpu-more/; /name: d1/d; s/name: d2/name: d9/' | k apply -f -
    eventually 20 has_device_rule node-b d0 Faulty
    has_device_rule node-b "" Faulty && fail "the whole pool is tainted"
    expect_equal "$(taint_rules | jq length)" 1
    k delete resourceslice cpu-more
    slice node-b 3 1 | k apply -f -
    eventually 20 no_rules
}

@test "a device whose mapping a rule denies is tainted, and it alone; its node stays fresh" {
    slice node-b 3 1 | sed '/name: d0/s/"2"/1Gi/' | k apply -f -
    eventually 20 has_device_rule node-b d0 Faulty
    expect_equal "$(taint_rules | jq length)" 1
    unusable() { k get nodeledger node-b -o json | jq -ce '[.status.state, .status.unusable]'; }
    is_shown() { [ "$(unusable)" = "[\"Fresh\",[{\"device\":\"d0\",\"driver\":\"$DRIVER\",\"pool\":\"node-b\",\"rule\":\"unit-cpu-binary\"}]]" ]; }
    eventually 15 is_shown
    slice node-b 3 1 | k apply -f -
    eventually 20 no_rules
    no_longer_shown() { [ "$(unusable)" = '["Fresh",[]]' ]; }
    eventually 15 no_longer_shown
}

@test "no candidate is fresh: the Pod gets our gate and an Event, and goes on when the driver is back" {
    claim gated | k create -f -
    freeze --driver "$DRIVER" --reason "new firmware" --for 1h
    eventually 5 has_rule Frozen
    pod gated gated | k create -f -
    eventually 5 has_gate gated
    eventually 10 event_of Pod gated HeldByLedger
    expect_in "$(event_of Pod gated HeldByLedger)" "$(k -n work get resourceclaim gated -o jsonpath='{.metadata.uid}')" "$DRIVER" "new firmware"
    eventually 5 event_of ResourceClaim gated HeldByLedger
    expect_equal "$(metric 'drawbridge_held_pods{step="gate"}')" 1
    resume --driver "$DRIVER" --reason over
    eventually 6 has_no_gate gated
    eventually 15 scheduled gated
    eventually 5 no_rules
}
@test "a Pod held by denial alone: Pod, claim and Node tell why" {
    k apply -f - <<'YAML'
apiVersion: drawbridge.dev/v1alpha1
kind: LedgerPolicy
metadata: {name: default}
spec: {hold: {taint: false, gate: false, deny: true}}
YAML
    claim c8 | k apply -f -
    freeze --driver "$DRIVER" --reason "new firmware" --for 1h
    is_frozen() { [ "$(metric 'drawbridge_frozen{scope="driver"}')" -eq 1 ]; }
    eventually 10 is_frozen
    pod p8 c8 | k apply -f -
    eventually 20 says Pod p8 ClaimDenied "new firmware"
    local uid
    uid=$(k -n work get resourceclaim c8 -o jsonpath='{.metadata.uid}')
    eventually 5 says ResourceClaim c8 ClaimDenied "claim c8 ($uid) for Pod p8 was denied: [frozen]"
    node_tells() { says Node node-a ClaimDenied "$uid" || says Node node-b ClaimDenied "$uid"; }
    eventually 5 node_tells
    k delete ledgerpolicy default
    eventually 60 scheduled p8
}

@test "audit of the running cluster: what would have been denied, drivers, classes, nodes, gates" {
    k create namespace shop
    # Nobody is asked about what is made while the webhook is away.
    k get validatingwebhookconfiguration -o yaml >"$BATS_TEST_TMPDIR/webhook"
    k delete validatingwebhookconfiguration --all
    claim cart shop | k create -f -
    k create -f "$BATS_TEST_TMPDIR/webhook"
    run -1 "$DRAWBRIDGE" audit
    expect_in "$output" "Judged as Kubernetes $(minor), the API server says v$(minor)." "DeviceTaintRules: served" \
        "DRANodeAllocatableResources on" "$DRIVER" "6 of 6 devices have mappings, in 2 slices on 2 nodes" \
        "numa-cpus  gated      driver $DRIVER" "node-a  ready, Fresh" "node-b  ready, Fresh" \
        "ResourceClaim shop/cart would be denied" "[canary-scope]" "roles and bindings that Kubernetes itself brings"
    expect_not_in "$output" "system:"
    run -1 "$DRAWBRIDGE" audit -o json
    expect_equal "$(jq -c '[.objects[] | select(.denied) | [.kind, .namespace, .name, .findings[0].rule]]' <<<"$output")" \
        '[["ResourceClaim","shop","cart","canary-scope"]]'
    expect_equal "$(jq -c '[.featureGates.DRANodeAllocatableResources, .taintRulesServed, (.nodes | map(.ready))]' <<<"$output")" '[true,true,[true,true]]'
    k delete namespace shop --wait=false
    k -n shop delete resourceclaim --all
    run -0 "$DRAWBRIDGE" audit
}

# A Pod with a claim of its own from a template.
crowd_pod() {
    pod x crowd | sed 's/name: x,/generateName: crowd-,/; s/resourceClaimName/resourceClaimTemplateName/'
}
would_be_gated() { [[ $(crowd_pod | k create --dry-run=server -o yaml -f -) == *drawbridge.dev/ledger* ]]; }
gated() { k -n work get pods -o json | jq '[.items[] | select(any(.spec.schedulingGates[]?; .name == "drawbridge.dev/ledger"))] | length'; }
all_gated() { [ "$(gated)" -eq "$1" ]; }
describes() { [[ $(k -n work describe pod "$1") == *"$2"* ]]; }

# With CROWD=500 it takes five minutes, most of them the making and the end of Pods.
@test "a crowd of Pods is held, describe says why; a Pod without claims beside them is scheduled at once; then all go on" {
    local crowd=${CROWD:-100}
    freeze --driver "$DRIVER" --reason "new firmware" --for 1h
    eventually 5 has_rule Frozen
    k create -f - <<'YAML'
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: crowd, namespace: work}
spec: {spec: {devices: {requests: [{name: cpu, exactly: {deviceClassName: numa-cpus}}]}}}
YAML
    eventually 5 would_be_gated
    crowd_pod | k create --dry-run=client -o json -f - >"$BATS_TEST_TMPDIR/crowd.json"
    # kubectl would take minutes.
    curl -fsS --noproxy '*' --cacert "$DRAWBRIDGE_KUBE_CA_FILE" -H "@$DRAWBRIDGE_KUBE_DIR/auth-header" -H 'Content-Type: application/json' \
        --parallel --parallel-max 8 --data-binary "@$BATS_TEST_TMPDIR/crowd.json" \
        "$DRAWBRIDGE_KUBE_SERVER/api/v1/namespaces/work/pods?pretty=[1-$crowd]" >/dev/null 2>&1
    all_gated "$crowd"
    local one
    one=$(k -n work get pods -o name | head -n 1)
    k create -f - <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: work}
spec:
  automountServiceAccountToken: false
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}}}]
YAML
    eventually 5 scheduled plain
    eventually 90 describes "${one#pod/}" "new firmware"
    eventually 20 metric_is 'drawbridge_held_pods{step="gate"}' "$crowd"
    resume --driver "$DRIVER" --reason over
    eventually 120 all_gated 0
    # Two nodes with three devices each.
    eventually 60 metric_is 'drawbridge_held_pods{step="gate"}' 0
    eventually 60 six_run
    k -n work delete resourceclaimtemplate crowd
}
metric_is() { expect_equal "$(metric "$1")" "$2"; }
six_run() { [ "$(k -n work get pods -o json | jq '[.items[] | select(.metadata.name | startswith("crowd-")) | select(.spec.nodeName)] | length')" -eq 6 ]; }

@test "one replica leads; when it goes the other one writes" {
    local first_pid second_log
    first_pid=$(cat "$BATS_FILE_TMPDIR/pid")
    eventually 20 leads
    SERVER_PORT=0 start_drawbridge --feed kube --kubeconfig "$KUBECONFIG"
    second_log=$SERVER_LOG
    expect_equal "$(metric drawbridge_leader)" 0
    kill -TERM "$first_pid"
    eventually 20 gone "$first_pid"
    eventually 10 leads
    freeze --node node-b --reason r --for 1h
    eventually 5 has_rule Frozen
    resume --node node-b --reason r
    eventually 5 no_rules
    expect_in "$(cat "$second_log")" "This replica leads"
    stop_drawbridge
    serve
    eventually 20 leads
}

@test "without the right to write everything else goes on; failures are counted" {
    k create clusterrole narrow --verb=get,list,watch --resource=nodes,namespaces,pods,leases.coordination.k8s.io,resourceslices.resource.k8s.io,resourceclaims.resource.k8s.io,resourceclaimtemplates.resource.k8s.io,deviceclasses.resource.k8s.io,devicetaintrules.resource.k8s.io,ledgerpolicies.drawbridge.dev,nodeledgers.drawbridge.dev
    k create clusterrole narrow-lease --verb=create,update,patch --resource=leases.coordination.k8s.io
    k create clusterrolebinding narrow --clusterrole=narrow --user=narrow
    k create clusterrolebinding narrow-lease --clusterrole=narrow-lease --user=narrow
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")"
    eventually 20 gone "$(cat "$BATS_FILE_TMPDIR/pid")"
    sed "s/token: .*/token: $(cat "$DRAWBRIDGE_KUBE_DIR/tokens/narrow")/" "$KUBECONFIG" >"$BATS_TEST_TMPDIR/narrow"
    KUBECONFIG=$BATS_TEST_TMPDIR/narrow serve
    eventually 20 leads
    freeze --node node-b --reason r --for 1h
    eventually 10 fails_twice devicetaintrules
    no_rules
    expect_in "$(server_log)" "Not written, will be tried again"
    fetch "$STATUS/readyz"
    freeze --namespace work --reason "still judged" --for 1h
    eventually 5 is_refused "still judged" work
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")"
    eventually 20 gone "$(cat "$BATS_FILE_TMPDIR/pid")"
    serve
    eventually 20 leads
}
