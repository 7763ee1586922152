# shellcheck shell=bash
# Objects and questions of the suites in this folder; one control plane and one drawbridge for each.

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }

# slice DRIVER NODE DEVICE RESOURCE MULTIPLIER|key:CAPACITY [shared]: one device; its pool has the node's name, as most drivers name it.
slice() {
    local driver=$1 node=$2 device=$3 resource=$4 amount=$5 fields='' form
    if [[ $amount == key:* ]]; then
        fields="capacity: {${amount#key:}: {value: \"8\"}}, "
        form="capacityKey: ${amount#key:}"
        [ "$(minor)" = 1.36 ] || form+=", capacityMultiplier: \"1\""
    elif [ "$(minor)" = 1.36 ]; then
        form="allocationMultiplier: \"$amount\""
    else
        form="deviceMultiplier: \"$amount\""
    fi
    [ "${6:-}" != shared ] || fields+="allowMultipleAllocations: true, "
    if [ "$(minor)" = 1.36 ]; then
        fields+="nodeAllocatableResourceMappings: {$resource: {$form}}"
    else
        fields+="nodeAllocatableResources: {$resource: {mapping: {$form}}}"
    fi
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $driver-$node}
spec:
  driver: $driver
  nodeName: $node
  pool: {name: $node, generation: 1, resourceSliceCount: 1}
  devices: [{name: $device, $fields}]
---
YAML
}

class() { # DRIVER
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $1}
spec: {selectors: [{cel: {expression: 'device.driver == "$1"'}}]}
---
YAML
}

claim() { # NAME CLASS [NAMESPACE]
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, namespace: ${3:-work}}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: $2}}]}}
---
YAML
}

template() { # NAME CLASS [NAMESPACE]
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: $1, namespace: ${3:-work}}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: $2}}]}}}
---
YAML
}

# pod NAME CLAIM [resourceClaimTemplateName]
pod() {
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: work}
spec:
  automountServiceAccountToken: false
  resourceClaims: [{name: r, ${3:-resourceClaimName}: $2}]
  containers: [{name: c, image: i, resources: {requests: {cpu: 100m}, claims: [{name: r}]}}]
---
YAML
}

# A Pod that asks for a device by an extended resource.
extended() { # NAME
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: work}
spec:
  automountServiceAccountToken: false
  containers: [{name: c, image: i, resources: {requests: {example.com/cpus: 1}, limits: {example.com/cpus: 1}}}]
---
YAML
}

# on NODE: makes a Pod go there, the scheduler's way.
on() { sed "s/^spec:/spec:\n  nodeSelector: {kubernetes.io\/hostname: $1}/"; }

# start_cluster [OPTION…]: of e2e/cluster; two nodes, the namespace work in the canary, drawbridge following.
start_cluster() {
    local node
    cluster up --with scheduler,controller-manager,kubectl --ttl 1800 --disable-admission-plugins NodeDeclaredFeatureValidator \
        "$@" >"$BATS_FILE_TMPDIR/up" 2>&1 || { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    for node in node-a node-b; do
        cluster node "$node" cpu=32 memory=64Gi
        k patch node "$node" --subresource=status --type=merge -p '{"status":{"declaredFeatures":["DRANodeAllocatableResources"]}}'
    done
    k create namespace work
    k label namespace work drawbridge.dev/canary=true
    k apply -f "$REPO/chart/crds"
    k wait --for=condition=Established --timeout=30s crd/ledgerpolicies.drawbridge.dev crd/nodeledgers.drawbridge.dev
    eventually 30 k -n work get serviceaccount default
    start_follower
}

# The drawbridge that the other functions find again in each test.
start_follower() {
    mkdir -p "$BATS_FILE_TMPDIR/ledger"
    start_drawbridge --feed kube --kubeconfig "$KUBECONFIG" --ledger-dir "$BATS_FILE_TMPDIR/ledger"
    declare -p SERVER_PID SERVER_PORT SERVER_LOG STATUS TLS_DIR | sed 's/^declare -x/export/' >"$BATS_FILE_TMPDIR/server"
}

recall_server() {
    # shellcheck source=/dev/null
    source "$BATS_FILE_TMPDIR/server"
}

stop_cluster() {
    recall_server
    kill -TERM "$SERVER_PID" 2>/dev/null || true
    cluster down
}

# Releases, finalizers and Pods without claims never wait for drawbridge.
GROW_ONLY='!has(request.subResource) || request.subResource == "" ?
    (request.resource.resource == "pods" ? has(object.spec.resourceClaims) : request.operation == "CREATE" || object.spec != oldObject.spec) :
  (has(object.status) && has(object.status.allocation) && !(has(oldObject.status) && has(oldObject.status.allocation))) ||
  (has(object.status) && has(object.status.reservedFor) && object.status.reservedFor.exists(r, !(has(oldObject.status) && has(oldObject.status.reservedFor) && oldObject.status.reservedFor.exists(o, o.uid == r.uid))))'

register() {
    register_guard "$GROW_ONLY"
    denied_before=$(jq -c 'select(.decision == "denied")' "$SERVER_LOG" | grep -vc probe.example.com || true)
    # A configuration takes effect a moment later.
    eventually 30 is_asked
}
is_asked() { ! slice probe.example.com node-a d0 gpu 1 | k create --dry-run=server -f -; }

unregister() { k delete validatingwebhookconfiguration drawbridge --ignore-not-found >/dev/null; }

clear_all() {
    unregister
    k -n work delete pod,resourceclaim,resourceclaimtemplate --all --force --grace-period=0 >/dev/null 2>&1
    k delete resourceslice,deviceclass --all >/dev/null
    eventually 60 nothing_left
}
nothing_left() { [ -z "$(k -n work get pods,resourceclaims -o name)" ] && follows_slices 0; }

# follows_slices COUNT: drawbridge has seen this many.
follows_slices() { expect_equal "$(metric 'drawbridge_cache_objects{resource="resourceslices"}')" "$1"; }

condition() { k -n work get pod "$1" -o json | jq -r '.status.conditions[]? | select(.type == "PodScheduled") | "\(.reason): \(.message)"'; }
# says_scheduled POD TEXT: the scheduler has tried and failed, and says this.
says_scheduled() {
    local said
    said=$(condition "$1")
    [[ -n $said && $said == *"$2"* ]] || fail "the Pod's condition: $said"
}
is_scheduled() { [ -n "$(k -n work get pod "$1" -o jsonpath='{.spec.nodeName}')" ]; }
# What the Pod's status shows as charged: {"cpu":["2"]}
charges() {
    k -n work get pod "$1" -o json | jq -c '[.status.nodeAllocatableResourceClaimStatuses[]?
        | if has("mapping") then .mapping[]? | {key: .name, value: .quantity} else .resources // {} | to_entries[] end] | group_by(.key) | map({key: .[0].key, value: map(.value)}) | from_entries'
}
is_charged() { expect_equal "$(charges "$1" | jq -r --arg r "$2" '.[$r] // [] | join("+")')" "$3"; }
diverges() { # POD CLASS
    "$DRAWBRIDGE" ledger show --ledger-dir "$BATS_FILE_TMPDIR/ledger" -o json |
        jq -e --arg p "$1" --arg c "$2" 'any(.nodes[].divergence[]?; .class == $c and (.pod | endswith($p)))'
}
is_uncharged() { expect_equal "$(charges "$1")" '{}'; }
is_reserved_for() { k -n work get resourceclaim "$1" -o json | jq -e --arg p "$2" 'any(.status.reservedFor[]?; .name == $p)'; }
# books NODE RESOURCE QUANTITY: what the ledger counts for devices there.
books() {
    expect_equal "$("$DRAWBRIDGE" ledger show --ledger-dir "$BATS_FILE_TMPDIR/ledger" -o json |
        jq -r --arg n "$1" --arg r "$2" '.nodes[] | select(.name == $n) | .totals[$r].dra')" "$3"
}
# Reviews that were denied since the webhook was registered, but those of is_asked.
denials() { jq -rc 'select(.decision == "denied") | [.resource, .object, .rules]' "$SERVER_LOG" | grep -v probe.example.com | tail -n "+$((${denied_before:-0} + 1))"; }
