#!/usr/bin/env bats
# Every way in which an allocation or a reservation of a device with a mapping can be written, on a real control plane of
# Kubernetes $KUBERNETES_VERSION (1.36 or 1.37), and the verdict on it. The table is in README.md.

load ../lib/helpers
load objects

setup_file() {
    load ../lib/helpers
    load objects
    start_cluster --user person --user driver
    k create clusterrole status --verb=get,update,patch --resource=resourceclaims.resource.k8s.io,resourceclaims.resource.k8s.io/status
    k create clusterrolebinding status-person --clusterrole=status --user=person
    k create clusterrolebinding status-driver --clusterrole=status --user=driver
    register
}

teardown_file() {
    load ../lib/helpers
    load objects
    stop_cluster
}

setup() {
    recall_server
    register
    { class cpu.example.com; slice cpu.example.com node-a d0 cpu 2; } | k apply -f -
    eventually 10 follows_slices 1
}

teardown() {
    k delete ledgerpolicy --all >/dev/null 2>&1 || true
    clear_all
}

as() { # USER ARGUMENT…
    KUBECONFIG=$DRAWBRIDGE_KUBE_DIR/kubeconfigs/${1##*:} k "${@:2}"
}
freeze() { "$DRAWBRIDGE" freeze --reason "test of paths" --for 1h "$@" && eventually 10 is_frozen; }
is_frozen() { [[ $(claim frozen-probe cpu.example.com | k create --dry-run=server -f - 2>&1) == *"[frozen]"* ]]; }
has_claims() { [ "$(k -n work get resourceclaims -o name | wc -l)" -eq "$1" ]; }
allocation='{"allocation":{"devices":{"results":[{"request":"r","driver":"cpu.example.com","pool":"node-a","device":"d0"}]},"nodeSelector":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["node-a"]}]}]}}}'

@test "a claim and a template of a person: judged when they are made" {
    run -1 k create -f <(claim c cpu.example.com default)
    expect_in "$output" "[canary-scope]"
    run -1 k create -f <(template c cpu.example.com default)
    expect_in "$output" "[canary-scope]"
    run -0 k create -f <(claim c cpu.example.com)
    run -0 k create -f <(template c cpu.example.com)
    freeze --namespace work
    run -1 k create -f <(claim other cpu.example.com)
    expect_in "$output" "[frozen]" "test of paths"
}

@test "a claim that the controller makes from a template is never refused, also in a freeze; its Pod waits with the reason" {
    template t cpu.example.com | k create -f -
    freeze --namespace work
    pod waits t resourceClaimTemplateName | k create -f -
    eventually 30 has_claims 1
    eventually 60 says_scheduled waits "[frozen]"
    expect_equal "$(k -n work get resourceclaims -o json | jq '[.items[] | select(.status.allocation)] | length')" 0
    "$DRAWBRIDGE" resume --namespace work --reason over
    eventually 90 is_charged waits cpu 2
}

@test "status by another scheduler or a person is judged like the scheduler's; a second holder is refused" {
    claim one cpu.example.com | k create -f -
    run -0 k -n work patch resourceclaim one --subresource=status --type=merge -p "{\"status\":$allocation}"
    claim two cpu.example.com | k create -f -
    run -1 k -n work patch resourceclaim two --subresource=status --type=merge -p "{\"status\":$allocation}"
    expect_in "$output" "[claim-duplicate]"
    run -1 k -n work patch resourceclaim two --subresource=status --type=merge -p "{\"status\":${allocation/d0/d7}}"
    expect_in "$output" "[mapping-missing]"
    # Letting go is never judged.
    run -0 k -n work patch resourceclaim one --subresource=status --type=merge -p '{"status":{"allocation":null}}'
    eventually 10 k -n work patch resourceclaim two --subresource=status --type=merge -p "{\"status\":$allocation}"
}

@test "who may write allocation and device status: the API server asks for binding and driver rights before it asks drawbridge" {
    claim one cpu.example.com | k create -f -
    run -1 as person -n work patch resourceclaim one --subresource=status --type=merge -p "{\"status\":$allocation}"
    expect_in "$output" "resourceclaims/binding"
    k create clusterrole binding --verb=update,patch --resource=resourceclaims.resource.k8s.io/binding --dry-run=client -o yaml | k apply -f -
    k create clusterrolebinding binding-person --clusterrole=binding --user=person --dry-run=client -o yaml | k apply -f -
    eventually 20 as person -n work patch resourceclaim one --subresource=status --type=merge -p "{\"status\":$allocation}"
    # A driver's own status of the device passes, frozen or not.
    freeze --cluster
    local devices='{"status":{"devices":[{"driver":"cpu.example.com","pool":"node-a","device":"d0","conditions":[{"type":"Ready","status":"True","reason":"r","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]}]}}'
    run -1 as driver -n work patch resourceclaim one --subresource=status --type=merge -p "$devices"
    expect_in "$output" "resourceclaims/driver"
    k -n work create role driver --verb=arbitrary-node:update,arbitrary-node:patch --resource=resourceclaims.resource.k8s.io/driver --resource-name=cpu.example.com --dry-run=client -o yaml | k apply -f -
    k -n work create rolebinding driver --role=driver --user=driver --dry-run=client -o yaml | k apply -f -
    eventually 20 as driver -n work patch resourceclaim one --subresource=status --type=merge -p "$devices"
}

@test "a Pod with its node preset is refused; a static Pod cannot name a claim" {
    claim one cpu.example.com | k create -f -
    run -1 k create -f <(pod fixed one | sed 's/^spec:/spec:\n  nodeName: node-a/')
    expect_in "$output" "[pod-bypasses-scheduler]"
    # The API server itself refuses a mirror Pod of a static Pod that names claims.
    local mirror
    mirror=$(pod mirror one | sed 's/^spec:/spec:\n  nodeName: node-a/; s/namespace: work}/namespace: work, annotations: {kubernetes.io\/config.mirror: x}}/')
    run -1 k create -f - <<<"$mirror"
    expect_in "$output" "static pods do not support resource claims"
    # The same Pod without the claim is none of ours.
    run -0 k create -f <(sed '/resourceClaims:/d; s/, claims: \[{name: r}\]//; s/name: mirror/name: plain/' <<<"$mirror" | sed 's/, annotations.*}}/}/')
}

@test "a Pod that is bound by hand has no claim of its own: nothing is reserved, so it does not start" {
    claim one cpu.example.com | k create -f -
    pod byhand one | sed 's/^spec:/spec:\n  schedulerName: nobody/' | k create -f -
    k create --raw /api/v1/namespaces/work/pods/byhand/binding -f - <<<'{"apiVersion":"v1","kind":"Binding","metadata":{"name":"byhand","namespace":"work"},"target":{"apiVersion":"v1","kind":"Node","name":"node-a"}}'
    eventually 20 is_scheduled byhand
    expect_equal "$(k -n work get resourceclaim one -o json | jq -c '.status // {}')" '{}'
}

@test "the scheduler's claims for an extended resource pass; a class that offers one is warned of" {
    run -0 k replace -f <(class cpu.example.com | sed 's/^spec: {/spec: {extendedResourceName: example.com\/cpus, /')
    expect_in "$output" "[class-extended-resource]"
    extended waits | k create -f -
    eventually 60 says_scheduled waits ""
    expect_equal "$(denials)" ""
}

@test "in a freeze an allocation is refused and its release is not" {
    claim one cpu.example.com | k create -f -
    k -n work patch resourceclaim one --subresource=status --type=merge -p "{\"status\":$allocation}"
    k -n work patch resourceclaim one --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'
    freeze --cluster
    run -0 k -n work patch resourceclaim one --subresource=status --type=merge -p '{"status":{"allocation":null}}'
    run -1 k -n work patch resourceclaim one --subresource=status --type=merge -p "{\"status\":$allocation}"
    expect_in "$output" "[frozen]"
    run -0 k -n work patch resourceclaim one --type=merge -p '{"metadata":{"finalizers":null}}'
    run -0 k -n work delete resourceclaim one
}

@test "hostile bytes that were stored while drawbridge was not asked: the claim can be used, changed and let go" {
    unregister
    claim hostile cpu.example.com | k create --dry-run=client -o json -f - |
        jq -c '.spec.devices.config = [{opaque: {driver: "cpu.example.com", parameters: {a: "@"}}}] | .metadata.finalizers = ["example.com/hold"]' |
        python3 -c 'import sys; b = sys.stdin.buffer.read(); sys.stdout.buffer.write(b.replace(b"\"@\"", b"\"\\ud800\\u0000\xff\",\"\\u0000\":92233720368547758080000,\"a\":" + b"[" * 3000 + b"]" * 3000))' >"$BATS_TEST_TMPDIR/hostile.json"
    api POST /apis/resource.k8s.io/v1/namespaces/work/resourceclaims "$BATS_TEST_TMPDIR/hostile.json" >/dev/null
    register
    run -0 k -n work label resourceclaim hostile a=b
    pod uses hostile | k create -f -
    eventually 60 is_charged uses cpu 2
    k -n work delete pod uses --force --grace-period=0
    run -0 k -n work delete resourceclaim hostile --wait=false
    run -0 k -n work patch resourceclaim hostile --type=merge -p '{"metadata":{"finalizers":null}}'
    eventually 60 has_claims 0
}
