#!/usr/bin/env bats
# The chart as helm renders it: every mode, guards, the strictness of values, and what is generated from them.

load ../lib/helpers
load chart

setup_file() {
    load ../lib/helpers
    HELM=$("$REPO/e2e/cluster" build --component helm)
    HELM4=$("$REPO/e2e/cluster" build --component helm4)
    export HELM HELM4
}

helm() { "$HELM" "$@"; }
render() { helm template drawbridge "$CHART" --namespace drawbridge-system --kube-version "${KUBE_VERSION:-1.36}" "$@"; }
enforcing() { render --values "$CHART/ci/enforcing-values.yaml" "$@"; }

@test "every mode renders, for both minors, without an empty or trailing line" {
    local values minor
    for values in "$CHART"/ci/*-values.yaml; do
        for minor in 1.36 1.37; do
            KUBE_VERSION=$minor run -0 render --values "$values"
            expect_not_in "$output" "<no value>" "%!"
            ! grep -nE '[[:space:]]$' <<<"$output" || fail "$values leaves blanks at the end of lines" || return 1
        done
        helm lint "$CHART" --strict --kube-version 1.36 --values "$values"
    done
}

@test "Helm 4 renders what Helm 3 does" {
    local values
    for values in "$CHART"/ci/*-values.yaml; do
        # In an order of their own.
        diff -u <(render --values "$values" | json | sort) <(HELM=$HELM4 render --values "$values" | json | sort) || fail "$values" || return 1
    done
    HELM=$HELM4 run -1 render --set replicas=3
    expect_in "$output" "additional properties 'replicas' not allowed"
}

@test "the same values render the same text, so an upgrade changes nothing" {
    expect_equal "$(enforcing)" "$(enforcing)"
    expect_equal "$(enforcing --is-upgrade)" "$(enforcing)"
}

@test "Kubernetes before 1.36 is refused" {
    KUBE_VERSION=1.35.9 run -1 render
    expect_in "$output" "requires kubeVersion: >=1.36.0-0"
}

@test "guards name what is wrong and what to do" {
    refused() { # TEXT FLAG…
        run -1 render "${@:2}"
        expect_in "$output" "$1"
    }
    refused "drawbridge cannot be installed in kube-system" --namespace kube-system
    refused "drawbridge cannot be installed in kube-node-lease" --set namespaceOverride=kube-node-lease
    refused "replicaCount is 1 and webhook.claims.failurePolicy is Fail" --set replicaCount=1
    refused "terminationGracePeriodSeconds is 15; it must be more than 5 above shutdownDelaySeconds (10)" --set terminationGracePeriodSeconds=15
    refused "certs.caBundle must hold the CA" --set certs.mode=secret
    refused "which works in the cluster only" --set webhook.url=https://x,certs.mode=cert-manager
    refused "certs.mode self fills it in by itself" --set certs.caBundle="-----BEGIN CERTIFICATE-----"
    refused "clientVerification.configMapName" --set clientVerification.enabled=true
    refused "canary.namespaces names kube-system" --set 'canary.namespaces={kube-system}'
    refused "drawbridge's own namespace" --set 'canary.namespaces={drawbridge-system}'
    refused "each replica would be read twice" --set metrics.serviceMonitor.enabled=true,metrics.podMonitor.enabled=true
    refused 'certs.mode is "magic"' --set certs.mode=magic --skip-schema-validation
    refused 'policy.action is "maybe"' --set policy.action=maybe --skip-schema-validation
    run -0 render --set replicaCount=1,allowSingleReplica=true
    run -0 render --set replicaCount=1,webhook.claims.failurePolicy=Ignore
    run -0 render --set replicaCount=1,webhook.url=https://x,certs.mode=self
}

@test "unknown and wrong values are refused by name" {
    refused() { # TEXT FLAG…
        run -1 render "${@:2}"
        expect_in "$output" "don't meet the specifications of the schema" "$1"
    }
    refused "additional properties 'replicas' not allowed" --set replicas=3
    refused "additional properties 'timeout' not allowed" --set webhook.timeout=3
    refused "at '/webhook/timeoutSeconds': maximum" --set webhook.timeoutSeconds=10
    refused "at '/webhook/claims/failurePolicy': value must be one of" --set webhook.claims.failurePolicy=Maybe
    refused "at '/certs/mode': value must be one of" --set certs.mode=magic
    refused "at '/policy/action': value must be one of" --set policy.action=maybe
    refused "at '/replicaCount': got string, want integer" --set-string replicaCount=two
    refused "at '/image/digest'" --set image.digest=latest
    refused "at '/webhook/url'" --set webhook.url=http://plain
    refused "at '/canary/namespaces/0'" --set 'canary.namespaces={Not_A_Name}'
}

# Every object of the schema that has properties takes no others.
@test "the schema is strict everywhere" {
    run -0 jq -r '[.. | objects | select(.properties and .additionalProperties != false)] | length' "$CHART/values.schema.json"
    expect_equal "$output" 0
}

@test "no value is missing from the schema, and the schema has none that is not there" {
    jq -r 'def walk_(p): if .properties then (.properties | to_entries[] | .key as $k | .value | walk_(p + [$k])) else p | join(".") end; walk_([])' \
        "$CHART/values.schema.json" | sort >"$BATS_TEST_TMPDIR/schema"
    # Values with a default of several levels are one value, whose form the schema may tell.
    "$CHART/generate" --paths | sort >"$BATS_TEST_TMPDIR/values"
    local path
    while read -r path; do
        grep -qE "^${path//./\\.}(\.|$)" "$BATS_TEST_TMPDIR/schema" || fail "$path is not in values.schema.json" || return 1
    done <"$BATS_TEST_TMPDIR/values"
    while read -r path; do
        [ "$path" = global ] && continue
        until grep -qx "${path//./\\.}" "$BATS_TEST_TMPDIR/values"; do
            [[ $path == *.* ]] || fail "values.yaml has no $path" || return 1
            path=${path%.*}
        done
    done <"$BATS_TEST_TMPDIR/schema"
}

@test "the reference of values in README.md is fresh" {
    "$CHART/generate" --check
}

@test "the list of rules that deny is drawbridge's own" {
    expect_equal "$(grep -v '^#' "$CHART/files/denying-rules")" \
        "$("$DRAWBRIDGE" explain -o json | jq -r '.rules[] | select(.action == "deny" and (.locked | not)) | .id')"
}

@test "every flag that the Deployment gives is one that serve has" {
    local values flag help
    help=$("$DRAWBRIDGE" serve --help)
    for values in "$CHART"/ci/*-values.yaml; do
        for flag in $(render --values "$values" | json | jq -r 'select(.kind == "Deployment") | .spec.template.spec.containers[0].args[]'); do
            expect_in "$help" "${flag%%=*}"
        done
    done
}

# The webhooks, as lines of JSON.
hooks() { json | jq -c 'select(.kind | endswith("WebhookConfiguration")) | .webhooks[]'; }

@test "webhooks are narrow: no wildcard, 3 seconds at most, NoneOnDryRun, Equivalent, no deletion" {
    local values
    for values in "$CHART"/ci/*-values.yaml; do
        run -0 bash -c "set -o pipefail; $(declare -f helm render json hooks); CHART='$CHART' HELM='$HELM'; render --values '$values' | hooks"
        jq -se 'length >= 6 and all(.[];
            .timeoutSeconds <= 3 and .timeoutSeconds >= 1 and .sideEffects == "NoneOnDryRun" and .matchPolicy == "Equivalent" and
            .admissionReviewVersions == ["v1"] and
            all(.rules[]; (.scope == "Cluster" or .scope == "Namespaced") and (.operations - ["CREATE", "UPDATE"] == []) and
                (.resources - ["resourceslices", "deviceclasses", "resourceclaims", "resourceclaims/status", "resourceclaimtemplates", "pods"] == []) and
                .apiVersions == ["v1"]))' <<<"$output" >/dev/null || fail "$values: $output" || return 1
        # What has a namespace leaves out kube-system and our own, by the label that nobody can change.
        jq -se 'all(.[] | select(.rules[0].scope == "Namespaced"); .namespaceSelector.matchExpressions | any(
            .key == "kubernetes.io/metadata.name" and .operator == "NotIn" and (["kube-system", "drawbridge-system"] - .values == [])))' \
            <<<"$output" >/dev/null || fail "$values: $output" || return 1
    done
}

@test "failure policies: the canary fails closed, everything else open" {
    run -0 bash -c "set -o pipefail; $(declare -f helm render json hooks); CHART='$CHART' HELM='$HELM'; render --set 'canary.namespaces={work}' | hooks"
    expect_equal "$(jq -rs '[.[] | select(.failurePolicy == "Fail") | .name] | sort | join(" ")' <<<"$output")" \
        "allocations-by-name.drawbridge.dev allocations.drawbridge.dev claims-by-name.drawbridge.dev claims.drawbridge.dev"
}

@test "scheduling gates are added only where they may be taken off" {
    run -0 render
    expect_not_in "$output" MutatingWebhookConfiguration "resources: [pods]
    verbs: [patch]"
    run -0 render --set 'canary.namespaces={one,two}'
    expect_equal "$(json <<<"$output" | jq -r 'select(.kind == "MutatingWebhookConfiguration") | .webhooks[].namespaceSelector.matchExpressions[1].values | join(" ")')" "one two"
    expect_equal "$(json <<<"$output" | jq -r 'select(.kind == "RoleBinding" and .metadata.name == "drawbridge-gates") | .metadata.namespace' | tr '\n' ' ')" "one two "
    expect_equal "$(json <<<"$output" | jq -r 'select(.kind == "ClusterRoleBinding") | .metadata.name')" drawbridge
}

@test "the Deployment replaces replicas surge first, and is restricted" {
    local values
    for values in "$CHART"/ci/*-values.yaml; do
        render --values "$values" | json | jq -c 'select(.kind == "Deployment")'
    done >"$BATS_TEST_TMPDIR/all"
    jq -se 'length == 9 and all(.[]; .spec.strategy.rollingUpdate == {maxUnavailable: 0, maxSurge: 1} and
        (.spec.template.spec | .securityContext.runAsUser == 65534 and .securityContext.runAsNonRoot and
            .securityContext.seccompProfile.type == "RuntimeDefault" and .terminationGracePeriodSeconds > 15 and
            .automountServiceAccountToken and (.containers[0] | .securityContext.readOnlyRootFilesystem and
            .securityContext.allowPrivilegeEscalation == false and .securityContext.capabilities.drop == ["ALL"] and
            (.env | map(.name) | .[0:3]) == ["POD_NAME", "POD_NAMESPACE", "NODE_NAME"] and
            .livenessProbe.httpGet == {path: "/livez", port: "metrics"} and .readinessProbe.httpGet == {path: "/readyz", port: "metrics"})))' \
        "$BATS_TEST_TMPDIR/all" >/dev/null
    # Selectors never change between releases, so they hold nothing that does.
    jq -se 'all(.[]; .spec.selector.matchLabels | keys == ["app.kubernetes.io/component", "app.kubernetes.io/instance", "app.kubernetes.io/name"])' "$BATS_TEST_TMPDIR/all"
}

@test "every object has the labels by which it is found" {
    local values
    for values in "$CHART"/ci/*-values.yaml; do
        render --values "$values" | json | jq -se --arg values "$values" 'all(.[]; .metadata.labels |
            .["app.kubernetes.io/name"] == "drawbridge" and .["app.kubernetes.io/instance"] == "drawbridge" and
            .["app.kubernetes.io/part-of"] == "drawbridge" and .["app.kubernetes.io/managed-by"] == "Helm" and
            .["app.kubernetes.io/version"] and .["app.kubernetes.io/component"] and .["helm.sh/chart"])' >/dev/null || fail "$values" || return 1
    done
}

@test "outside of the cluster there is nothing to run, only webhooks, rights and policy" {
    run -0 render --values "$CHART/ci/url-values.yaml"
    expect_equal "$(json <<<"$output" | jq -r .kind | sort -u | tr '\n' ' ')" \
        "ClusterRole ClusterRoleBinding Lease LedgerPolicy MutatingWebhookConfiguration Role RoleBinding ServiceAccount ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration "
    expect_equal "$(json <<<"$output" | jq -r 'select(.webhooks) | .webhooks[].clientConfig | .url, (.caBundle | @base64d | .[0:27])' | sort -u | tr '\n' ' ')" \
        "-----BEGIN CERTIFICATE----- https://localhost:9443/mutate https://localhost:9443/validate https://localhost:9443/validate/scope "
}

@test "certificates: who makes them and who fills in the caBundle" {
    run -0 render
    expect_in "$output" "--dynamic-serving-ca-secret-name=drawbridge-ca" "--dynamic-serving-ca-secret-namespace=drawbridge-system" \
        "--dynamic-serving-dns-names=drawbridge.drawbridge-system.svc," "--validating-webhook-configurations=drawbridge"
    expect_not_in "$output" mutating
    run -0 render --set 'canary.namespaces={work}'
    expect_in "$output" "--mutating-webhook-configurations=drawbridge" "- mutatingwebhookconfigurations"
    expect_not_in "$output" "caBundle:" "tls-cert-file" cert-manager.io
    run -0 render --values "$CHART/ci/cert-manager-values.yaml"
    expect_in "$output" "cert-manager.io/inject-ca-from: drawbridge-system/drawbridge" "secretName: drawbridge-tls" "isCA: true" \
        "--tls-cert-file=/etc/drawbridge/tls/tls.crt"
    expect_not_in "$output" "caBundle:" dynamic-serving "webhookconfigurations"
    run -0 render --values "$CHART/ci/cert-manager-issuer-values.yaml"
    expect_in "$output" "kind: ClusterIssuer" "- drawbridge.internal"
    expect_not_in "$output" "isCA: true" selfSigned
    run -0 render --values "$CHART/ci/secret-values.yaml"
    expect_in "$output" "secretName: drawbridge-serving" "caBundle: LS0t"
    expect_not_in "$output" cert-manager.io dynamic-serving "webhookconfigurations" "resources: [secrets]"
}

@test "each alert fires when it should and clears, and has its section in the runbook" {
    local link
    enforcing | json | jq 'select(.kind == "PrometheusRule") | .spec' >"$BATS_TEST_TMPDIR/full.json"
    run -0 promtool check rules --lint=all --lint-fatal "$BATS_TEST_TMPDIR/full.json"
    jq 'del(.groups[].rules[].annotations)' "$BATS_TEST_TMPDIR/full.json" >"$BATS_TEST_TMPDIR/rules.json"
    cp "$BATS_TEST_DIRNAME/alerts-test.yaml" "$BATS_TEST_TMPDIR"
    promtool test rules "$BATS_TEST_TMPDIR/alerts-test.yaml"
    expect_equal "$(json <"$BATS_TEST_DIRNAME/alerts-test.yaml" | jq -r '.tests[].alert_rule_test[].alertname' | sort -u)" \
        "$(jq -r '.groups[].rules[].alert' "$BATS_TEST_TMPDIR/full.json" | sort)"
    for link in $(jq -r '.groups[].rules[].annotations.runbook_url' "$BATS_TEST_TMPDIR/full.json"); do
        [[ $link == chart/README.md#* ]]
        grep -qix "### ${link#*#}" "$CHART/README.md" || fail "README.md has no section for $link" || return 1
    done
}

@test "the dashboard is one that a sidecar finds, and its queries are PromQL" {
    enforcing | json | jq -r 'select(.metadata.labels.grafana_dashboard == "1") | .data["drawbridge.json"]' >"$BATS_TEST_TMPDIR/dashboard.json"
    jq -e '(.panels | length) > 10 and ([.panels[].id] | unique | length) == (.panels | length)' "$BATS_TEST_TMPDIR/dashboard.json" >/dev/null
    jq '{groups: [{name: "panels", rules: [.panels[].targets[].expr | gsub("\\$__rate_interval"; "5m")] | to_entries | map({record: "panel:\(.key)", expr: .value})}]}' \
        "$BATS_TEST_TMPDIR/dashboard.json" >"$BATS_TEST_TMPDIR/panels.json"
    promtool check rules "$BATS_TEST_TMPDIR/panels.json"
}

@test "the policy follows policy.action and policy.hold" {
    policy() { render "$@" | json | jq -c 'select(.kind == "LedgerPolicy") | .spec'; }
    expect_equal "$(policy | jq -c '[.hold, ([.rules[].action] | unique), (.rules | length)]')" \
        "[{\"deny\":false,\"gate\":false,\"taint\":false},[\"audit\"],$(grep -vc '^#' "$CHART/files/denying-rules")]"
    expect_equal "$(policy --set policy.action=warn,policy.hold.taint=true | jq -c '[.hold, ([.rules[].action] | unique)]')" \
        '[{"deny":false,"gate":false,"taint":true},["warn"]]'
    expect_equal "$(policy --set policy.action=deny,policy.hold.gate=false)" '{"hold":{"deny":true,"gate":false,"taint":true}}'
    expect_equal "$(policy --values "$CHART/ci/enforcing-values.yaml" | jq -c '[.canary, .numaAttributes[1], .rules]')" \
        '[{"namespaces":["work"],"nodeSelector":{"matchLabels":{"drawbridge.dev/node":"canary"}}},"dra.cpu/numaNodeID",[{"action":"deny","id":"capacity-exceeded"}]]'
}
