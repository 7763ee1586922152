#!/usr/bin/env bats
# The Kubernetes feed against an API server that misbehaves on demand (./apiserver).

load ../lib/helpers

setup() {
    DIR=$(mktemp -d "$BATS_FILE_TMPDIR/feed.XXXXXX")
    TLS_DIR=$BATS_FILE_TMPDIR/tls
    [ -f "$TLS_DIR/tls.crt" ] || "$DRAWBRIDGE" certs issue --dir "$TLS_DIR" --host localhost --host 127.0.0.1 >/dev/null
    echo first >"$DIR/token"
    API_PORT=
    start_api
}

teardown() {
    [ -z "${SERVER_PID:-}" ] || stop_drawbridge
    stop_api
}

start_api() {
    rm -f "$DIR/port"
    python3 "$BATS_TEST_DIRNAME/apiserver" --cert "$TLS_DIR/tls.crt" --key "$TLS_DIR/tls.key" --port "${API_PORT:-0}" \
        --port-file "$DIR/port" 2>"$DIR/api.log" 3>&- &
    API_PID=$!
    eventually 20 test -s "$DIR/port"
    API_PORT=$(<"$DIR/port")
    write_kubeconfig "tokenFile: token"
}

stop_api() {
    [ -n "${API_PID:-}" ] || return 0
    kill "$API_PID" 2>/dev/null || true
    wait "$API_PID" 2>/dev/null || true
    API_PID=
}

write_kubeconfig() {
    cat >"$DIR/kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: "https://localhost:$API_PORT", certificate-authority: "$TLS_DIR/ca.crt"}}]
users: [{name: u, user: {$1}}]
YAML
}

control() {
    fetch --cacert "$TLS_DIR/ca.crt" -H 'Content-Type: application/json' -d "$1" "https://localhost:$API_PORT/control"
}
requests() { fetch --cacert "$TLS_DIR/ca.crt" "https://localhost:$API_PORT/control/log"; }

put_node() { # NAME [CPU]
    control '{"put":{"resource":"nodes","object":{"kind":"Node","apiVersion":"v1","metadata":{"name":"'"$1"'"},"status":{"allocatable":{"cpu":"'"${2:-4}"'","memory":"8Gi"}}}}}'
}
delete_node() { control '{"delete":{"resource":"nodes","name":"'"$1"'"}}'; }

follow() { start_drawbridge --feed kube --kubeconfig "$DIR/kubeconfig"; }

# Starts to follow and does not wait until all is listed.
begin() {
    "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 --tls-cert-file "$TLS_DIR/tls.crt" \
        --tls-private-key-file "$TLS_DIR/tls.key" --shutdown-delay 0s --logging-format json --feed kube \
        --kubeconfig "$DIR/kubeconfig" --address-file "$DIR/addresses" >"$DIR/log" 2>&1 3>&- &
    SERVER_PID=$!
    SERVER_LOG=$DIR/log
    eventually 10 test -s "$DIR/addresses"
    STATUS=http://$(sed -n 's/^status //p' "$DIR/addresses")
}

objects() { metric "drawbridge_cache_objects{resource=\"$1\"}"; }
has_objects() { expect_equal "$(objects "$1")" "$2"; }
restarts() { metric "drawbridge_watch_restarts_total{resource=\"$1\",reason=\"$2\"}"; }
has_restarted() { [ "$(restarts "$1" "$2")" -gt 0 ]; }
synced() { metric "drawbridge_cache_synced{resource=\"$1\"}"; }
# How many requests of a resource there were: asked RESOURCE [KIND]
asked() { requests | jq --arg r "$1" --arg k "${2:-}" '[.[] | select(.resource == $r and ($k == "" or .kind == $k))] | length'; }
has_asked() { [ "$(asked "$1" "$2")" -ge "$3" ]; }
ready() { fetch "$STATUS/readyz"; }

# The node's CPU, as the gate sees it: a slice that takes so much of it passes or not.
fits() { # NODE CPU
    jq --arg node "$1" --arg cpu "$2" '.request.object.spec.nodeName = $node | .request.object.spec.pool.name = $node |
        .request.object.spec.devices[0].nodeAllocatableResourceMappings = {cpu: {allocationMultiplier: $cpu}} |
        .request.object.spec.devices |= .[:1]' "$REPO/server/sample/reviews/slice-exceeds-node.json" >"$DIR/review.json"
    post "$DIR/review.json" | jq -e .response.allowed >/dev/null
}
does_not_fit() { ! fits "$@"; }

@test "lists, follows, and asks as it should" {
    put_node n1
    follow
    has_objects nodes 1
    expect_equal "$(synced pods)" 1
    put_node n2
    eventually 5 has_objects nodes 2
    fits n2 4
    does_not_fit n2 5
    put_node n2 6
    eventually 5 fits n2 5
    delete_node n1
    eventually 5 has_objects nodes 1
    local log
    log=$(requests)
    expect_equal "$(jq '[.[] | select(.resource == "nodes")] | length' <<<"$log")" 1
    jq -e '.[] | select(.resource == "pods") | .query | contains("fieldSelector=status.phase%21%3DSucceeded") and contains("allowWatchBookmarks=true")' <<<"$log"
    jq -e 'all(.[]; .token == "Bearer first")' <<<"$log"
    expect_equal "$(jq -r 'select(.msg == "Not served by this cluster, passed over") | .resource' "$SERVER_LOG" | sort | xargs)" \
        "ledgerpolicies nodeledgers"
    expect_not_in "$(<"$SERVER_LOG")" "first"
}

@test "the API server is away at the start: alive, not ready, ready within 5 s after it is back" {
    stop_api
    begin
    fetch "$STATUS/livez"
    run curl -s "$STATUS/readyz?verbose"
    expect_in "$output" "[-]feed failed: not listed yet: " "[+]certificate ok"
    eventually 5 eval 'curl -s "$STATUS/readyz?verbose" | grep -q "no connection to the API server"'
    start_api
    eventually 5 ready
}

@test "refused in a row, then well: 503, 429 with Retry-After, 401 until the token is read again" {
    put_node n1
    follow
    control '{"faults":{"nodes":[{"code":503},{"code":429,"retryAfter":2},{"code":500}]},"cut":"nodes"}'
    put_node n2
    eventually 20 has_objects nodes 2
    has_restarted nodes server_error
    has_restarted nodes throttled
    # What the server asked for was waited for.
    requests | jq -e '[.[] | select(.resource == "nodes")] | (map(.code) | index(429)) as $i | .[$i + 1].time - .[$i].time >= 2'
    control '{"token":"second","cut":"nodes"}'
    eventually 10 has_restarted nodes unauthorized
    ready
    expect_in "$(curl -s "$STATUS/readyz?verbose")" "[+]feed ok: nodes: the API server answers 401"
    echo second >"$DIR/token"
    put_node n3
    eventually 10 has_objects nodes 3
    eventually 5 eval 'curl -s "$STATUS/readyz?verbose" | grep -qx "\[+\]feed ok"'
    expect_not_in "$(<"$SERVER_LOG")" second
}

@test "410 in the stream and as an answer: all is listed anew, what is gone is dropped" {
    put_node n1
    put_node n2
    follow
    has_objects nodes 2
    control '{"faults":{"nodes":[{"error":410}]},"cut":"nodes"}'
    delete_node n1
    eventually 15 has_objects nodes 1
    has_restarted nodes gone
    local before
    before=$(restarts nodes gone)
    control '{"faults":{"nodes":[{"code":503}]},"cut":"nodes"}'
    delete_node n2
    put_node n4
    put_node n5
    control '{"compact":true}'
    eventually 20 eval '[ "$(restarts nodes gone)" -gt '"$before"' ]'
    eventually 15 has_objects nodes 2
    eventually 5 fits n5 4
}

@test "half a frame, a frame of an unknown type, one that cannot be read, one that is too long" {
    put_node n1
    follow
    control '{"faults":{"nodes":[{"half":"{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"metadata\":{\"name\":\"half"}]},"cut":"nodes"}'
    eventually 10 has_restarted nodes cut
    put_node n2
    eventually 15 has_objects nodes 2
    local fault reason
    for fault in '{"frame":"{\"type\":\"NEWS\",\"object\":{}}"}' '{"frame":"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\",\"uid\":\"x\",\"resourceVersion\":\"none\"}}}"}' '{"frame":"no JSON"}' '{"big":20000000}'; do
        reason=decode
        [[ $fault != *big* ]] || reason=limit
        local before
        before=$(restarts nodes $reason)
        control '{"faults":{"nodes":['"$fault"']},"cut":"nodes"}'
        eventually 15 eval '[ "$(restarts nodes '$reason')" -gt '"$before"' ]'
        put_node "after-$RANDOM"
        local want
        want=$(($(objects nodes) + 1))
        eventually 20 eval '[ "$(objects nodes)" -ge '"$want"' ]' || return 1
    done
}

@test "an older list from another API server never replaces a newer one" {
    put_node gone
    put_node n1
    follow
    local old
    old=$(printf '{"kind":"Node","apiVersion":"v1","metadata":{"name":"gone","uid":"uid-1001","resourceVersion":"1001"},"status":{"allocatable":{"cpu":"4"}}}')
    delete_node gone
    eventually 5 has_objects nodes 1
    control '{"faults":{"nodes":[{"error":410},{"version":900,"objects":['"$old"']}]},"cut":"nodes"}'
    eventually 15 has_restarted nodes older
    # The gate never heard of it again: an unknown node gives no verdict, the old one would.
    fits gone 400
    put_node n2
    eventually 20 fits n2 3
    eventually 10 has_objects nodes 2
    fits gone 400
}

anew() { metric "drawbridge_feed_restarts_total{reason=\"$1\"}"; }
is_anew() { [ "$(anew "$1")" -eq "$2" ]; }
judged_by() { expect_equal "$(metric 'drawbridge_kubernetes_minor{of="judged"}')" "$1"; }

@test "the cluster is upgraded while drawbridge runs: it is judged by the new version once that stays" {
    put_node n1
    follow
    judged_by 36
    control '{"version":"v1.37.2","cut":"nodes"}'
    eventually 60 judged_by 37
    eventually 15 has_objects nodes 1
    eventually 10 eval 'curl -s "$STATUS/readyz?verbose" | grep -qx "\[+\]feed ok"'
    is_anew version 1
    # The field of 1.36 is now the wrong one.
    fits n1 4
    expect_in "$(post "$DIR/review.json")" "Kubernetes 1.37 drops this field" "[mapping-wrong-version]"
    expect_in "$(<"$SERVER_LOG")" "The cluster says another version" '"judgedBy":36' "the cluster is of another version"
    put_node n2
    eventually 5 has_objects nodes 2
    expect_equal "$(metric 'drawbridge_kubernetes_minor{of="server"}')" 37
}

@test "a version that a flag names stays, and the log says that the cluster is of another one" {
    put_node n1
    start_drawbridge --feed kube --kubeconfig "$DIR/kubeconfig" --kubernetes-version 1.37
    eventually 30 eval 'grep -q "of another version than is judged by" "$SERVER_LOG"'
    judged_by 37
    is_anew version 0
    expect_equal "$(metric 'drawbridge_kubernetes_minor{of="server"}')" 36
}

@test "the state of etcd is put back: what is older than what was seen counts when the store itself says so" {
    put_node n1 4
    put_node kept
    follow
    control '{"snapshot":true}'
    put_node n1 8
    put_node n2
    delete_node kept
    eventually 5 has_objects nodes 2
    eventually 5 fits n1 7
    control '{"restore":true}'
    control '{"faults":{"nodes":[{"error":410}]},"cut":"nodes"}'
    eventually 60 is_anew restored 1
    eventually 15 has_objects nodes 2
    eventually 10 does_not_fit n1 7
    eventually 10 fits kept 4
    put_node n3
    eventually 10 fits n3 4
    expect_in "$(<"$SERVER_LOG")" "the cluster's state was put back"
    is_anew restored 1
}

@test "rows of the journal are lost: everything is listed again, and the journal is whole" {
    put_node n1
    start_drawbridge --feed kube --kubeconfig "$DIR/kubeconfig" --ledger-dir "$DIR/ledger"
    has_objects nodes 1
    local lists
    lists=$(asked nodes stream)
    flushed() { [ "$(metric drawbridge_journal_queue_bytes)" -eq 0 ] && [ "$(metric drawbridge_journal_rows_total)" -gt 0 ]; }
    eventually 10 flushed
    # Another program keeps the file to itself until the server gave a row up.
    python3 - "$DIR" <<'PY' 3>&- &
import os, sqlite3, sys, time
db = sqlite3.connect(sys.argv[1] + "/ledger/journal.db", timeout=20, isolation_level=None)
db.execute("BEGIN IMMEDIATE")
open(sys.argv[1] + "/locked", "w").close()
for _ in range(600):
    if os.path.exists(sys.argv[1] + "/release"):
        break
    time.sleep(0.1)
db.execute("ROLLBACK")
PY
    eventually 20 test -e "$DIR/locked"
    put_node n2
    failing() { [ "$(metric drawbridge_journal_errors_total)" -gt 0 ]; }
    eventually 40 failing
    touch "$DIR/release"
    wait $!
    eventually 30 has_asked nodes stream $((lists + 1))
    eventually 30 eval '[ "$(metric drawbridge_journal_gaps_total)" -gt 0 ]'
    agrees() { run "$DRAWBRIDGE" ledger diff live journal --ledger-dir "$DIR/ledger"; expect_equal "$output" "no difference"; }
    # Kinds that are not served are asked for again too: they would be missing in the journal.
    eventually 20 agrees
    has_objects nodes 2
}

@test "a server without streamed lists: pages, and a page that expired starts the list again" {
    control '{"streams":false,"page":2}'
    for i in 1 2 3 4 5; do put_node "n$i"; done
    follow
    has_objects nodes 5
    expect_equal "$(asked nodes stream)" 1
    expect_equal "$(asked nodes list)" 3
    control '{"faults":{"nodes":[{"error":410},{"expire":true}]},"cut":"nodes"}'
    delete_node n3
    eventually 25 has_objects nodes 4
    expect_in "$(requests | jq -r '.[] | select(.resource == "nodes") | .query')" "continue=next%2Bnodes%2F"
}

@test "403 on one resource: readiness names it, the others are followed" {
    control '{"faults":{"leases":[{"code":403},{"code":403}]}}'
    put_node n1
    begin
    eventually 5 has_objects nodes 1
    run curl -s "$STATUS/readyz?verbose"
    expect_in "$output" "[-]feed failed: not listed yet: leases; leases: the API server answers 403"
    eventually 20 ready
    # At most one list in five seconds, as the server sees them: a first one that is late on the way shortens the gap.
    requests | jq -e '[.[] | select(.resource == "leases") | .time] | [.[1:], .[:-1]] | transpose | all(.[0] - .[1] >= 4)'
}

@test "no redirect is followed, no proxy is used" {
    control '{"faults":{"nodes":[{"redirect":"https://localhost:'"$API_PORT"'/elsewhere"}]}}'
    put_node n1
    HTTPS_PROXY=http://127.0.0.1:1 https_proxy=http://127.0.0.1:1 ALL_PROXY=http://127.0.0.1:1 follow
    has_objects nodes 1
    expect_equal "$(asked elsewhere)" 0
    has_restarted nodes decode
}

@test "nothing comes: the silence has an end, and pages are asked for instead" {
    control '{"faults":{"nodes":[{"hang":true}]}}'
    put_node n1
    begin
    eventually 40 ready
    has_objects nodes 1
    has_restarted nodes silent
    expect_equal "$(asked nodes list)" 1
}

@test "what the cluster is not: a program for credentials, an unknown CA, an old version" {
    write_kubeconfig "exec: {command: aws, apiVersion: client.authentication.k8s.io/v1}"
    run -2 "$DRAWBRIDGE" serve --feed kube --kubeconfig "$DIR/kubeconfig" --tls-cert-file "$TLS_DIR/tls.crt" \
        --tls-private-key-file "$TLS_DIR/tls.key" --port 0 --status-bind-address 0
    expect_in "$output" 'user "u": exec: a program that hands out credentials is not run'
    run -2 env -u KUBECONFIG -u KUBERNETES_SERVICE_HOST "$DRAWBRIDGE" serve --feed kube --tls-cert-file "$TLS_DIR/tls.crt" \
        --tls-private-key-file "$TLS_DIR/tls.key" --port 0 --status-bind-address 0
    expect_in "$output" "--feed kube: no cluster to follow: give --kubeconfig"
    control '{"version":"v1.19.2"}'
    write_kubeconfig "tokenFile: token"
    begin
    eventually 5 eval 'curl -s "$STATUS/readyz?verbose" | grep -q "version \"v1.19.2\" cannot be followed"'
}
