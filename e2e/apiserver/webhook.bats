#!/usr/bin/env bats
# drawbridge as the admission webhook of a real API server of Kubernetes $KUBERNETES_VERSION (1.36 or 1.37).

load ../lib/helpers

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }
cluster() { "$REPO/e2e/cluster" "$1" --kubernetes-version "$(minor)" --dir "$BATS_FILE_TMPDIR/cluster" "${@:2}"; }
# The field with which a device of this minor says what it takes of the node, for one resource and amount.
mapping() {
    if [ "$(minor)" = 1.36 ]; then
        echo "nodeAllocatableResourceMappings: {$1: {allocationMultiplier: \"$2\"}}"
    else
        echo "nodeAllocatableResources: {$1: {mapping: {deviceMultiplier: \"$2\"}}}"
    fi
}
mapping_path() {
    if [ "$(minor)" = 1.36 ]; then
        echo "spec.devices[0].nodeAllocatableResourceMappings[$1].allocationMultiplier"
    else
        echo "spec.devices[0].nodeAllocatableResources[$1].mapping.deviceMultiplier"
    fi
}

# slice NAME RESOURCE AMOUNT
slice() {
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1}
spec:
  driver: nic.example.com
  nodeName: node-a
  pool: {name: $1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: nic-0
    $(mapping "$2" "$3")
YAML
}

claim() { # NAME
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, namespace: default}
spec: {devices: {requests: [{name: nic, exactly: {deviceClassName: nic.example.com}}]}}
YAML
}

serve() {
    DRAWBRIDGE_TEST_PORT=${SERVER_PORT:-0} start_drawbridge --kubernetes-version "$(minor)"
    printf '%s\n' "$SERVER_PID" >"$BATS_FILE_TMPDIR/pid"
    printf '%s\n' "$STATUS" >"$BATS_FILE_TMPDIR/status"
}
server_pid() { cat "$BATS_FILE_TMPDIR/pid"; }

register() {
    register_webhook validating Fail <<'RULES'
- apiGroups: [resource.k8s.io]
  apiVersions: [v1]
  operations: [CREATE, UPDATE, DELETE]
  resources: [resourceslices, resourceclaims, resourceclaims/status, resourceclaimtemplates, deviceclasses]
  scope: "*"
RULES
}

setup_file() {
    load ../lib/helpers
    cluster up --with kubectl --disable-admission-plugins NodeDeclaredFeatureValidator --ttl 2400 >"$BATS_FILE_TMPDIR/up" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/up" >&2; return 1; }
    eval "$(cluster env)"
    TLS_DIR=$BATS_FILE_TMPDIR/tls
    export TLS_DIR
    # Stored before anybody judged it.
    slice old-fault memory 500m | k create -f -
    k patch resourceslice old-fault --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    eventually 30 k get namespace default
    serve
    register
    eventually 30 refuses_bad
}
# A new configuration takes effect a moment later.
refuses_bad() { ! slice probe memory 500m | k create --dry-run=server -f -; }

teardown_file() {
    load ../lib/helpers
    kill -TERM "$(server_pid)" 2>/dev/null || true
    cluster down
}

@test "good objects of every kind pass" {
    slice good memory 512Mi | k apply -f -
    claim good | k apply -f -
    k apply -f - <<'YAML'
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: nic.example.com}
spec: {selectors: [{cel: {expression: 'device.driver == "nic.example.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: good, namespace: default}
spec: {spec: {devices: {requests: [{name: nic, exactly: {deviceClassName: nic.example.com}}]}}}
YAML
    k label resourceslice/good resourceclaim/good deviceclass/nic.example.com resourceclaimtemplate/good a=b
}

@test "a denial reaches kubectl: text, value, hint, rule" {
    run -1 k create -f <(slice bad memory 500m)
    expect_in "$output" 'The ResourceSlice "bad" is invalid' \
        "$(mapping_path memory): Invalid value: \"500m\": memory is counted in whole bytes; did you mean 500Mi? [unit-bytes-fraction]"
    run -1 k create -f <(slice bad hugepages-2Mi 256)
    expect_in "$output" "[unit-hugepage-multiple]"
}

@test "a denial has code, reason and causes" {
    slice bad memory 500m | k create --dry-run=client -o json -f - >"$BATS_TEST_TMPDIR/bad.json"
    run -22 api POST /apis/resource.k8s.io/v1/resourceslices "$BATS_TEST_TMPDIR/bad.json"
    jq -e --arg field "$(mapping_path memory)" '.status == "Failure" and .code == 422 and .reason == "Invalid" and
        (.details.causes | length == 1 and .[0].field == $field and .[0].reason == "FieldValueInvalid")' <<<"$output"
}

@test "warnings are shown and the object passes" {
    run -0 k create -f <(slice warned cpu 20000)
    expect_in "$output" "Warning: " "[unit-suspicious]" "created"
}

@test "a dry run gives the same verdict" {
    local real dry
    run -1 k create -f <(slice bad memory 500m)
    real=$output
    run -1 k create --dry-run=server -f <(slice bad memory 500m)
    dry=$output
    expect_equal "$dry" "$real"
    run -0 k create --dry-run=server -f <(slice dry memory 1Gi)
    run -1 k get resourceslice dry
    expect_in "$output" "not found"
}

@test "a bad change of a good object is denied, a repair of a bad one passes" {
    slice changing memory 1Gi | k create -f -
    run -1 k replace -f <(slice changing memory 1500m)
    expect_in "$output" "[unit-bytes-fraction]"
    run -0 k replace -f <(slice changing memory 2Gi)
}

@test "what was stored before can be labelled, let go and deleted" {
    run -0 k label resourceslice old-fault a=b
    run -0 k patch resourceslice old-fault --type=json -p '[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/more"}]'
    run -0 k delete resourceslice old-fault --wait=false
    run -0 k patch resourceslice old-fault --type=merge -p '{"metadata":{"finalizers":null}}'
    eventually 10 bash -c '! "$DRAWBRIDGE_KUBE_BIN/kubectl" get resourceslice old-fault'
    # The scheduler's and the drivers' writes of status are not judged.
    claim used | k create -f -
    run -0 k patch resourceclaim used --subresource=status --type=merge -p \
        '{"status":{"allocation":{"devices":{"results":[{"request":"nic","driver":"nic.example.com","pool":"good","device":"nic-0"}]}}}}'
    run -0 k patch resourceclaim used --subresource=status --type=merge -p '{"status":null}'
    run -0 k delete resourceclaim used
}

# hostile NAME RAW-PARAMETERS: a claim with these bytes as its opaque parameters.
hostile() {
    printf '{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"%s","namespace":"default"},"spec":{"devices":{"requests":[{"name":"nic","exactly":{"deviceClassName":"nic.example.com"%s}}],"config":[{"opaque":{"driver":"nic.example.com","parameters":' \
        "$1" "$2"
    cat
    printf '}}]}}}'
}

@test "hostile bytes in opaque parameters change no verdict, and the object can be changed and deleted" {
    local file=$BATS_TEST_TMPDIR/claim.json n=0 claims=/apis/resource.k8s.io/v1/namespaces/default/resourceclaims program
    # Each line prints one JSON object.
    while IFS= read -r program; do
        n=$((n + 1))
        python3 -c "import sys; sys.stdout.buffer.write($program)" | hostile "hostile-$n" "" >"$file"
        run -0 api POST "$claims" "$file"
        printf '{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]}}' >"$BATS_TEST_TMPDIR/patch"
        run -0 api PATCH "$claims/hostile-$n" "$BATS_TEST_TMPDIR/patch" application/merge-patch+json
        printf '{"metadata":{"finalizers":null}}' >"$BATS_TEST_TMPDIR/patch"
        run -0 api PATCH "$claims/hostile-$n" "$BATS_TEST_TMPDIR/patch" application/merge-patch+json
        run -0 api DELETE "$claims/hostile-$n"
        # With a fault of ours beside them: the denial that it would get without them.
        python3 -c "import sys; sys.stdout.buffer.write($program)" | hostile "hostile-$n" ',"capacity":{"requests":{"cpu":"-1"}}' >"$file"
        run -22 api POST "$claims" "$file"
        jq -e '.code == 422 and (.message | test("\\[unit-negative\\]"))' <<<"$output" || fail "$program: $output" || return 1
    done <<'PYTHON'
b'{"a":"b\\u0000c"}'
b'{"a\\u0000b":1}'
b'{"a":"\\ud800","\\udc00":"x"}'
b'{"a":"\xff\xfe\xc0\x80","\xff":1}'
b'{"a":' + b'['*3000 + b']'*3000 + b'}'
b'{"a":'*1500 + b'1' + b'}'*1500
b'{"a":92233720368547758080000000000,"b":1e308,"c":-0.0}'
b'{"a":1,"a":2,"a":{"b":1,"b":2}}'
b'{"spec":null,"uid":"x","request":{"uid":"y"},"apiVersion":7,"kind":[]}'
PYTHON
    expect_equal "$n" 9
}

@test "the fixtures of the rules: upstream takes or refuses them as they claim, and drawbridge says the rest" {
    run -0 "$BATS_TEST_DIRNAME/fixtures" "$(minor)"
    expect_in "$output" "0 wrong"
    echo "$output"
}

@test "while drawbridge is dead nothing unjudged gets in, the message says why, and all recovers" {
    kill -KILL "$(server_pid)"
    eventually 10 gone "$(server_pid)"
    run -1 k create -f <(claim unjudged)
    expect_in "$output" 'failed calling webhook "validate.drawbridge.dev"' "connection refused"
    run -0 k get resourceclaims,pods,nodes
    serve
    eventually 30 bash -c 'true; "$0" create -f - <<<"$1"' "$DRAWBRIDGE_KUBE_BIN/kubectl" "$(claim unjudged)"
    run -1 k create -f <(slice bad memory 500m)
    expect_in "$output" "[unit-bytes-fraction]"
}

@test "the certificate changes while the API server keeps calling: no call fails" {
    local failures=$BATS_TEST_TMPDIR/failures stop=$BATS_TEST_TMPDIR/stop worker n before calls=$BATS_TEST_TMPDIR/calls
    : >"$failures"
    : >"$calls"
    slice rotation memory 1Gi | k create --dry-run=client -o json -f - >"$BATS_TEST_TMPDIR/slice.json"
    for worker in 1 2 3; do
        while [ ! -e "$stop" ]; do
            api POST '/apis/resource.k8s.io/v1/resourceslices?dryRun=All' "$BATS_TEST_TMPDIR/slice.json" >"$BATS_TEST_TMPDIR/out.$worker" ||
                cat "$BATS_TEST_TMPDIR/out.$worker" >>"$failures"
            echo >>"$calls"
        done 3>&- &
    done
    for n in 1 2 3; do
        before=$(openssl x509 -noout -serial <"$TLS_DIR/tls.crt")
        "$DRAWBRIDGE" certs issue --dir "$TLS_DIR" --host localhost --host 127.0.0.1 >/dev/null
        [ "$(openssl x509 -noout -serial <"$TLS_DIR/tls.crt")" != "$before" ]
        eventually 10 serves_file
        # The API server opens new connections only when it has to: end those that it holds.
        n=$(wc -l <"$calls")
        eventually 20 more_calls "$calls" $((n + 20))
    done
    touch "$stop"
    wait
    [ ! -s "$failures" ] || fail "failed calls: $(head -c 2000 "$failures")"
}
served_serial() { openssl s_client -connect "localhost:$SERVER_PORT" </dev/null 2>/dev/null | openssl x509 -noout -serial; }
serves_file() { [ "$(served_serial)" = "$(openssl x509 -noout -serial <"$TLS_DIR/tls.crt")" ]; }
more_calls() { [ "$(wc -l <"$1")" -ge "$2" ]; }

@test "drawbridge ends and comes back while the API server keeps calling: no verdict is wrong" {
    kill -TERM "$(server_pid)"
    eventually 40 gone "$(server_pid)"
    serve
    eventually 30 k create --dry-run=server -f <(claim again)
    run -1 k create -f <(slice bad memory 500m)
    expect_in "$output" "[unit-bytes-fraction]"
}

@test "the API server counts no call that it could not understand" {
    local served bad
    served=$(api GET /metrics | grep '^apiserver_admission_webhook')
    # 503 stands for a call that was never answered: drawbridge was dead or ended.
    bad=$(grep '^apiserver_admission_webhook_rejection_count.*error_type="calling_webhook_error"' <<<"$served" | grep -v 'rejection_code="503"' || true)
    expect_equal "$bad" ""
    expect_in "$served" 'apiserver_admission_webhook_request_total{code="200",name="validate.drawbridge.dev"'
    STATUS=$(cat "$BATS_FILE_TMPDIR/status")
    run -0 metrics
    expect_not_in "$output" 'drawbridge_admission_errors_total{reason="decode"} 1' 'drawbridge_admission_errors_total{reason="unexpected_resource"} 1'
}
