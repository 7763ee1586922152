#!/usr/bin/env bats
# Certificates that drawbridge issues itself, on a real API server of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37): three
# replicas with the rights that server/operate/README.md lists and no others. Each is a webhook of one configuration.

load ../lib/helpers

NS=guard
SECRET=drawbridge-ca

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }

slice() { # NAME MEMORY
    local mapping="nodeAllocatableResources: {memory: {mapping: {deviceMultiplier: \"$2\"}}}"
    [ "$(minor)" != 1.36 ] || mapping="nodeAllocatableResourceMappings: {memory: {allocationMultiplier: \"$2\"}}"
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1}
spec:
  driver: nic.example.com
  nodeName: node-a
  pool: {name: $1, generation: 1, resourceSliceCount: 1}
  devices: [{name: nic-0, $mapping}]
YAML
}

# ---- the three replicas

free_ports() {
    python3 -c 'import socket
held = [socket.socket() for _ in range(3)]
for one in held: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in held])'
}
port_of() { cut -d' ' -f"$(($1 + 1))" "$BATS_FILE_TMPDIR/ports"; }
pid_of() { cat "$BATS_FILE_TMPDIR/pid.$1"; }
log_of() { cat "$BATS_FILE_TMPDIR/log.$1"; }
status_of() { jq -r 'select(.msg == "Serving") | .status' "$BATS_FILE_TMPDIR/log.$1" | head -n 1; }

# start_replica N [FLAG…]: does not wait.
start_replica() {
    POD_NAMESPACE=$NS POD_NAME=drawbridge-$1 "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port "$(port_of "$1")" \
        --status-bind-address 127.0.0.1:0 --feed kube --kubeconfig "$BATS_FILE_TMPDIR/kubeconfig" --shutdown-delay 0s \
        --dynamic-serving-ca-secret-name "$SECRET" --dynamic-serving-ca-secret-namespace "$NS" \
        --dynamic-serving-dns-names "drawbridge,drawbridge.$NS,drawbridge.$NS.svc,drawbridge.$NS.svc.cluster.local,localhost" \
        --validating-webhook-configurations drawbridge --mutating-webhook-configurations drawbridge \
        --logging-format json -v 2 "${@:2}" >"$BATS_FILE_TMPDIR/log.$1" 2>&1 3>&- &
    echo $! >"$BATS_FILE_TMPDIR/pid.$1"
}
start_all() { local n; for n in 0 1 2; do start_replica "$n" "$@"; done; }
stop_replica() {
    kill -TERM "$(pid_of "$1")" 2>/dev/null || return 0
    eventually 30 gone "$(pid_of "$1")"
}
stop_all() { local n; for n in 0 1 2; do stop_replica "$n"; done; }
is_ready() { fetch "http://$(status_of "$1")/readyz?verbose"; }
all_ready() { is_ready 0 && is_ready 1 && is_ready 2; }
metric_of() { fetch "http://$(status_of "$1")/metrics" | awk -v name="$2" '$1 == name { value = $2 } END { print value + 0 }'; }
sum_of() { echo $(($(metric_of 0 "$1") + $(metric_of 1 "$1") + $(metric_of 2 "$1"))); }

# ---- what there is

secret() { k -n "$NS" get secret "$SECRET" -o json | jq -r --arg key "$1" '.data[$key] // ""' | base64 -d; }
bundle() { k get validatingwebhookconfiguration drawbridge -o json | jq -r --argjson n "${1:-0}" '.webhooks[$n].clientConfig.caBundle // ""' | base64 -d; }
count_in() { grep -c 'BEGIN CERTIFICATE' || true; }
served() { openssl s_client -connect "localhost:$(port_of "$1")" -servername localhost </dev/null 2>/dev/null | openssl x509; }
serial_of() { served "$1" | openssl x509 -noout -serial; }
# Whether what a replica serves is vouched for by the caBundle as it is now, and by the CA that signs now.
vouched() { openssl verify -purpose sslserver -CAfile <(bundle "$1") <(served "$1"); }
signed_by_secret() { openssl verify -partial_chain -CAfile <(secret tls.crt) <(served "$1"); }
all_signed_by_secret() { signed_by_secret 0 && signed_by_secret 1 && signed_by_secret 2; }
bundles_have_signer() { [[ $(bundle 0)$(bundle 1)$(bundle 2) == *"$(secret tls.crt | sed -n 2p)"* ]]; }
passes() { slice probe 1Gi | k create --dry-run=server -f -; }
leads() { [ "$(sum_of drawbridge_leader)" = 1 ]; }

register() {
    local hooks='' n
    for n in 0 1 2; do
        hooks+="
- name: replica-$n.drawbridge.dev
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  timeoutSeconds: 5
  failurePolicy: Fail
  clientConfig: {url: 'https://localhost:$(port_of "$n")/validate'}
  rules: [{apiGroups: [resource.k8s.io], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [resourceslices]}]"
    done
    k apply -f - <<YAML
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: drawbridge}
webhooks:$hooks
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: drawbridge}
webhooks:
- name: mutate.drawbridge.dev
  admissionReviewVersions: [v1]
  sideEffects: None
  timeoutSeconds: 5
  failurePolicy: Fail
  clientConfig: {url: 'https://localhost:$(port_of 0)/mutate'}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}]
YAML
}

rights() {
    k create namespace "$NS"
    k apply -f - <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: replica}
rules:
- {apiGroups: [""], resources: [namespaces, nodes, pods], verbs: [list, watch]}
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [list, watch]}
- {apiGroups: [resource.k8s.io], resources: [deviceclasses, devicetaintrules, resourceclaims, resourceclaimtemplates, resourceslices], verbs: [list, watch, create, patch, delete]}
- {apiGroups: [drawbridge.dev], resources: [ledgerpolicies, nodeledgers], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: replica-hooks}
rules:
- {apiGroups: [admissionregistration.k8s.io], resources: [validatingwebhookconfigurations, mutatingwebhookconfigurations], resourceNames: [drawbridge], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: replica, namespace: $NS}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, patch]}
- {apiGroups: [""], resources: [secrets], verbs: [create]}
- {apiGroups: [""], resources: [secrets], resourceNames: [$SECRET], verbs: [get, patch]}
YAML
    k create clusterrolebinding replica --clusterrole=replica --user=replica
    k create clusterrolebinding replica-hooks --clusterrole=replica-hooks --user=replica
    k -n "$NS" create rolebinding replica --role=replica --user=replica
}

setup_file() {
    load ../lib/helpers
    cluster up --with kubectl --user replica --disable-admission-plugins NodeDeclaredFeatureValidator --ttl "${TTL:-3000}" >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    k apply -f "$REPO/chart/crds"
    k wait --for=condition=Established --timeout=30s crd/ledgerpolicies.drawbridge.dev crd/nodeledgers.drawbridge.dev
    rights
    sed "s/token: .*/token: $(cat "$DRAWBRIDGE_KUBE_DIR/tokens/replica")/" "$KUBECONFIG" >"$BATS_FILE_TMPDIR/kubeconfig"
    free_ports >"$BATS_FILE_TMPDIR/ports"
    register
}

teardown_file() {
    load ../lib/helpers
    local n
    for n in 0 1 2; do
        kill -CONT "$(pid_of "$n")" 2>/dev/null || true
        kill -TERM "$(pid_of "$n")" 2>/dev/null || true
    done
    cluster down
}

@test "three replicas start at once: one CA, all ready, each with a certificate of its own that every caBundle vouches for" {
    local n
    start_all
    eventually 10 all_ready
    expect_equal "$(cat "$BATS_FILE_TMPDIR"/log.? | grep -c '"A CA was made"')" 1
    expect_equal "$(sum_of 'drawbridge_serving_ca_changes_total{change="made"}')" 1
    for n in 0 1 2; do
        vouched "$n"
        signed_by_secret "$n"
        expect_equal "$(bundle "$n" | count_in)" 1
    done
    expect_equal "$( (serial_of 0; serial_of 1; serial_of 2) | sort -u | wc -l)" 3
    run -0 k -n "$NS" get secret "$SECRET" -o jsonpath='{.type}'
    expect_equal "$output" kubernetes.io/tls
}

@test "the certificates are as the API server's verifier wants them" {
    run -0 openssl x509 -noout -text -in <(secret tls.crt)
    expect_in "$output" "CA:TRUE, pathlen:0" "id-ecPublicKey" "Certificate Sign"
    served 1 >"$BATS_TEST_TMPDIR/leaf.crt"
    run -0 openssl x509 -noout -text -in "$BATS_TEST_TMPDIR/leaf.crt"
    expect_in "$output" "CA:FALSE" "TLS Web Server Authentication" "prime256v1" \
        "DNS:drawbridge, DNS:drawbridge.$NS, DNS:drawbridge.$NS.svc, DNS:drawbridge.$NS.svc.cluster.local, DNS:localhost"
    # Seven days from now on, an hour back.
    run -0 openssl x509 -noout -checkend $((7 * 86400 - 300)) -in "$BATS_TEST_TMPDIR/leaf.crt"
    run -1 openssl x509 -noout -checkend $((7 * 86400 + 60)) -in "$BATS_TEST_TMPDIR/leaf.crt"
    run -0 openssl x509 -noout -checkend $((364 * 86400)) -in <(secret tls.crt)
}

@test "the API server's calls reach every replica" {
    eventually 10 passes
    run -1 k create -f <(slice bad 500m)
    expect_in "$output" "unit-bytes-fraction"
    run -0 k run pod-a --image=i --restart=Never --dry-run=server --overrides='{"spec":{"automountServiceAccountToken":false}}'
    local n
    for n in 0 1 2; do
        run -0 is_ready "$n"
        expect_in "$output" "[+]ca-bundle ok"
        expect_equal "$(metric_of "$n" 'drawbridge_ca_bundle_accepted{webhooks="validating"}')" 1
    done
}

@test "no process leaves a key in a core or a file" {
    local n
    for n in 0 1 2; do
        expect_in "$(cat "/proc/$(pid_of "$n")/limits")" "Max core file size        0                    0"
        expect_not_in "$(log_of "$n")" "PRIVATE KEY" "$(secret tls.key | sed -n 2p)"
        # Of files it has its log open, and nothing else.
        run -0 find "/proc/$(pid_of "$n")/fd" -lname '/*' -not -lname '/dev/*' -not -lname '*/log.?' -not -lname '*/bats.*' -printf '%l\n'
        expect_equal "$output" ""
    done
}

@test "a caBundle that is emptied or replaced is put right, and then left alone" {
    local writes at
    leads
    k patch validatingwebhookconfiguration drawbridge --type=json -p '[{"op":"remove","path":"/webhooks/1/clientConfig/caBundle"}]'
    eventually 15 vouched 1
    eventually 15 passes
    "$DRAWBRIDGE" certs issue --dir "$BATS_TEST_TMPDIR/foreign" --host other.example >/dev/null
    k patch validatingwebhookconfiguration drawbridge --type=json -p "[
        {\"op\":\"replace\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$(base64 -w0 <"$BATS_TEST_TMPDIR/foreign/ca.crt")\"},
        {\"op\":\"replace\",\"path\":\"/webhooks/2/clientConfig/caBundle\",\"value\":\"$(printf 'no certificate' | base64 -w0)\"}]"
    eventually 15 vouched 0
    eventually 15 vouched 2
    # The foreign one may have users of its own; ours stands behind it.
    expect_equal "$(bundle 0 | count_in)" 2
    expect_equal "$(bundle 2 | count_in)" 1
    expect_equal "$(bundle 0 | openssl x509 -noout -serial)" "$(openssl x509 -noout -serial -in "$BATS_TEST_TMPDIR/foreign/ca.crt")"
    writes=$(sum_of 'drawbridge_writes_total{resource="validatingwebhookconfigurations",result="succeeded"}')
    expect_in "$(cat "$BATS_FILE_TMPDIR"/log.?)" "The CA was put into caBundles"
    at=$(k get validatingwebhookconfiguration drawbridge -o jsonpath='{.metadata.resourceVersion}')
    # Every replica has looked at least twice more.
    eventually 30 looked_since "$(date +%s)"
    expect_equal "$(k get validatingwebhookconfiguration drawbridge -o jsonpath='{.metadata.resourceVersion}')" "$at"
    expect_equal "$(sum_of 'drawbridge_writes_total{resource="validatingwebhookconfigurations",result="succeeded"}')" "$writes"
}
looked_since() {
    local n
    for n in 0 1 2; do
        [ "$(metric_of "$n" drawbridge_ca_bundle_accepted_timestamp_seconds | cut -d. -f1)" -gt $(($1 + 11)) ] || return 1
    done
}

# set_data JSON: the whole data of the Secret.
set_data() { k -n "$NS" patch secret "$SECRET" --type=json -p "[{\"op\":\"replace\",\"path\":\"/data\",\"value\":$1}]"; }
is_usable() {
    [ "$(openssl x509 -noout -pubkey -in <(secret tls.crt))" = "$(openssl pkey -pubout -in <(secret tls.key))" ] &&
        [ "$(secret tls.crt | head -c 27)" = "-----BEGIN CERTIFICATE-----" ]
}
base64_of() { base64 -w0 <<<"$1"; }

@test "a Secret that is emptied, broken, too large or of another type is replaced; what is served stays good meanwhile" {
    local name data serials other big many
    serials="$(serial_of 0) $(serial_of 1) $(serial_of 2)"
    other=$(openssl ecparam -name prime256v1 -genkey -noout | base64 -w0)
    big=$(python3 -c 'import base64; print(base64.b64encode(b"-----BEGIN CERTIFICATE-----\n" + b"A" * 700000).decode())')
    many=$(python3 -c 'import base64, sys; print(base64.b64encode(sys.stdin.buffer.read() * 800).decode())' < <(secret tls.crt))
    while IFS='|' read -r name data; do
        printf '%s\n' "$data" >"$BATS_TEST_TMPDIR/data"
        printf '[{"op":"replace","path":"/data","value":%s}]' "$data" >"$BATS_TEST_TMPDIR/patch"
        k -n "$NS" patch secret "$SECRET" --type=json --patch-file "$BATS_TEST_TMPDIR/patch"
        run -0 passes
        eventually 15 is_usable || fail "$name" || return 1
        run -0 passes
    done <<DATA
emptied|{"tls.crt":"","tls.key":""}
garbage|{"tls.crt":"$(base64_of garbage)","tls.key":"$(base64_of garbage)"}
another key|{"tls.crt":"$(secret tls.crt | base64 -w0)","tls.key":"$other"}
a large PEM|{"tls.crt":"$big","tls.key":"$other"}
many certificates|{"tls.crt":"$many","tls.key":"$(secret tls.key | base64 -w0)"}
no CA|{"tls.crt":"$(served 0 | base64 -w0)","tls.key":"$other"}
DATA
    expect_in "$(cat "$BATS_FILE_TMPDIR"/log.?)" "The CA in the Secret cannot be used" "the key does not belong to the CA certificate" \
        "at most 95000 are read"
    k -n "$NS" delete secret "$SECRET"
    k -n "$NS" create secret generic "$SECRET" --from-literal=tls.crt=x || true
    eventually 15 is_usable
    run -0 passes
    # The former CAs are kept until they end: what was issued from the first is still served and still vouched for.
    expect_equal "$(serial_of 0) $(serial_of 1) $(serial_of 2)" "$serials"
    vouched 0
}

@test "a Secret that is deleted is made anew by one of them; each changes over once every caBundle has the new CA, no call fails" {
    local old stop=$BATS_TEST_TMPDIR/stop failures=$BATS_TEST_TMPDIR/failures made
    old=$(secret tls.crt)
    made=$(sum_of 'drawbridge_serving_ca_changes_total{change="made"}')
    : >"$failures"
    while [ ! -e "$stop" ]; do passes >"$BATS_TEST_TMPDIR/out" 2>&1 || cat "$BATS_TEST_TMPDIR/out" >>"$failures"; done 3>&- &
    k -n "$NS" delete secret "$SECRET"
    eventually 15 is_usable
    [ "$(secret tls.crt)" != "$old" ]
    eventually 15 bundles_have_signer
    eventually 90 all_signed_by_secret
    touch "$stop"
    wait $!
    expect_equal "$(cat "$failures")" ""
    expect_equal "$(sum_of 'drawbridge_serving_ca_changes_total{change="made"}')" $((made + 1))
}

@test "an empty Secret that was made before is filled once" {
    stop_all
    k -n "$NS" delete secret "$SECRET"
    k -n "$NS" create secret generic "$SECRET"
    start_all
    eventually 30 all_ready
    expect_equal "$(cat "$BATS_FILE_TMPDIR"/log.? | grep -c '"A CA was made"')" 1
    run -0 passes
}

@test "without the right to write caBundles nobody is ready, the failure is told and counted, and no other right is asked for" {
    stop_all
    k delete clusterrolebinding replica-hooks
    k -n "$NS" delete secret "$SECRET"
    start_all
    eventually 20 fails_to_read
    # The certificate and the lists come first.
    eventually 20 lacks_only_the_bundle
    run ! is_ready 0
    fetch "http://$(status_of 0)/livez"
    expect_in "$(cat "$BATS_FILE_TMPDIR"/log.?)" "cannot get resource" "validatingwebhookconfigurations"
    k create clusterrolebinding replica-hooks --clusterrole=replica-hooks --user=replica
    eventually 90 all_ready
    eventually 10 passes
}
lacks_only_the_bundle() {
    expect_in "$(curl -s --noproxy '*' "http://$(status_of 0)/readyz?verbose")" "[-]ca-bundle" "drawbridge: not read yet" "[+]feed ok"
}
fails_to_read() { [ "$(metric_of 0 'drawbridge_writes_total{resource="validatingwebhookconfigurations",result="failed"}')" -ge 1 ]; }

@test "certificates and CAs are replaced under load: no call fails for a client that trusts only the current caBundle" {
    local rotations=100
    # The decisions are the same on every minor; one of them is enough for the long run.
    [ "$(minor)" = 1.37 ] || rotations=30
    stop_all
    k -n "$NS" delete secret "$SECRET"
    start_all --dynamic-serving-leaf-duration 12s --dynamic-serving-ca-duration 60s
    eventually 30 all_ready
    (cd "$REPO/e2e" && go build -o "$BATS_FILE_TMPDIR/load" ./certs/load)
    "$BATS_FILE_TMPDIR/load" -review "$REPO/server/sample/reviews/slice-good.json" -rotations "${ROTATIONS:-$rotations}" -rate "${RATE:-500}" \
        -limit "${LOAD_LIMIT:-15m}" "http://$(status_of 0)" "http://$(status_of 1)" "http://$(status_of 2)" >&3 ||
        { grep -h '"logger":"certs"\|Not written' "$BATS_FILE_TMPDIR"/log.? | tail -n 60 >&2; return 1; }
    expect_in "$(cat "$BATS_FILE_TMPDIR"/log.?)" "The next CA is stored" "The next CA signs from now on"
}

@test "a replica that slept through its own and the CA's end puts itself right" {
    local end old
    end=$(date -d "$(served 2 | openssl x509 -noout -enddate | cut -d= -f2)" +%s)
    old=$(secret tls.crt)
    kill -STOP "$(pid_of 2)"
    eventually 40 is_past "$end"
    # It may have been the leader: then another one is first.
    eventually 120 is_other_ca "$old"
    kill -CONT "$(pid_of 2)"
    eventually 20 vouched 2
    eventually 20 is_ready 2
    eventually 20 passes
}
is_past() { [ "$(date +%s)" -gt "$1" ]; }
is_other_ca() { [ "$(secret tls.crt)" != "$1" ]; }
