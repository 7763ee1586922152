#!/usr/bin/env bats
# Kubernetes' own DRA integration tests (test/integration/dra, all DRA features on) of $KUBERNETES_VERSION with drawbridge
# enforcing in front: every test ends as it does without drawbridge, and nothing is denied but what a rule is meant for.
#
# tests-MINOR: what each test ends with when there is no drawbridge; WRITE_GOLDEN=yes bats e2e/upstream finds it out anew.
# refused-MINOR: `RULE TEST`, the tests that write an object which that rule is there to refuse. They are run once more
# with a policy that only warns, and must then end as without drawbridge too.

load ../lib/helpers

minor() { echo "${KUBERNETES_VERSION:-1.37}"; }

# verdicts FILE: `PASS NAME`, a line for each test
verdicts() { sed -nE 's/^ *--- ([A-Z]+): ([^ ]+) .*/\1 \2/p' "$1" | LC_ALL=C sort -k 2; }
has() { [ -e "$1" ]; }
names() { awk '{ print $2 }' "$BATS_TEST_DIRNAME/refused-$(minor)"; }

# Every namespace is in the canary, and all that drawbridge judges is sent to it.
install() {
    k label namespace default drawbridge.dev/canary=true
    k apply -f - <<'YAML'
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: canary}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [namespaces]}]
  failurePolicy: Fail
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: 'Object{metadata: Object.metadata{labels: {"drawbridge.dev/canary": "true"}}}'}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: canary}
spec: {policyName: canary}
YAML
    register_guard
    register_webhook mutating Fail <<<'- {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}'
}
# What was just installed is in force: a new namespace gets the label, a claim that no API server refuses is refused.
labels_namespaces() { k create namespace "probe-$RANDOM" --dry-run=server -o yaml | grep drawbridge.dev/canary; }
PROBE="unit-negative resourceclaims probe"
is_asked() {
    k create --dry-run=server -f - 2>&1 <<'YAML' | grep -F "[unit-negative]"
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: probe, namespace: default}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, capacity: {requests: {memory: "-1"}}}}]}}
YAML
}

start_program() { # NAME [FLAG…]
    local name=$1
    shift
    DOOR=$BATS_FILE_TMPDIR/door-$name LOG=$BATS_FILE_TMPDIR/$name.log
    mkdir "$DOOR"
    (
        cd "$BATS_FILE_TMPDIR" || exit
        export TEST_WORKSPACE=. PATH=$BATS_FILE_TMPDIR/bin:$PATH DOOR # the program finds its fixtures by these
        TEST_SRCDIR=$(go env GOMODCACHE)
        export TEST_SRCDIR
        [ "$name" != alone ] || unset DOOR
        exec ./bin/suite -test.v -test.timeout 20m "$@" >"$LOG" 2>&1 3>&-
    ) &
    PROGRAM_PID=$!
}

# run_suite NAME POLICY [FLAG…]: the tests with drawbridge in front; leaves NAME.log and NAME.denied (`RULE RESOURCE OBJECT`).
run_suite() {
    local name=$1 policy=$2
    shift 2
    start_program "$name" "$@"
    eventually 120 has "$DOOR/kubeconfig"
    export KUBECONFIG=$DOOR/kubeconfig DRAWBRIDGE_KUBE_BIN=$BATS_FILE_TMPDIR/bin # where k looks
    k apply -f "$REPO/chart/crds"
    k wait --for=condition=Established --timeout=30s crd/ledgerpolicies.drawbridge.dev crd/nodeledgers.drawbridge.dev
    [ -z "$policy" ] || k create -f - <<<"$policy"
    start_drawbridge --feed kube --kubeconfig "$KUBECONFIG"
    install
    eventually 30 labels_namespaces
    eventually 30 is_asked
    : >"$DOOR/open"
    # The API server waits for those who watch it, so drawbridge ends before it.
    eventually 1300 grep -q -e "Stopping the apiserver" -e "^FAIL" "$LOG"
    stop_drawbridge
    wait "$PROGRAM_PID" || true
    jq -r 'select(.decision == "denied") | "\(.rules) \(.resource) \(.object.name)"' "$SERVER_LOG" >"$BATS_FILE_TMPDIR/$name.all"
    # The probe shows that a denial would be seen.
    grep -qx "$PROBE" "$BATS_FILE_TMPDIR/$name.all" || fail "no denial of the probe in the log: $(tail -n 5 "$SERVER_LOG")"
    grep -vx "$PROBE" "$BATS_FILE_TMPDIR/$name.all" >"$BATS_FILE_TMPDIR/$name.denied" || true
}

setup_file() {
    load ../lib/helpers
    mkdir "$BATS_FILE_TMPDIR/bin"
    ln -s "$("$BATS_TEST_DIRNAME/build" "$(minor)")" "$BATS_FILE_TMPDIR/bin/suite"
    ln -s "$("$REPO/e2e/cluster" build --kubernetes-version "$(minor)" --component etcd)" "$BATS_FILE_TMPDIR/bin/etcd"
    ln -s "$("$REPO/e2e/cluster" build --kubernetes-version "$(minor)" --component kubectl)" "$BATS_FILE_TMPDIR/bin/kubectl"
    if [ "${WRITE_GOLDEN:-}" = yes ]; then
        start_program alone
        wait "$PROGRAM_PID" || true
        verdicts "$LOG" >"$BATS_TEST_DIRNAME/tests-$(minor)"
    fi
    run_suite enforcing ""
    run_again
}

# A test and those that it belongs to fail together.
is_refused() { # TEST
    local name
    while read -r name; do
        [[ $name != "$1" && $name != "$1"/* ]] || return 0
    done < <(names)
    return 1
}

# wanted: what each test should end with here
wanted() {
    local verdict name
    while read -r verdict name; do
        if is_refused "$name"; then
            echo "FAIL $name"
        else
            echo "$verdict $name"
        fi
    done <"$BATS_TEST_DIRNAME/tests-$(minor)"
}

# Upstream's deadlines are short for a busy machine, such as 30 s for a thousand evictions: what missed one runs once more,
# alone, with drawbridge enforcing too.
run_again() {
    local missed
    missed=$(comm -13 <(wanted | LC_ALL=C sort) <(verdicts "$BATS_FILE_TMPDIR/enforcing.log" | LC_ALL=C sort) |
        sed -nE 's/^FAIL TestDRA\/all\/([^/]+).*/\1/p' | sort -u)
    : >"$BATS_FILE_TMPDIR/passed-alone"
    [ -n "$missed" ] && [ "$(wc -w <<<"$missed")" -le 3 ] || return 0
    echo "again, alone: $missed" >&2
    # shellcheck disable=SC2086 # a list of words
    run_suite again "" -test.run "^TestDRA\$/^all\$/^($(printf '%s|' $missed)none)\$"
    cat "$BATS_FILE_TMPDIR/again.denied" >>"$BATS_FILE_TMPDIR/enforcing.denied"
    verdicts "$BATS_FILE_TMPDIR/again.log" | grep -x "PASS TestDRA/all/.*" >"$BATS_FILE_TMPDIR/passed-alone" || true
}

# verdicts_here: what each test ended with, the second time counting
verdicts_here() {
    awk 'FILENAME == ARGV[1] { again[$2] = $1; next } { print ($2 in again ? again[$2] : $1), $2 }' "$BATS_FILE_TMPDIR/passed-alone" <(verdicts "$BATS_FILE_TMPDIR/enforcing.log")
}

@test "every test ends as without drawbridge, but those that write what a rule refuses" {
    [ "$(wanted | wc -l)" -ge 60 ]
    diff -u <(wanted) <(verdicts_here)
}

@test "nothing was denied but what a rule is meant for" {
    diff -u <(awk '{ print $1 }' "$BATS_TEST_DIRNAME/refused-$(minor)" | sort) <(awk '{ print $1 }' "$BATS_FILE_TMPDIR/enforcing.denied" | sort)
}

@test "where policy only warns, the refused ones end as without drawbridge" {
    local rules pattern
    rules=$(awk '{ printf "{id: %s, action: warn}, ", $1 }' "$BATS_TEST_DIRNAME/refused-$(minor)")
    pattern=$(names | head -n 1)
    run_suite warning "{apiVersion: drawbridge.dev/v1alpha1, kind: LedgerPolicy, metadata: {name: default}, spec: {rules: [${rules%, }]}}" \
        -test.run "^${pattern//\//\$/^}\$"
    diff -u <(verdicts "$BATS_FILE_TMPDIR/warning.log" | awk '{ print $2 }' | grep -Fxf - <(awk '{ print $2 }' "$BATS_TEST_DIRNAME/tests-$(minor)")) \
        <(verdicts "$BATS_FILE_TMPDIR/warning.log" | awk '$1 == "PASS" { print $2 }')
    grep -qx "PASS $pattern" <(verdicts "$BATS_FILE_TMPDIR/warning.log")
    expect_equal "$(cat "$BATS_FILE_TMPDIR/warning.denied")" ""
}
