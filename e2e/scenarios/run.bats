#!/usr/bin/env bats
# `drawbridge ledger replay` of every scenario in this folder: events.jsonl in, what expected.json names out.
# A scenario is a folder; expected.json says what it is about and why (see `compare`).

load ../lib/helpers

# replay FILE FLAG…: the ledger of a file, as JSON.
replay() {
    "$DRAWBRIDGE" ledger replay -o json -f "$@"
}

# scenario FOLDER [FLAG…]: replays it and compares; prints what differs.
scenario() {
    local folder=$1 want code=0 result
    shift
    result=$BATS_TEST_TMPDIR/result.json
    want=$(jq -r .exit "$folder/expected.json")
    replay "$folder/events.jsonl" "$@" >"$result" 2>"$BATS_TEST_TMPDIR/errors" || code=$?
    if [ "$code" -ne "$want" ]; then
        echo "exit code $code, not $want"
        cat "$BATS_TEST_TMPDIR/errors"
        return 1
    fi
    jq -e --slurpfile want "$folder/expected.json" '.kubernetesVersion == $want[0].kubernetesVersion' "$result" >/dev/null || {
        echo "judged as $(jq -r .kubernetesVersion "$result")"
        return 1
    }
    "$BATS_TEST_DIRNAME/compare" "$folder/events.jsonl" "$folder/expected.json" "$result"
}

@test "every scenario ends as it should, and its version is told by the events" {
    local folder said failed=0 count=0
    for folder in "$BATS_TEST_DIRNAME"/*/; do
        count=$((count + 1))
        said=$(scenario "$folder") || { failed=1 && printf '%s:\n%s\n' "$(basename "$folder")" "$said" >&2; }
    done
    [ "$count" -ge 25 ] || fail "only $count scenarios were found"
    [ "$failed" -eq 0 ]
}

@test "every scenario ends the same when each event comes twice" {
    local folder said failed=0
    for folder in "$BATS_TEST_DIRNAME"/*/; do
        case $(basename "$folder") in out-of-order | node-restart) continue ;; esac # they count repeats
        mkdir -p "$BATS_TEST_TMPDIR/twice"
        sed p "$folder/events.jsonl" >"$BATS_TEST_TMPDIR/twice/events.jsonl"
        cp "$folder/expected.json" "$BATS_TEST_TMPDIR/twice/"
        said=$(scenario "$BATS_TEST_TMPDIR/twice") || { failed=1 && printf '%s:\n%s\n' "$(basename "$folder")" "$said" >&2; }
    done
    [ "$failed" -eq 0 ]
}

@test "compare finds a difference in totals, NUMA nodes, rows, divergence, rejections and status" {
    local folder=$BATS_TEST_DIRNAME/two-drivers-one-name result=$BATS_TEST_TMPDIR/result.json change
    replay "$folder/events.jsonl" >"$result" || [ $? -eq 1 ]
    "$BATS_TEST_DIRNAME/compare" "$folder/events.jsonl" "$folder/expected.json" "$result"
    for change in '.nodes[0].totals.memory.dra = "1Gi"' '.nodes[0].numa[0].dra.memory = "1Gi"' \
        '.nodes[0].claims = []' '.nodes[0].divergence[0].class = "unexplained"' '.rejections = [{}]' \
        '.nodes[0].totals.cpu.free = "1"'; do
        jq "$change" "$result" >"$BATS_TEST_TMPDIR/changed.json"
        run -1 "$BATS_TEST_DIRNAME/compare" "$folder/events.jsonl" "$folder/expected.json" "$BATS_TEST_TMPDIR/changed.json"
    done
    jq '.status.w1.cpu = "2"' "$folder/expected.json" >"$BATS_TEST_TMPDIR/expected.json"
    run -1 "$BATS_TEST_DIRNAME/compare" "$folder/events.jsonl" "$BATS_TEST_TMPDIR/expected.json" "$result"
}

@test "text: the totals, the NUMA nodes, the rows, what diverged" {
    run -1 "$DRAWBRIDGE" ledger replay -f "$BATS_TEST_DIRNAME/two-drivers-one-name/events.jsonl"
    expect_in "$output" "Kubernetes 1.36" "w1: Fresh" "ALLOCATABLE" "no NUMA node: memory 8Gi" \
        "default/cp: b.example/w1/dev0: memory 8Gi (version 3)" \
        "DIVERGED wrong-driver: Pod default/p, claim cp (claim-cp): expected memory 8Gi, reported cpu 1"
}

@test "standard input, several files, and a version that is given" {
    local folder=$BATS_TEST_DIRNAME/recorded-137
    run -0 "$DRAWBRIDGE" ledger replay -o json -f - <"$folder/events.jsonl"
    expect_equal "$(jq -r .kubernetesVersion <<<"$output")" 1.37
    head -n 60 "$folder/events.jsonl" >"$BATS_TEST_TMPDIR/first"
    tail -n +61 "$folder/events.jsonl" >"$BATS_TEST_TMPDIR/second"
    run -0 "$DRAWBRIDGE" ledger replay -o json -f "$BATS_TEST_TMPDIR/first" -f "$BATS_TEST_TMPDIR/second"
    expect_equal "$output" "$(replay "$folder/events.jsonl")"
    # As 1.36 would read it there are no mappings at all.
    run -0 "$DRAWBRIDGE" ledger replay -o json --kubernetes-version 1.36 -f "$folder/events.jsonl"
    expect_equal "$(jq -r '.kubernetesVersion, .nodes[0].state, .nodes[0].totals.cpu.dra' <<<"$output" | paste -sd' ')" "1.36 Unmapped 0"
}

@test "a bad line ends it with code 3 and the line's number" {
    local good bad
    good=$(head -n 1 "$BATS_TEST_DIRNAME/cross-numa/events.jsonl")
    for bad in '{' '[]' '{"type":"ADDED"}' '{"object":{"kind":"Pod","apiVersion":"v1"}}' "${good/ADDED/CHANGED}" \
        "${good/\"resourceVersion\":\"1\"/\"labels\":{}}" "${good/\"resourceVersion\":\"1\"/\"resourceVersion\":\"x\"}" \
        "${good/\"cpu\":\"16\"/\"cpu\":\"much\"}" '{"type":"ADDED","time":"yesterday","object":{}}' "$good$good"; do
        printf '%s\n\n%s\n' "$good" "$bad" >"$BATS_TEST_TMPDIR/events"
        run -3 "$DRAWBRIDGE" ledger replay -f "$BATS_TEST_TMPDIR/events"
        expect_in "$output" "line 3: "
    done
    run -3 "$DRAWBRIDGE" ledger replay -f "$BATS_TEST_TMPDIR/none"
    run -2 "$DRAWBRIDGE" ledger replay
    run -2 "$DRAWBRIDGE" ledger replay --kubernetes-version 1.30 -f "$BATS_TEST_TMPDIR/events"
}

@test "other kinds, bookmarks and ends of watches are passed over" {
    printf '%s\n' '{"type":"ADDED","object":{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}}' \
        '{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","code":410}}' \
        "$(grep -m1 BOOKMARK "$BATS_TEST_DIRNAME/recorded-136/events.jsonl")" >"$BATS_TEST_TMPDIR/events"
    run -0 "$DRAWBRIDGE" ledger replay -o json -f "$BATS_TEST_TMPDIR/events"
    expect_equal "$(jq -c '[.nodes, .unplaced, .rejections, .counts.ignored]' <<<"$output")" '[[],[],[],1]'
}
