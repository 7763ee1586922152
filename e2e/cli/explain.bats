#!/usr/bin/env bats
# `drawbridge explain`: every rule has a text that stands on its own.

load ../lib/helpers

ids() { "$DRAWBRIDGE" explain -o json | jq -r '.rules[].id'; }

@test "the list names each rule with its action" {
    run -0 "$DRAWBRIDGE" explain
    expect_in "$output" "unit-bytes-fraction      deny" "unit-suspicious          warn" "schema                   deny" \
        "numa-missing             off"
}

@test "every rule has a text that says what is wrong, what is right, and the default action" {
    local id count=0
    for id in $(ids); do
        run -0 "$DRAWBRIDGE" explain "$id"
        expect_in "$output" "$id: " "ction" "Source:"
        [ "${#output}" -gt 300 ] || fail "the text of $id is too short: $output" || return 1
        count=$((count + 1))
    done
    [ "$count" -ge 24 ] || fail "only $count rules"
}

@test "every rule of the table has a file, and every file a row" {
    local file id all
    all=$(ids)
    for file in "$REPO"/validators/rules/rule_*.c; do
        id=$(basename "$file" .c)
        id=${id#rule_}
        grep -qx "${id//_/-}" <<<"$all" || fail "$file: explain does not know ${id//_/-}" || return 1
    done
    for id in $all; do
        [ "$id" = schema ] || [ -f "$REPO/validators/rules/rule_${id//-/_}.c" ] || fail "$id has no file" || return 1
    done
}

@test "every rule that needs no cluster has fixtures that pass and fail" {
    local id folder
    for id in $("$DRAWBRIDGE" explain -o json | jq -r '.rules[] | select(.needsCluster | not) | .id'); do
        [ "$id" = schema ] && continue
        folder=$REPO/unit/testdata/rules/$id
        compgen -G "$folder/fail-*.json" >/dev/null && compgen -G "$folder/pass-*.json" >/dev/null ||
            fail "$folder has no fixture that passes or none that fails" || return 1
    done
}

@test "json of one rule" {
    run -0 "$DRAWBRIDGE" explain unit-bytes-fraction -o json
    jq -e '.id == "unit-bytes-fraction" and .action == "deny" and (.text | test("500Mi"))' <<<"$output"
}

@test "a near miss is told" {
    run -2 "$DRAWBRIDGE" explain unit-byte-fraction
    expect_in "$output" "did you mean unit-bytes-fraction?"
}
