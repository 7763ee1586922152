# shellcheck shell=bash
# Helpers of the bats suites. A suite begins with `load ../lib/helpers`.
bats_require_minimum_version 1.5.0

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DRAWBRIDGE=${DRAWBRIDGE:-$REPO/build/release/drawbridge}
export REPO DRAWBRIDGE

# eventually SECONDS COMMAND…: tries until the command succeeds; says what it last printed when it never does.
eventually() {
    local until=$((SECONDS + $1)) said
    shift
    until said=$("$@" 2>&1); do
        if ((SECONDS >= until)); then
            printf 'not within the time: %s\nit last said: %s\n' "$*" "$said" >&2
            return 1
        fi
        sleep 0.1
    done
}

# fail TEXT…: ends the test with a reason.
fail() {
    printf '%s\n' "$@" >&2
    return 1
}

# expect_equal HAVE WANT
expect_equal() {
    [ "$1" = "$2" ] || fail "have: $1" "want: $2"
}

# expect_in TEXT PART…: each part stands in the text.
expect_in() {
    local text=$1 part
    shift
    for part in "$@"; do
        [[ $text == *"$part"* ]] || fail "\"$part\" is not in:" "$text" || return 1
    done
}

expect_not_in() {
    local text=$1 part
    shift
    for part in "$@"; do
        [[ $text != *"$part"* ]] || fail "\"$part\" is in:" "$text" || return 1
    done
}

# expect_golden FILE: what `run` left in $output is what the file holds. WRITE_GOLDEN=yes writes it.
# shellcheck disable=SC2154 # bats sets output
expect_golden() {
    local file=$BATS_TEST_DIRNAME/golden/$1
    if [ "${WRITE_GOLDEN:-}" = yes ]; then
        printf '%s\n' "$output" >"$file"
    fi
    diff -u "$file" <(printf '%s\n' "$output")
}

# start_drawbridge [FLAG…]: serves on free ports of 127.0.0.1 with the pair in $TLS_DIR (made when it is not there).
# Sets SERVER_PID, WEBHOOK (https://localhost:PORT), STATUS (http://127.0.0.1:PORT) and SERVER_LOG.
start_drawbridge() {
    TLS_DIR=${TLS_DIR:-$BATS_FILE_TMPDIR/tls}
    [ -f "$TLS_DIR/tls.crt" ] || "$DRAWBRIDGE" certs issue --dir "$TLS_DIR" --host localhost --host 127.0.0.1 >/dev/null
    SERVER_LOG=$(mktemp "$BATS_FILE_TMPDIR/server.XXXXXX")
    "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port "${DRAWBRIDGE_TEST_PORT:-0}" --status-bind-address 127.0.0.1:0 \
        --tls-cert-file "$TLS_DIR/tls.crt" --tls-private-key-file "$TLS_DIR/tls.key" --shutdown-delay 0s \
        --logging-format json -v 2 "$@" >"$SERVER_LOG" 2>&1 3>&- &
    SERVER_PID=$!
    if ! eventually 20 server_answers; then
        cat "$SERVER_LOG" >&2
        return 1
    fi
    SERVER_PORT=$(address_of address)
    SERVER_PORT=${SERVER_PORT##*:}
    WEBHOOK=https://localhost:$SERVER_PORT
    STATUS=http://$(address_of status)
    export SERVER_PID SERVER_PORT SERVER_LOG WEBHOOK STATUS TLS_DIR
}

address_of() { jq -r "select(.msg == \"Serving\") | .$1" "$SERVER_LOG" | grep -m 1 .; }
server_answers() {
    kill -0 "$SERVER_PID" && address_of status >/dev/null && fetch "http://$(address_of status)/readyz" >/dev/null
}

# stop_drawbridge: asks for the orderly end and wants exit code 0 within 40 seconds.
stop_drawbridge() {
    local code=0
    [ -n "${SERVER_PID:-}" ] || return 0
    kill -TERM "$SERVER_PID" || fail "the server had ended by itself; its log: $(tail -n 20 "$SERVER_LOG")" || return 1
    eventually 40 gone "$SERVER_PID" || return 1
    wait "$SERVER_PID" || code=$?
    SERVER_PID=
    [ "$code" -eq 0 ] || fail "exit code $code; its log: $(tail -n 20 "$SERVER_LOG")"
}

# A child that has ended and is not yet waited for is a zombie.
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

fetch() { curl -fsS --noproxy '*' --max-time 20 "$@"; }

# post FILE [PATH] [CURL-FLAG…]: sends a review; prints the answer.
post() {
    local file=$1 path=${2:-/validate}
    shift $(($# < 2 ? $# : 2))
    curl -sS --noproxy '*' --max-time 20 --cacert "$TLS_DIR/ca.crt" -H 'Content-Type: application/json' \
        --data-binary "@$file" "$@" "$WEBHOOK$path"
}

metrics() { fetch "$STATUS/metrics"; }

# metric NAME{LABELS}: the value of one series; 0 when there is none yet.
metric() { metrics | awk -v name="$1" '$1 == name { value = $2 } END { print value + 0 }'; }

# k ARGUMENT…: kubectl of the running control plane, after eval "$(e2e/cluster env)".
k() { "$DRAWBRIDGE_KUBE_BIN/kubectl" --request-timeout=30s "$@"; }

# api METHOD PATH [FILE [CONTENT-TYPE]]: a raw call; prints the answer's body and ends with 22 when the code is an error.
api() {
    local with=()
    [ -z "${3:-}" ] || with=(-H "Content-Type: ${4:-application/json}" --data-binary "@$3")
    curl -s --fail-with-body --noproxy '*' --max-time 30 --cacert "$DRAWBRIDGE_KUBE_CA_FILE" -H "@$DRAWBRIDGE_KUBE_DIR/auth-header" \
        -X "$1" "${with[@]}" "$DRAWBRIDGE_KUBE_SERVER$2"
}

# register_webhook validating|mutating FAILURE-POLICY [CONDITION] <RULES: registers the drawbridge on $SERVER_PORT with the
# API server of k(); the YAML list of rules comes on standard input; the condition is in CEL.
register_webhook() {
    local kind=$1 policy=$2 condition=${3:-true} path=validate
    [ "$kind" = validating ] || path=mutate
    { cat <<YAML; sed 's/^/  /'; } | k apply -f -
apiVersion: admissionregistration.k8s.io/v1
kind: ${kind^}WebhookConfiguration
metadata: {name: drawbridge}
webhooks:
- name: $path.drawbridge.dev
  admissionReviewVersions: [v1]
  sideEffects: NoneOnDryRun
  timeoutSeconds: 5
  failurePolicy: $policy
  matchConditions: [{name: asked, expression: $(jq -n --arg c "$condition" '$c')}]
  matchPolicy: Equivalent
  clientConfig: {url: "https://localhost:$SERVER_PORT/$path", caBundle: $(base64 -w 0 <"$TLS_DIR/ca.crt")}
  rules:
YAML
}

# register_guard [CONDITION]: registers for all that drawbridge judges; a call that fails is a denial.
register_guard() {
    register_webhook validating Fail "$@" <<'RULES'
- apiGroups: [resource.k8s.io]
  apiVersions: [v1]
  operations: [CREATE, UPDATE]
  resources: [resourceslices, deviceclasses, resourceclaims, resourceclaims/status, resourceclaimtemplates]
  scope: "*"
- {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods], scope: Namespaced}
RULES
}
