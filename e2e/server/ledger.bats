#!/usr/bin/env bats
# The ledger of a running server, its journal and its export: they agree, whatever ends the server.

load ../lib/helpers

setup() {
    CLUSTER=$BATS_TEST_TMPDIR/cluster
    LEDGER=$BATS_TEST_TMPDIR/ledger
    cp -r "$REPO/server/sample/cluster" "$CLUSTER"
}

teardown() {
    [ -z "${SERVER_PID:-}" ] || stop_drawbridge
}

serve_cluster() {
    start_drawbridge --kubernetes-version 1.36 --feed "dir:$CLUSTER" --ledger-dir "$LEDGER"
}

ledger() {
    local command=$1
    shift
    "$DRAWBRIDGE" ledger "$command" --ledger-dir "$LEDGER" "$@"
}

# A difference between two sources shows as text and code.
expect_agreement() {
    ledger export >"$BATS_TEST_TMPDIR/export.jsonl"
    run -0 ledger diff live journal -o json
    expect_equal "$output" '{"differences":[]}'
    run -0 ledger diff live "$BATS_TEST_TMPDIR/export.jsonl" -o json
    expect_equal "$output" '{"differences":[]}'
    run -0 ledger diff journal "$BATS_TEST_TMPDIR/export.jsonl"
    expect_equal "$output" 'no difference'
}

kill_server() {
    kill -9 "$SERVER_PID"
    wait "$SERVER_PID" 2>/dev/null || true
    unset SERVER_PID
}

@test "show, export, replay and diff tell of one ledger" {
    serve_cluster
    expect_agreement
    run -0 ledger show -o json
    expect_equal "$(jq -c '[.nodes[] | .name, .totals.cpu.dra]' <<<"$output")" '["node-a","5","node-b","0"]'
    local shown=$output
    run -0 "$DRAWBRIDGE" ledger replay -f "$BATS_TEST_TMPDIR/export.jsonl" -o json
    expect_equal "$(jq -cS '[.nodes[] | {name, totals, numa}]' <<<"$output")" "$(jq -cS '[.nodes[] | {name, totals, numa}]' <<<"$shown")"
    run -0 ledger show --node node-b
    expect_in "$output" "node-b: Fresh" "ALLOCATABLE"
    expect_not_in "$output" "node-a"
    run -3 ledger show --node node-c
    expect_in "$output" 'there is no node "node-c"'
    expect_equal "$(stat -c %a "$LEDGER/drawbridge.sock" "$LEDGER/journal.db" | sort -u)" 600
}

@test "a difference is named by node and path, and ends with 1" {
    serve_cluster
    ledger export >"$BATS_TEST_TMPDIR/before.jsonl"
    rm "$CLUSTER/50-pods.yaml"
    eventually 20 shows_no_pods
    run -1 ledger diff "$BATS_TEST_TMPDIR/before.jsonl" live -o json
    expect_equal "$(jq -c '.differences[] | select(.path == "totals.cpu.ordinary") | [.node, .a, .b]' <<<"$output")" '["node-a","2500m","0"]'
    expect_agreement
}

shows_no_pods() {
    [ "$(ledger show -o json | jq -r '.nodes[] | select(.name == "node-a") | .totals.pods.ordinary')" = 0 ]
}

@test "without a server: 4, and the journal still tells" {
    serve_cluster
    ledger export >"$BATS_TEST_TMPDIR/export.jsonl"
    kill_server
    run -4 ledger show
    expect_in "$output" "no server answers" "ledger replay --ledger-dir"
    run -4 ledger export
    run -4 ledger diff live journal
    run -0 ledger diff journal "$BATS_TEST_TMPDIR/export.jsonl"
    run -0 ledger replay -o json
    expect_equal "$(jq -r '.nodes | length' <<<"$output")" 2
    run -2 "$DRAWBRIDGE" ledger show
    expect_in "$output" "--ledger-dir is needed"
    run -2 ledger diff live
    run -3 ledger diff journal "$BATS_TEST_TMPDIR/none.jsonl"
}

@test "killed again and again while the cluster changes, it agrees after each start" {
    local round
    for round in 1 2 3 4 5; do
        serve_cluster
        expect_agreement
        if [ $((round % 2)) = 1 ]; then
            mv "$CLUSTER/50-pods.yaml" "$BATS_TEST_TMPDIR/"
        else
            mv "$BATS_TEST_TMPDIR/50-pods.yaml" "$CLUSTER/"
        fi
        kill_server
    done
    serve_cluster
    expect_agreement
    run ls "$LEDGER"
    expect_not_in "$output" "corrupt-"
}

@test "a damaged journal is set aside, and nothing else changes" {
    serve_cluster
    stop_drawbridge
    # In the text of a row: rows fill their pages from the end.
    printf 'damage' | dd of="$LEDGER/journal.db" bs=1 seek=$(($(stat -c %s "$LEDGER/journal.db") - 100)) conv=notrunc status=none
    serve_cluster
    expect_agreement
    expect_equal "$(metric drawbridge_journal_set_aside_total)" 1
    expect_equal "$(find "$LEDGER" -name 'corrupt-*-journal.db' | wc -l)" 1
    expect_equal "$(jq -r 'select(.logger == "journal") | .msg' "$SERVER_LOG" | grep -c 'set aside')" 1
}

@test "a second server on the folder is refused and told who is there" {
    serve_cluster
    run -3 "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 \
        --tls-cert-file "$TLS_DIR/tls.crt" --tls-private-key-file "$TLS_DIR/tls.key" --feed "dir:$CLUSTER" --ledger-dir "$LEDGER"
    expect_in "$output" "is in use by the process with pid $SERVER_PID"
    expect_agreement
}

@test "a journal that cannot be written changes no answer" {
    serve_cluster
    rm -rf "$LEDGER"
    rm "$CLUSTER/50-pods.yaml"
    # shellcheck disable=SC2153 # start_drawbridge sets it
    fetch -o /dev/null "$STATUS/readyz"
    run -0 post "$REPO/server/sample/reviews/slice-memory-500m.json"
    expect_equal "$(jq -r .response.allowed <<<"$output")" false
}

# ---- audit records

records() { ledger audit -o json | jq -c "[.records[] | $1]"; }
has_record() { [ "$(records "$1" | jq -c "$2")" = true ]; }

@test "each denial has a record that says who, what and why; a dry run has none" {
    serve_cluster
    local review=$REPO/server/sample/reviews/slice-memory-500m.json
    jq '.request.dryRun = true | .request.userInfo.username = "dry"' "$review" >"$BATS_TEST_TMPDIR/dry.json"
    jq '.request.dryRun = false | .request.userInfo.username = "jane\u001b[2J"' "$review" >"$BATS_TEST_TMPDIR/denied.json"
    expect_in "$(post "$BATS_TEST_TMPDIR/dry.json")" '"allowed":false'
    expect_in "$(post "$BATS_TEST_TMPDIR/denied.json")" '"allowed":false' '"auditAnnotations":{"decision":"deny","rule":"unit-bytes-fraction"}'
    eventually 10 has_record 'select(.decision == "denied") | [.operation, .resource, .code, .rules[0]]' \
        '. == [["CREATE","resourceslices",422,"unit-bytes-fraction"]]'
    run -0 ledger audit
    expect_in "$output" "denied CREATE resourceslices" "by jane?[2J" "did you mean 500Mi? [unit-bytes-fraction]"
    expect_not_in "$output" " by dry"
    expect_in "$(grep '"msg":"Denied"' "$SERVER_LOG" | tail -n 1)" '"user":"jane' "whole bytes"
    kill_server
    run -0 ledger audit --since 1h
    expect_in "$output" "denied CREATE resourceslices"
    run -0 ledger audit --since 1s -o json
    jq -e '.records | type == "array"' <<<"$output"
}

@test "what operators do has a record, also what has no effect; a restart tells nothing twice" {
    serve_cluster
    "$DRAWBRIDGE" freeze --feed "dir:$CLUSTER" --driver gpu.example.com --reason "new firmware" --for 2h
    eventually 10 has_record 'select(.action == "freeze") | [.scope, .reason]' '. == [["driver gpu.example.com","new firmware"]]'
    "$DRAWBRIDGE" resume --feed "dir:$CLUSTER" --driver gpu.example.com --accept all --reason "it is fine"
    eventually 10 has_record 'select(.action == "resume") | [.accept[0], .reason]' '. == [["all","it is fine"]]'
    sed -i 's/^spec:/spec:\n  rules: [{id: frozen, action: "off"}]/' "$CLUSTER/ledgerpolicy.yaml"
    eventually 10 has_record 'select(.action == "refused") | [.what, .rule]' '. == [["rule","frozen"]]'
    local before
    before=$(records .action)
    stop_drawbridge
    serve_cluster
    "$DRAWBRIDGE" freeze --feed "dir:$CLUSTER" --node node-a --reason "disk" --for 1h
    eventually 10 has_record 'select(.action == "freeze") | .scope' '. == ["driver gpu.example.com","node node-a"]'
    expect_equal "$(records .action)" "$(jq -c '. + ["freeze"]' <<<"$before")"
    expect_in "$(grep '"msg":"Operator action"' "$SERVER_LOG")" '"action":"freeze"' '"scope":"node node-a"' '"reason":"disk"'
}

@test "a flood of denials is bounded, and what is left out is counted" {
    serve_cluster
    local review=$BATS_TEST_TMPDIR/denied.json i
    jq '.request.dryRun = false' "$REPO/server/sample/reviews/slice-memory-500m.json" >"$review"
    for ((i = 0; i < 400; i++)); do printf 'next\nurl="%s/validate"\ndata-binary="@%s"\noutput="/dev/null"\nheader="Content-Type: application/json"\ncacert="%s"\n' "$WEBHOOK" "$review" "$TLS_DIR/ca.crt"; done | sed 1d >"$BATS_TEST_TMPDIR/curl"
    curl -sS --noproxy '*' --max-time 60 -K "$BATS_TEST_TMPDIR/curl"
    local dropped
    dropped=$(metric 'drawbridge_audit_dropped_total{reason="pace"}')
    [ "$dropped" -gt 0 ] || fail "nothing was left out"
    stop_drawbridge
    expect_equal "$(records 'select(.action == "review")' | jq length)" $((400 - dropped))
    expect_equal "$(records 'select(.action == "gap") | .records' | jq add)" "$dropped"
}

# ---- metrics

@test "the books are metrics: per node and NUMA node, switchable; ages, divergences, repeats, rejections" {
    serve_cluster
    local books
    books=$(metrics)
    expect_in "$books" 'drawbridge_ledger_resource{node="node-a",resource="cpu",unit="core",column="dra"} 5' \
        'drawbridge_ledger_resource{node="node-a",resource="memory",unit="byte",column="allocatable"} 133143986176' \
        'drawbridge_ledger_resource{node="node-b",resource="cpu",unit="core",column="dra"} 0' \
        'drawbridge_divergences{class="wrong-driver"} 0' 'drawbridge_ledger_rejections_total{rule="claim-duplicate"} 0' \
        'drawbridge_ledger_repeats_total 0' 'drawbridge_ledger_mapping_age_seconds ' 'drawbridge_ledger_age_seconds ' \
        'drawbridge_kubernetes_minor{of="judged"} 36'
    expect_not_in "$books" 'node="node-a",resource="pods"'
    # The sub-ledgers add up to the node.
    expect_equal "$(awk -F'[ ]' '/^drawbridge_ledger_numa_dra\{node="node-a".*resource="cpu"/ { sum += $2 } END { print sum }' <<<"$books")" 5
    # One Pod's status says something else than its claim takes by rights.
    sed -i 's/resources: {cpu: "4", memory: 8Gi}/resources: {cpu: "3", memory: 8Gi}/' "$CLUSTER/50-pods.yaml"
    unexplained() { [ "$(metric 'drawbridge_divergences{class="unexplained"}')" -eq 1 ]; }
    eventually 30 unexplained
    eventually 10 has_record 'select(.action == "diverged") | [.namespace, .pod, .class]' '. == [["training","trainer-0","unexplained"]]'
    stop_drawbridge
    start_drawbridge --kubernetes-version 1.36 --feed "dir:$CLUSTER" --node-metrics=false
    books=$(metrics)
    expect_not_in "$books" 'node="'
    expect_in "$books" 'drawbridge_divergences{class='
}

@test "metrics keep to the rules of Prometheus: one family each with help and type, counters end in _total, no name of a tenant" {
    serve_cluster
    post "$REPO/server/sample/reviews/slice-memory-500m.json" >/dev/null
    post "$REPO/server/sample/reviews/claim-good.json" >/dev/null
    metrics >"$BATS_TEST_TMPDIR/metrics"
    run -0 awk '
        /^# HELP / { if ($3 in help) print "twice: " $3; help[$3] = 1; if (NF < 5) print "no help: " $3; next }
        /^# TYPE / { type[$3] = $4; family = $3; if (!($3 in help)) print "type before help: " $3
            if (($4 == "counter") != ($3 ~ /_total$/)) print "counter and _total: " $3
            if ($3 !~ /^(drawbridge|process)_[a-z_0-9]+$/) print "name: " $3; next }
        { name = $1; sub(/\{.*/, "", name); base = name
            if (type[family] == "histogram") sub(/_(bucket|sum|count)$/, "", base)
            if (base != family) print "outside of its family: " $0
            if ($1 in seen) print "twice: " $1
            seen[$1] = 1 }' "$BATS_TEST_TMPDIR/metrics"
    expect_equal "$output" ""
    run -1 grep -E 'training|job-1|trainer|alice|nic\.example' "$BATS_TEST_TMPDIR/metrics"
}
