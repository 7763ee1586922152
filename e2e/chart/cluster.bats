#!/usr/bin/env bats
# The chart on a real control plane of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37): the API server takes every rendering;
# helm installs it for a drawbridge on loopback that has the rights of the chart's ServiceAccount and no others; the
# webhooks ask about what they should; nothing is blocked while no drawbridge runs; nothing is left behind.
# The tests are in one order: each begins where the one before it ended.

load ../lib/helpers
load chart

DRIVER=cpu.example.com
SYSTEM=drawbridge-system

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }
helm() { "$DRAWBRIDGE_KUBE_BIN/${helm_name:-helm}" "$@"; }
as() { k --kubeconfig "$DRAWBRIDGE_KUBE_DIR/kubeconfigs/$1" "${@:2}"; }

mapping() { # AMOUNT [RESOURCE]
    if [ "$(minor)" = 1.36 ]; then
        echo "nodeAllocatableResourceMappings: {${2:-cpu}: {allocationMultiplier: \"$1\"}}"
    else
        echo "nodeAllocatableResources: {${2:-cpu}: {mapping: {deviceMultiplier: \"$1\"}}}"
    fi
}

# slice NODE [GENERATION [COUNT [MAPPING]]]
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
  - {name: d0${4-, $(mapping 2)}}
  - {name: d1${4-, $(mapping 2)}}
  - {name: d2${4-, $(mapping 2)}}
YAML
}

claim() { # NAME NAMESPACE [CLASS [EXACTLY]]
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, namespace: $2}
spec: {devices: {requests: [{name: cpu, exactly: {deviceClassName: ${3:-numa-cpus}${4:-}}}]}}
---
YAML
}
NEGATIVE=', capacity: {requests: {memory: "-1"}}'

pod() { # NAME NAMESPACE [CLAIM]
    local claims='' uses=''
    [ -z "${3:-}" ] || claims="resourceClaims: [{name: cpu, resourceClaimName: $3}]" uses=', claims: [{name: cpu}]'
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: $2}
spec:
  automountServiceAccountToken: false
  $claims
  containers: [{name: c, image: i, resources: {requests: {cpu: 10m}$uses}}]
---
YAML
}

# Installs or upgrades the release as the tests want it, with more flags.
release() { release_self --set certs.mode=secret --set-file "certs.caBundle=$TLS_DIR/ca.crt" "$@"; }
release_self() {
    helm upgrade --install drawbridge "$CHART" --namespace "$SYSTEM" --set "webhook.url=$WEBHOOK" \
        --set 'canary.namespaces={work}' --set policy.action=deny --set admissionPolicy.enabled=true \
        --set tests.image.repository=any "$@"
}

# A kubeconfig with a token of a ServiceAccount and nothing else.
kubeconfig_of() { # NAME FILE
    sed "s/token: .*/token: $(k -n "$SYSTEM" create token "$1" --duration=2h)/" "$KUBECONFIG" >"$2"
}

serve() {
    POD_NAMESPACE=$SYSTEM DRAWBRIDGE_TEST_PORT=$(cat "$BATS_FILE_TMPDIR/port") \
        start_drawbridge --feed kube --kubeconfig "$BATS_FILE_TMPDIR/kubeconfig" \
        --ledger-dir "$BATS_FILE_TMPDIR/ledger"
    printf '%s\n' "$SERVER_PID" >"$BATS_FILE_TMPDIR/pid"
    printf '%s\n' "$STATUS" >"$BATS_FILE_TMPDIR/status"
    printf '%s\n' "$SERVER_LOG" >"$BATS_FILE_TMPDIR/log"
}
stop() {
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")"
    eventually 20 gone "$(cat "$BATS_FILE_TMPDIR/pid")"
}

# What drawbridge's ServiceAccount asks the API server.
audit_policy() {
    cat <<YAML
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: Metadata, users: ["system:serviceaccount:$SYSTEM:drawbridge"]}
- {level: None}
YAML
}

setup_file() {
    load ../lib/helpers
    load chart
    audit_policy >"$BATS_FILE_TMPDIR/audit-policy"
    cluster up --with scheduler,controller-manager,kubectl,helm,helm4 --taint-rules --user tenant --ttl 3000 \
        --arg "apiserver=--audit-policy-file=$BATS_FILE_TMPDIR/audit-policy" \
        --arg "apiserver=--audit-log-path=$BATS_FILE_TMPDIR/audit.log" \
        --disable-admission-plugins NodeDeclaredFeatureValidator >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    TLS_DIR=$BATS_FILE_TMPDIR/tls
    export TLS_DIR
    "$DRAWBRIDGE" certs issue --dir "$TLS_DIR" --host localhost --host 127.0.0.1 >/dev/null
    free_port >"$BATS_FILE_TMPDIR/port"
    local node
    for node in node-a node-b; do
        cluster node "$node" cpu=16 memory=64Gi
        k patch node "$node" --subresource=status --type=merge -p '{"status":{"declaredFeatures":["DRANodeAllocatableResources"]}}'
        slice "$node" | k apply -f -
    done
    k create namespace work
    k create namespace labelled
    k create namespace elsewhere
    k label namespace labelled drawbridge.dev/canary=true
    k create namespace "$SYSTEM"
    k apply -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: numa-cpus}
spec: {selectors: [{cel: {expression: 'device.driver == "$DRIVER"'}}]}
YAML
    eventually 30 k -n work get serviceaccount default
    k get configmaps,secrets,leases -A -o name | sort >"$BATS_FILE_TMPDIR/before"
}

teardown_file() {
    load ../lib/helpers
    kill -TERM "$(cat "$BATS_FILE_TMPDIR/pid")" 2>/dev/null || true
    cluster down
}

setup() {
    WEBHOOK=https://localhost:$(cat "$BATS_FILE_TMPDIR/port")
    STATUS=$(cat "$BATS_FILE_TMPDIR/status" 2>/dev/null || true)
}

leads() { [ "$(metric drawbridge_leader)" -eq 1 ]; }
asked() { metrics | awk -v resource="$1" '/^drawbridge_admission_requests_total/ && index($0, "resource=\"" resource "\"") { n += $2 } END { print n + 0 }'; }

# refused TEXT FILE: the API server refuses what the file holds, and says so.
refused() {
    run -1 k create --dry-run=server -f "$2"
    expect_in "$output" "$1"
}

@test "the API server takes every rendering" {
    k apply -f "$CHART/crds" -f "$BATS_TEST_DIRNAME/crds-of-others.yaml"
    k wait --for=condition=Established --timeout=30s -f "$CHART/crds" -f "$BATS_TEST_DIRNAME/crds-of-others.yaml"
    taken() { # VALUES
        helm template drawbridge "$CHART" --namespace "$SYSTEM" --kube-version "$(minor)" --values "$1" |
            k apply --dry-run=server --validate=strict -f -
    }
    local values
    for values in "$CHART"/ci/*-values.yaml; do
        # kubectl looks up the kinds of a CRD a moment after they are established.
        eventually 20 taken "$values"
        run -0 taken "$values"
        expect_in "$output" "validatingwebhookconfiguration.admissionregistration.k8s.io/"
        expect_not_in "$output" Warning
    done
}

@test "its Pods pass Pod Security restricted" {
    k create namespace restricted
    k label namespace restricted pod-security.kubernetes.io/enforce=restricted
    local values
    for values in default secret enforcing; do
        helm template drawbridge "$CHART" --namespace "$SYSTEM" --kube-version "$(minor)" --values "$CHART/ci/$values-values.yaml" | json |
            jq -c 'if .kind == "Deployment" then {apiVersion: "v1", kind: "Pod", metadata: {name: "drawbridge"}, spec: (.spec.template.spec | del(.priorityClassName))} elif .kind == "Pod" then del(.metadata.annotations) else empty end
                | .metadata.namespace = "restricted"' >"$BATS_TEST_TMPDIR/pods.json"
        run -0 k create --dry-run=server -f "$BATS_TEST_TMPDIR/pods.json"
        expect_in "$output" "pod/drawbridge created"
        expect_not_in "$output" Warning
    done
    # The namespace does refuse what is not restricted.
    jq -c 'del(.spec.securityContext)' "$BATS_TEST_TMPDIR/pods.json" >"$BATS_TEST_TMPDIR/loose.json"
    run -1 k create --dry-run=server -f "$BATS_TEST_TMPDIR/loose.json"
    expect_in "$output" 'violates PodSecurity "restricted'
    k delete namespace restricted --wait=false
}

@test "helm installs it, drawbridge runs with the chart's ServiceAccount, and leads" {
    run -0 release
    expect_in "$output" "judges at $WEBHOOK" "Rules that would deny:  deny"
    kubeconfig_of drawbridge "$BATS_FILE_TMPDIR/kubeconfig"
    serve
    eventually 30 leads
    eventually 30 k get nodeledger node-a
    expect_in "$(k -n "$SYSTEM" get lease drawbridge-leader -o jsonpath='{.spec.holderIdentity}')" _
}

@test "helm test: one claim is let in, one is denied" {
    local test
    helm template drawbridge "$CHART" --namespace "$SYSTEM" --kube-version "$(minor)" --set 'canary.namespaces={work}' --set tests.image.repository=any \
        --show-only templates/tests/tests.yaml | json | jq -c 'select(.kind != "Pod")' | k apply -f -
    kubeconfig_of drawbridge-test "$BATS_TEST_TMPDIR/kubeconfig"
    mkdir "$BATS_TEST_TMPDIR/bin"
    ln -s "$DRAWBRIDGE_KUBE_BIN/kubectl" "$BATS_TEST_TMPDIR/bin/kubectl"
    ran() { # TEST: as its Pod would
        k -n "$SYSTEM" get configmap drawbridge-test -o json | jq -r --arg name "$1.sh" '.data[$name]' >"$BATS_TEST_TMPDIR/$1.sh"
        KUBECONFIG=$BATS_TEST_TMPDIR/kubeconfig PATH=$BATS_TEST_TMPDIR/bin:$PATH sh "$BATS_TEST_TMPDIR/$1.sh" work
    }
    eventually 20 ran denial
    run -0 ran admission
    expect_in "$output" "resourceclaim.resource.k8s.io/drawbridge-test created (server dry run)"
    run -0 ran denial
    expect_in "$output" "denied, as it must be" "[unit-negative]"
    k -n "$SYSTEM" delete serviceaccount,configmap drawbridge-test
    k -n work delete role,rolebinding drawbridge-test
}

@test "claims of the canary are judged in full, all others for canary-scope alone, kube-system and our own not at all" {
    local namespace
    for namespace in work labelled; do
        claim good "$namespace" | k create --dry-run=server -f -
        refused "[unit-negative]" <(claim bad "$namespace" none "$NEGATIVE")
    done
    refused "[canary-scope]" <(claim guarded elsewhere)
    claim unguarded elsewhere none "$NEGATIVE" | k create --dry-run=server -f -
    local before
    before=$(asked resourceclaims)
    for namespace in kube-system "$SYSTEM"; do claim guarded "$namespace" | k create --dry-run=server -f -; done
    expect_equal "$(asked resourceclaims)" "$before"
    refused "[canary-scope]" <(claim guarded elsewhere)
    expect_equal "$(asked resourceclaims)" $((before + 1))
}

@test "slices are judged when they have mappings and their spec changes" {
    local before
    before=$(asked resourceslices)
    slice node-c 1 1 "" | k apply -f -
    k label resourceslice cpu-node-a a=b
    k patch resourceslice cpu-node-a --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    k patch resourceslice cpu-node-a --type=merge -p '{"metadata":{"finalizers":null}}'
    k delete resourceslice cpu-node-c
    expect_equal "$(asked resourceslices)" "$before"
    slice node-a 2 | k apply -f -
    expect_equal "$(asked resourceslices)" $((before + 1))
    # What loses its mappings is judged too.
    slice node-a 3 1 "" | k apply -f -
    expect_equal "$(asked resourceslices)" $((before + 2))
    slice node-a 4 | k apply -f -
    refused "[generation-regressed]" <(slice node-a 3 | sed 's/cpu-node-a/cpu-other/')
}

@test "Pods are asked about when they name claims; those of the canary by name may get a gate" {
    local before
    before=$(asked pods)
    { pod plain work; pod plain elsewhere; pod other elsewhere some; } | k create --dry-run=server -f -
    expect_equal "$(asked pods)" "$before"
    pod named work some | k create --dry-run=server -f -
    expect_equal "$(asked pods)" $((before + 2)) # /mutate and /validate
    pod named labelled some | k create --dry-run=server -f -
    expect_equal "$(asked pods)" $((before + 3)) # /validate
    refused "[pod-bypasses-scheduler]" <(claim fixed work | k apply -f - >&2 && pod fixed work fixed | sed 's/^spec:/spec:\n  nodeName: node-a/')
    k -n work delete resourceclaim fixed
}

@test "the canary label is kept by those who may patch the LedgerPolicy" {
    k apply -f - <<'YAML'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: namespace-editor}
rules: [{apiGroups: [""], resources: [namespaces], verbs: [create, get, patch, update]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: namespace-editor}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: namespace-editor}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
YAML
    forbidden() { # ARGUMENT…
        run -1 as tenant "$@"
        expect_in "$output" "may patch the LedgerPolicy \"default\", and tenant may not" "[canary-label]"
    }
    eventually 20 as tenant label namespace elsewhere --overwrite a=b
    forbidden label namespace elsewhere drawbridge.dev/canary=true
    forbidden label namespace labelled drawbridge.dev/canary-
    forbidden label namespace labelled --overwrite drawbridge.dev/canary=false
    run -1 as tenant create -f - <<<'{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"own","labels":{"drawbridge.dev/canary":"true"}}}'
    expect_in "$output" "[canary-label]"
    as tenant label namespace labelled a=b
    k create clusterrolebinding tenant-operates --clusterrole=drawbridge-operator --user=tenant
    eventually 20 as tenant label namespace elsewhere drawbridge.dev/canary=true
    as tenant label namespace elsewhere drawbridge.dev/canary-
    k delete clusterrolebinding tenant-operates namespace-editor
    k delete clusterrole namespace-editor
}

@test "the API server's own policy holds the static rules: pools of one slice are denied, others warned about" {
    static() { # RULE MAPPING: with the webhook out of the way
        run -1 k create --dry-run=server -f <(slice node-x 1 1 ", $2")
        expect_in "$output" "ValidatingAdmissionPolicy 'drawbridge-mappings-single'" "[$1]"
        run -0 k create --dry-run=server -f <(slice node-x 1 2 ", $2")
        expect_in "$output" "Warning: Validation failed for ValidatingAdmissionPolicy 'drawbridge-mappings-several'" "[$1]"
    }
    release --set webhook.slices.enabled=false
    passes() { slice node-x 1 1 ", $(mapping 1Gi)" | k create --dry-run=server -f - 2>&1 | grep -q unit-cpu-binary; }
    eventually 20 passes
    static unit-cpu-binary "$(mapping 1Gi)"
    static unit-bytes-fraction "$(mapping 500m memory)"
    if [ "$(minor)" = 1.36 ]; then
        static resource-name "$(mapping 1 Memory)"
        static mapping-needs-sharing 'capacity: {c: {value: "1"}}, nodeAllocatableResourceMappings: {cpu: {capacityKey: c}}'
        run -0 k create --dry-run=server -f <(slice node-x 1 1 ', allowMultipleAllocations: true, capacity: {c: {value: "1"}}, nodeAllocatableResourceMappings: {cpu: {capacityKey: c, allocationMultiplier: 1Gi}, memory: {allocationMultiplier: 8Gi}}')
    else
        static mapping-needs-sharing 'capacity: {c: {value: "1"}}, nodeAllocatableResources: {cpu: {mapping: {capacityKey: c, capacityMultiplier: "1"}}}'
        run -0 k create --dry-run=server -f <(slice node-x 1 1 ', allowMultipleAllocations: true, capacity: {c: {value: "1"}}, nodeAllocatableResources: {cpu: {mapping: {capacityKey: c, capacityMultiplier: 1Gi}, overhead: {perPod: 10m}}, memory: {mapping: {deviceMultiplier: 8Gi}}}')
    fi
    expect_not_in "$output" Warning
    # A stored fault does not hold back what leaves the spec alone, and the largest slice is within what CEL may cost.
    large_slice '500m' memory 1 | k create --dry-run=server -f - 2>&1 | grep -q unit-bytes-fraction
    large_slice 512Mi memory 1 | k create --dry-run=server -f -
    release
    sees() { large_slice 500m memory 2 | k create --dry-run=server -f - 2>&1 | grep unit-bytes-fraction | grep -qv ValidatingAdmissionPolicy; }
    eventually 20 sees
}

# large_slice AMOUNT RESOURCE COUNT: 128 devices.
large_slice() {
    local i
    slice large 1 "$3" | sed '/- {name/d'
    for ((i = 0; i < 128; i++)); do
        printf '  - {name: dev-%d, attributes: {a: {int: %d}, b: {string: some-value-%d}}, capacity: {c: {value: "1"}}, %s}\n' "$i" "$i" "$i" "$(mapping "$1" "$2")"
    done
}

has_rule() { [[ $(k get devicetaintrules -o json | jq -c '[.items[].spec.taint.value]') == *"$1"* ]]; }
all_rules_say() { [ "$(k get devicetaintrules -o json | jq -c '[.items[].spec.taint.value] | unique')" = "[\"$1\"]" ]; }
no_rules() { [ "$(k get devicetaintrules -o json | jq '.items | length')" -eq 0 ]; }
has_gate() { [[ $(k -n work get pod "$1" -o jsonpath='{.spec.schedulingGates[*].name}') == *drawbridge.dev/ledger* ]]; }
has_no_gate() { ! has_gate "$1"; }
scheduled() { [ -n "$(k -n work get pod "$1" -o jsonpath='{.spec.nodeName}')" ]; }
freeze() { "$DRAWBRIDGE" freeze "$@"; }
resume() { "$DRAWBRIDGE" resume "$@"; }

@test "steering, gates and Events work with the chart's rights" {
    claim gated work | k create -f -
    # A rule that is there gets another value.
    slice node-a 5 2 | k apply -f -
    eventually 30 has_rule Stale
    freeze --driver "$DRIVER" --reason "new firmware" --for 1h
    eventually 10 all_rules_say Frozen
    pod gated work gated | k create -f -
    eventually 5 has_gate gated
    resume --driver "$DRIVER" --reason over
    freeze --namespace elsewhere --reason "ends soon" --for 1s
    slice node-a 6 | k apply -f -
    eventually 20 no_rules
    eventually 10 has_no_gate gated
    eventually 20 scheduled gated
    eventually 20 event_of_drawbridge
    # The leader takes the freeze that ended out of the policy.
    pruned() { [ "$(k get ledgerpolicy default -o json | jq '.spec.freezes | length')" -eq 0 ]; }
    eventually 120 pruned
}
event_of_drawbridge() { [ "$(k get events.events.k8s.io -A -o json | jq '[.items[] | select(.reportingController == "drawbridge.dev")] | length')" -gt 0 ]; }

# What the roles grant, as "verb group/resource[/subresource] namespace", a namespace "" being all of them.
granted() {
    helm get manifest drawbridge --namespace "$SYSTEM" | json | jq -r '
        select((.kind == "ClusterRole" or .kind == "Role") and (.metadata.name | test("-(operator|view)$") | not))
        | (if .metadata.name == "drawbridge-gates" then "work" else .metadata.namespace // "" end) as $namespace
        | .rules[] | .apiGroups[] as $group | .resources[] as $resource | .verbs[] | "\(.) \($group)/\($resource) \($namespace)"' | sort -u
}
# What was asked, in the same form.
used() { # whether the namespace of a right is all of them is what the roles say
    jq -r 'select(.objectRef) | [.verb, "\(.objectRef.apiGroup // "")/\(.objectRef.resource)\(if .objectRef.subresource then "/" + .objectRef.subresource else "" end)", .objectRef.namespace // ""] | join(" ")' \
        "$BATS_FILE_TMPDIR/audit.log" | sort -u
}

# every_right_is_used: of the release as it is now.
every_right_is_used() {
    local right unused='' used
    used=$(used)
    # Whoever may watch lists by that (sendInitialEvents); where a server cannot, the feed lists first.
    used+=$'\n'$(sed -n 's/^watch /list /p' <<<"$used")
    [ "$(wc -l <<<"$used")" -gt 20 ] || fail "the log holds too little: $used" || return 1
    while IFS= read -r right; do
        # A right in every namespace is used when it is used in any.
        if [[ $right == *" " ]]; then
            grep -qF -- "$right" <<<"$used" || unused+="$right"$'\n'
        else
            grep -qxF -- "$right" <<<"$used" || unused+="$right"$'\n'
        fi
    done < <(granted)
    expect_equal "$unused" ""
    run -0 jq -r 'select(.responseStatus.code == 401 or .responseStatus.code == 403) | "\(.verb) \(.requestURI) \(.responseStatus.message)"' "$BATS_FILE_TMPDIR/audit.log"
    expect_equal "$output" ""
    expect_equal "$(metrics | awk '/^drawbridge_writes_total.*result="failed"/ { n += $2 } END { print n + 0 }')" 0
}

@test "the audit log: no right is unused, and no call was refused" {
    every_right_is_used
}

# As the Deployment of mode self does, but for where it listens.
serve_self() {
    local log=$BATS_FILE_TMPDIR/self.log
    POD_NAMESPACE=$SYSTEM "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port "$(cat "$BATS_FILE_TMPDIR/port")" \
        --status-bind-address 127.0.0.1:0 --feed kube --kubeconfig "$BATS_FILE_TMPDIR/kubeconfig" --shutdown-delay 0s \
        --dynamic-serving-ca-secret-name drawbridge-ca --dynamic-serving-ca-secret-namespace "$SYSTEM" \
        --dynamic-serving-dns-names localhost --ledger-dir "$BATS_FILE_TMPDIR/ledger" \
        --validating-webhook-configurations drawbridge --mutating-webhook-configurations drawbridge \
        --logging-format json -v 2 >"$log" 2>&1 3>&- &
    printf '%s\n' "$!" >"$BATS_FILE_TMPDIR/pid"
    says_where() { jq -re 'select(.msg == "Serving") | .status' "$log" | grep -m 1 . >"$BATS_FILE_TMPDIR/where"; }
    eventually 20 says_where
    STATUS=http://$(cat "$BATS_FILE_TMPDIR/where")
    printf '%s\n' "$STATUS" >"$BATS_FILE_TMPDIR/status"
}
secret_is_filled() { [ -n "$(k -n "$SYSTEM" get secret drawbridge-ca -o jsonpath='{.data.tls\.key}')" ]; }
bundles() { k get validatingwebhookconfigurations,mutatingwebhookconfigurations drawbridge -o json | jq -r '[.items[].webhooks[].clientConfig.caBundle // "none"] | unique | join(" ")'; }
has_one_bundle() { [[ $(bundles) == LS0t* && $(bundles) != *" "* ]]; }

@test "mode self: drawbridge fills the chart's Secret and the caBundles; an upgrade leaves both; the Secret made anew" {
    local before
    stop
    release_self
    serve_self
    eventually 40 secret_is_filled
    eventually 40 has_one_bundle
    denies() { refused "[unit-negative]" <(claim bad work none "$NEGATIVE"); }
    eventually 40 denies
    eventually 40 fetch "$STATUS/readyz"
    before=$(k -n "$SYSTEM" get secret drawbridge-ca -o json | jq -c .data; bundles)
    release_self --set webhook.timeoutSeconds=2
    expect_equal "$(k -n "$SYSTEM" get secret drawbridge-ca -o json | jq -c .data; bundles)" "$before"
    denies
    k -n "$SYSTEM" delete secret drawbridge-ca
    eventually 60 secret_is_filled
    [ "$(k -n "$SYSTEM" get secret drawbridge-ca -o json | jq -c .data)" != "$(head -n 1 <<<"$before")" ]
    eventually 20 denies
    every_right_is_used
}

@test "every series that an alert or a panel asks about is there" {
    local name have
    # One call without a verdict that passes, one that does not: the API server counts both.
    stop
    release_self --set webhook.timeoutSeconds=2
    closed() { refused "failed calling webhook" <(claim new work); }
    eventually 20 closed
    claim passes elsewhere | k create --dry-run=server -f -
    serve_self
    eventually 60 leads
    have=$(metrics; k get --raw /metrics)
    for name in $(cat "$CHART/files/alerts.yaml" "$CHART/files/dashboard.json" | metric_names); do
        grep -qE "^$name[{ ]" <<<"$have" || fail "there is no $name" || return 1
    done
    # So the names are found at all, and the look finds what is missing.
    [ "$(cat "$CHART/files/alerts.yaml" "$CHART/files/dashboard.json" | metric_names | wc -l)" -gt 25 ]
    ! grep -qE "^drawbridge_no_such_series[{ ]" <<<"$have"
    stop
    release
    serve
    eventually 30 leads
}

# A claim of many consumers, as the scheduler and the controller write it.
shared_claim() { # CONSUMERS
    claim shared work none | k apply -f -
    k -n work get resourceclaim shared -o json | jq --argjson n "$1" '.status = {
        allocation: {devices: {results: [{request: "cpu", driver: "none.example.com", pool: "p", device: "d"}]}},
        reservedFor: [range($n) | {resource: "pods", name: "pod-\(.)", uid: "uid-\(.)"}]}' |
        k replace --subresource=status -f -
}

@test "no drawbridge runs and every webhook says Fail: the cluster goes on, releases too, the canary takes nothing new" {
    shared_claim 256
    stop
    release --set webhook.slices.failurePolicy=Fail --set webhook.classes.failurePolicy=Fail --set webhook.scope.failurePolicy=Fail \
        --set webhook.pods.failurePolicy=Fail
    closed() { refused "failed calling webhook" <(claim new work); }
    eventually 20 closed
    # What a cluster lives by.
    pod control-plane kube-system | k apply -f -
    pod with-claims kube-system some | k apply -f -
    pod replica "$SYSTEM" | k apply -f -
    pod with-claims "$SYSTEM" some | k apply -f -
    pod ordinary work | k apply -f -
    pod network elsewhere | k apply -f -
    for name in kube-scheduler node-a; do
        k apply -f - <<<"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: $name, namespace: kube-node-lease}, spec: {holderIdentity: x}}"
        k -n kube-node-lease patch lease "$name" --type=merge -p '{"spec":{"holderIdentity":"y"}}'
    done
    cluster node node-z cpu=4
    k label node node-a a=b
    k patch node node-a --subresource=status --type=merge -p '{"status":{"phase":"Running"}}'
    k create namespace fresh
    k delete namespace fresh --wait=false
    # Slices that take nothing of their node, owners and finalizers of those that do, and deletions.
    slice node-c 1 1 "" | k apply -f -
    k patch resourceslice cpu-node-a --type=merge -p '{"metadata":{"labels":{"c":"d"}}}'
    k delete resourceslice cpu-node-c cpu-node-b
    # Releases: one consumer goes, the drivers' status, deallocation, finalizers, deletion.
    k -n work get resourceclaim shared -o json | jq 'del(.status.reservedFor[0])' | k replace --subresource=status -f -
    k -n work get resourceclaim shared -o json | jq '.status.devices = [{driver: "none.example.com", pool: "p", device: "d"}]' | k replace --subresource=status -f -
    k -n work patch resourceclaim shared --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    k -n work patch resourceclaim shared --type=merge -p '{"metadata":{"finalizers":null}}'
    k -n work get resourceclaim shared -o json | jq '.status = {}' | k replace --subresource=status -f -
    k -n work delete pod gated --force --grace-period=0
    k -n work delete resourceclaim shared
    # What is meant to wait: claims, allocations and reservations of the canary, slices with mappings.
    refused "failed calling webhook \"slices.drawbridge.dev\"" <(slice node-y)
    refused "failed calling webhook \"scope.drawbridge.dev\"" <(claim new elsewhere)
    refused "failed calling webhook \"claims.drawbridge.dev\"" <(claim new labelled)
    refused "failed calling webhook \"pods-by-name.drawbridge.dev\"" <(pod new work some)
}

@test "an allocation and a reservation wait while no drawbridge runs" {
    k delete validatingwebhookconfiguration drawbridge
    open() { claim held work none | k create -f -; }
    eventually 20 open
    release
    closed() { refused "failed calling webhook" <(claim new work); }
    eventually 20 closed
    waits() { # JQ-FILTER WEBHOOK
        run -1 k replace --subresource=status -f <(k -n work get resourceclaim held -o json | jq "$1")
        expect_in "$output" "failed calling webhook \"allocations-by-name.drawbridge.dev\""
    }
    waits '.status.allocation = {devices: {results: [{request: "cpu", driver: "none.example.com", pool: "p", device: "d"}]}}'
    k -n work delete resourceclaim held
}

# Everything that the chart makes and the cluster still has.
left() {
    k get all,configmaps,secrets,serviceaccounts,leases,roles,rolebindings -A -l app.kubernetes.io/name=drawbridge -o name
    k get clusterroles,clusterrolebindings,validatingwebhookconfigurations,mutatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings,ledgerpolicies -o name -l app.kubernetes.io/name=drawbridge
}

@test "upgrades with the same values change nothing, and keep what drawbridge and people wrote" {
    serve
    eventually 30 leads
    freeze --namespace work --reason "kept through upgrades" --for 1h
    local before
    before=$(k get validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,ledgerpolicies -l app.kubernetes.io/name=drawbridge -o json | jq -c '[.items[].metadata | [.uid, .generation]]')
    release
    expect_equal "$(k get validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,ledgerpolicies -l app.kubernetes.io/name=drawbridge -o json | jq -c '[.items[].metadata | [.uid, .generation]]')" "$before"
    expect_equal "$(k get ledgerpolicy default -o jsonpath='{.spec.freezes[0].reason}')" "kept through upgrades"
    [ -n "$(k -n "$SYSTEM" get lease drawbridge-leader -o jsonpath='{.spec.holderIdentity}')" ]
    resume --namespace work --reason over
}

@test "before it goes, what it holds is let go" {
    claim goes work | k create -f -
    freeze --driver "$DRIVER" --reason "the end" --for 1h
    eventually 10 all_rules_say Frozen
    pod goes work goes | k create -f -
    eventually 10 has_gate goes
    release --set policy.hold.taint=false --set policy.hold.gate=false
    eventually 20 no_rules
    eventually 20 has_no_gate goes
    k -n work delete pod goes --force --grace-period=0
    k -n work delete resourceclaim goes
}

@test "install, upgrade, rollback and uninstall, three times: nothing is left, and the cluster takes objects at each step" {
    local round
    works() { claim step elsewhere none | k create --dry-run=server -f -; slice step 1 1 "" | k create --dry-run=server -f -; }
    stop
    for round in 1 2 3; do
        release
        works
        release --set policy.action=audit --set webhook.timeoutSeconds=2
        works
        expect_equal "$(k get ledgerpolicy default -o json | jq '.spec.rules | length > 0')" true
        helm rollback drawbridge --namespace "$SYSTEM"
        works
        helm uninstall drawbridge --namespace "$SYSTEM"
        works
        expect_equal "$(left)" ""
    done
    k -n "$SYSTEM" delete pod --all --force --grace-period=0
    k -n kube-system delete pod --all --force --grace-period=0
    k -n kube-node-lease delete lease node-a kube-scheduler
    expect_equal "$(k get configmaps,secrets,leases -A -o name | sort)" "$(cat "$BATS_FILE_TMPDIR/before")"
}

@test "Helm 4, which applies on the server: what drawbridge and people wrote stays, and nothing is left" {
    local before helm_name=helm4
    written() {
        k -n "$SYSTEM" get secret drawbridge-ca -o json | jq -c .data
        bundles
        k get ledgerpolicy default -o json | jq -c .spec.freezes
        k -n "$SYSTEM" get lease drawbridge-leader -o jsonpath='{.spec.holderIdentity}'
    }
    release_self
    kubeconfig_of drawbridge "$BATS_FILE_TMPDIR/kubeconfig"
    serve_self
    eventually 40 secret_is_filled
    eventually 40 has_one_bundle
    freeze --namespace work --reason "kept through upgrades" --for 1h
    before=$(written)
    expect_in "$before" "kept through upgrades"
    release_self --set webhook.timeoutSeconds=2
    expect_equal "$(k get validatingwebhookconfiguration drawbridge -o json | jq -c '[.webhooks[].timeoutSeconds] | unique')" "[2]"
    expect_equal "$(written)" "$before"
    helm rollback drawbridge --namespace "$SYSTEM"
    expect_equal "$(written)" "$before"
    stop
    helm uninstall drawbridge --namespace "$SYSTEM"
    expect_equal "$(left)" ""
}

# The block of README.md that begins with a text, with our port for the one that it names.
readme_block() { awk -v begin="$1" '/^```/ { inside = !inside; first = inside; next } inside { if (first) shown = index($0, begin) == 1; first = 0; if (shown) print }' "$CHART/README.md" | sed "s/9443/$(cat "$BATS_FILE_TMPDIR/port")/g"; }

@test "five commands of README.md, from install to a claim that is let in and one that is denied" {
    local walk=$BATS_TEST_TMPDIR/walk
    mkdir -p "$walk/bin"
    ln -s "$CHART" "$walk/chart"
    ln -s "$DRAWBRIDGE" "$walk/bin/drawbridge"
    ln -s "$DRAWBRIDGE_KUBE_BIN"/{kubectl,helm} "$walk/bin/"
    readme_block "drawbridge certs issue" >"$walk/block"
    # The last two wait for nobody; here they are tried until the server is there.
    grep -v '^sh ' "$walk/block" | sed 's/ &$/ --port '"$(cat "$BATS_FILE_TMPDIR/port")"' \&/' >"$walk/begin"
    printf 'echo $! >pid\n' >>"$walk/begin"
    grep '^sh ' "$walk/block" >"$walk/claims"
    expect_equal "$(sed ':join; /\\$/ { N; s/\\\n//; b join }' "$walk/block" | wc -l)" 5
    expect_equal "$(wc -l <"$walk/claims")" 2
    walked() { (cd "$walk" && PATH=$walk/bin:$PATH bash -e "$1"); }
    DRAWBRIDGE_STATUS_BIND_ADDRESS=0 walked begin >"$walk/log" 2>&1 3>&-
    cp "$walk/pid" "$BATS_FILE_TMPDIR/pid"
    eventually 30 walked claims
    run -0 walked claims
    expect_in "$output" "drawbridge-test created (server dry run)" "denied, as it must be" "[unit-negative]"
    (cd "$walk" && PATH=$walk/bin:$PATH helm uninstall drawbridge --namespace "$SYSTEM")
    stop
}
