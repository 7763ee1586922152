#!/usr/bin/env bats
# `drawbridge check`: every form of output against golden files, exit codes, ways of input, and input that attacks.

load ../lib/helpers

setup() {
    cd "$BATS_TEST_DIRNAME/input" || return
    unset NO_COLOR
}

# quick CODE COMMAND…: the command ends within a second of its own time and with this code.
quick() {
    local code=$1 begin=$EPOCHREALTIME
    shift
    run timeout 10 "$@"
    local taken_us=$((${EPOCHREALTIME/./} - ${begin/./}))
    [ "$status" -eq "$code" ] || fail "exit code $status, not $code: $output" || return 1
    [ "$taken_us" -lt "${QUICK_US:-1000000}" ] || fail "it took $taken_us µs"
}

@test "text: value, line of the YAML, caret, hint, rule" {
    run -1 "$DRAWBRIDGE" check -f slices.yaml
    expect_golden check.text
}

@test "json: every document appears, other kinds as skipped" {
    run -1 "$DRAWBRIDGE" check -f slices.yaml -o json
    expect_golden check.json
    jq -e '.results | length == 4 and all(has("findings"))' <<<"$output"
    jq -e '.results[1] | .allowed and (.skipped | length > 0)' <<<"$output"
    jq -e '.results[2].item == 0 and .results[3].item == 1 and .results[3].document == 3' <<<"$output"
}

@test "junit: a denial is a failure, a warning is not" {
    run -1 "$DRAWBRIDGE" check -f slices.yaml -o junit
    expect_golden check.junit.xml
    python3 -c 'import sys, xml.etree.ElementTree as t; r = t.fromstring(sys.stdin.read()); assert len(r.findall(".//failure")) == 2 and len(r.findall(".//skipped")) == 1' <<<"$output"
}

@test "sarif: levels are error and warning, rules are described" {
    run -1 "$DRAWBRIDGE" check -f slices.yaml -o sarif
    local all=$output
    jq -e '.version == "2.1.0" and (.runs[0].tool.driver.rules | all(.id and .shortDescription.text and .help.text))' <<<"$all"
    jq -e '.runs[0] as $r | $r.results | length == 4 and all(.ruleId as $id | $r.tool.driver.rules | any(.id == $id))' <<<"$all"
    output=$(jq 'del(.runs[].tool.driver["rules", "version"])' <<<"$all")
    expect_golden check.sarif.json
}

@test "for 1.37 the field of 1.36 is named, with what to write instead" {
    run -1 "$DRAWBRIDGE" check -f slices.yaml --kubernetes-version 1.37
    expect_golden check-137.text
}

@test "a clean file: exit 0 in every form" {
    local form
    for form in text json junit sarif; do
        run -0 "$DRAWBRIDGE" check -f clean.yaml -o "$form"
    done
    run -0 "$DRAWBRIDGE" check clean.yaml
    expect_in "$output" "1 object judged for Kubernetes 1.36: 1 clean"
}

@test "warnings end with 0 unless --warn-exit-code" {
    run -0 "$DRAWBRIDGE" check -f warned.yaml
    expect_in "$output" "[unit-suspicious]" "1 allowed with warnings"
    run -9 "$DRAWBRIDGE" check -f warned.yaml --warn-exit-code 9
    run -1 "$DRAWBRIDGE" check -f warned.yaml -f slices.yaml --warn-exit-code 9
    run -0 "$DRAWBRIDGE" check -f clean.yaml --warn-exit-code 9
}

@test "usage: exit 2, and a line that helps" {
    run -2 "$DRAWBRIDGE" check
    expect_in "$output" "-f FILE"
    run -2 "$DRAWBRIDGE" check -f clean.yaml -o xml
    expect_in "$output" '"xml" is not one of text|json|junit|sarif'
    run -2 "$DRAWBRIDGE" check --nope
    expect_in "$output" "unknown flag --nope" "--help"
    run -2 "$DRAWBRIDGE" chekc
    expect_in "$output" "did you mean check?"
    run -2 "$DRAWBRIDGE" check -f clean.yaml --kubernetes-version 1.35
    expect_in "$output" "1.36 is the oldest"
    run -2 "$DRAWBRIDGE" check -f clean.yaml --kubernetes-version banana
    expect_in "$output" "banana"
}

@test "unreadable: exit 3 wins over 1, and the rest is still judged" {
    run -3 "$DRAWBRIDGE" check -f nowhere.yaml -f slices.yaml -o json
    jq -e '.results[0] | .file == "nowhere.yaml" and (.allowed | not) and (.error | test("No such file"))' <<<"$output"
    jq -e '.summary.denied == 2 and .summary.errors == 1' <<<"$output"
    printf 'spec: [\n' >"$BATS_TEST_TMPDIR/broken.yaml"
    run -3 "$DRAWBRIDGE" check -f "$BATS_TEST_TMPDIR/broken.yaml"
    expect_in "$output" "broken.yaml:" "unreadable"
}

@test "standard input, YAML and JSON" {
    run -1 bash -c '"$DRAWBRIDGE" check -f - -o json <slices.yaml'
    jq -e '.results | length == 4 and all(.file == "-")' <<<"$output"
    run -1 bash -c 'jq -c .request.object "$REPO/server/sample/reviews/slice-memory-500m.json" | "$DRAWBRIDGE" check -f -'
    expect_in "$output" "[unit-bytes-fraction]" "did you mean 500Mi?"
}

@test "a folder gives its manifests in byte order, -R goes deeper" {
    local folder=$BATS_TEST_TMPDIR/manifests
    mkdir -p "$folder/deep/er"
    cp clean.yaml "$folder/b.yaml"
    cp clean.yaml "$folder/B.yml"
    cp clean.yaml "$folder/a.txt"
    cp warned.yaml "$folder/deep/er/c.yaml"
    jq .request.object "$REPO/server/sample/reviews/slice-good.json" >"$folder/a.json"
    run -0 "$DRAWBRIDGE" check -f "$folder" -o json
    expect_equal "$(jq -r '[.results[].file | split("/") | last] | join(" ")' <<<"$output")" "B.yml a.json b.yaml"
    run -0 "$DRAWBRIDGE" check -R -f "$folder" -o json
    expect_equal "$(jq -r '[.results[].file | split("/") | last] | join(" ")' <<<"$output")" "B.yml a.json b.yaml c.yaml"
}

@test "YAML is read as kubectl reads it: 1.1 booleans, anchors, merge keys, many documents" {
    cat >"$BATS_TEST_TMPDIR/yaml11.yaml" <<'YAML'
# empty document
---
base: &base {driver: nic.example.com, allNodes: yes, pool: {name: p, generation: 0b1, resourceSliceCount: 0x1}}
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  <<: *base
  devices: []
...
YAML
    run -1 "$DRAWBRIDGE" check -f "$BATS_TEST_TMPDIR/yaml11.yaml" -o json
    expect_equal "$(jq -r '[.results[].findings[] | "\(.field) \(.message)"] | join("|")' <<<"$output")" "base unknown field"
}

@test "a duplicate key and an unknown field are findings of rule schema" {
    sed 's/driver: nic.example.com/driver: nic.example.com\n  driver: other.example.com\n  drivr: x/' clean.yaml >"$BATS_TEST_TMPDIR/twice.yaml"
    run -1 "$DRAWBRIDGE" check -f "$BATS_TEST_TMPDIR/twice.yaml" -o json
    jq -e '[.results[0].findings[] | select(.rule == "schema" and .reason == "StrictDecoding") | .field] | sort | . == ["spec.driver", "spec.drivr"]' <<<"$output" ||
        fail "$output"
}

@test "YAML bombs end in a clear error within a second" {
    local work=$BATS_TEST_TMPDIR
    {
        echo 'a0: &a0 [x,x,x,x,x,x,x,x,x,x]'
        for i in $(seq 12); do
            p="*a$((i - 1))"
            echo "a$i: &a$i [$p,$p,$p,$p,$p,$p,$p,$p,$p,$p]"
        done
    } >"$work/laughs.yaml"
    quick 3 "$DRAWBRIDGE" check -f "$work/laughs.yaml"
    expect_in "$output" "laughs.yaml:" "aliases"
    printf 'a: &a [*a]\n' >"$work/self.yaml"
    quick 3 "$DRAWBRIDGE" check -f "$work/self.yaml"
    local open
    for open in '[' '{' '- ' '? ' '{a: '; do
        python3 -c 'import sys; print(sys.argv[1] * 100000)' "$open" >"$work/deep.yaml"
        quick 3 "$DRAWBRIDGE" check -f "$work/deep.yaml"
        expect_in "$output" "deep.yaml:" "unreadable"
    done
    python3 -c 'print("{\"a\":" * 100000)' >"$work/deep.json"
    quick 3 "$DRAWBRIDGE" check -f "$work/deep.json"
    head -c 3000000 /dev/urandom >"$work/noise.yaml"
    quick 3 "$DRAWBRIDGE" check -f "$work/noise.yaml"
}

@test "pipes with names, devices and loops of links end in a clear error within a second" {
    local work=$BATS_TEST_TMPDIR
    mkdir -p "$work/loop/a" "$work/pipes" "$work/empty"
    mkfifo "$work/pipes/x.yaml"
    quick 3 "$DRAWBRIDGE" check -f "$work/pipes/x.yaml"
    expect_in "$output" "a pipe with a name is not read"
    quick 3 "$DRAWBRIDGE" check -f "$work/pipes"
    expect_in "$output" "a pipe with a name is not read"
    quick 3 "$DRAWBRIDGE" check -f /dev/zero
    expect_in "$output" "a device is not read"
    cp clean.yaml "$work/loop/a/"
    ln -s ../../loop "$work/loop/a/b"
    quick 3 "$DRAWBRIDGE" check -R -f "$work/loop"
    expect_in "$output" "the folder contains itself through a link" "1 clean"
    ln -s self.yaml "$work/self.yaml"
    quick 3 "$DRAWBRIDGE" check -f "$work/self.yaml"
    expect_in "$output" "Too many levels of symbolic links"
    quick 3 "$DRAWBRIDGE" check -f "$work/empty"
    expect_in "$output" "no .yaml, .yml or .json file is in the folder"
}

@test "what the shell has opened is read: standard input by any name, and <(COMMAND)" {
    run -0 "$DRAWBRIDGE" check -f <(cat clean.yaml)
    expect_in "$output" "1 clean"
    run -0 bash -c 'cat clean.yaml | "$DRAWBRIDGE" check -f /dev/stdin'
    expect_in "$output" "1 clean"
    run -3 bash -c 'false | "$DRAWBRIDGE" check -f -'
    expect_in "$output" "standard input is empty"
}

@test "a file above --max-file-bytes is refused by name" {
    head -c 4096 /dev/zero | tr '\0' '#' >"$BATS_TEST_TMPDIR/long.yaml"
    run -3 "$DRAWBRIDGE" check -f "$BATS_TEST_TMPDIR/long.yaml" --max-file-bytes 1Ki
    expect_in "$output" "long.yaml" "--max-file-bytes"
}

@test "control characters of a manifest do not reach the terminal" {
    printf 'apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: "a\\e[31mb\\r\\n%%s%%n"}\nspec: {}\n' >"$BATS_TEST_TMPDIR/ansi.yaml"
    local form
    for form in text json junit sarif; do
        run -1 "$DRAWBRIDGE" check -f "$BATS_TEST_TMPDIR/ansi.yaml" -o "$form"
        if LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' <<<"$output"; then
            fail "control characters in the $form output: $(cat -v <<<"$output")"
        fi
    done
}

@test "output that cannot be written is an error" {
    run bash -c '"$DRAWBRIDGE" check -f slices.yaml >/dev/full'
    [ "$status" -eq 3 ] || fail "exit code $status, not 3"
    expect_in "$output" "the result cannot be written"
}

@test "the sample cluster is clean" {
    run -0 "$DRAWBRIDGE" check -R -f "$REPO/server/sample/cluster" -o json
    jq -e '.summary.denied == 0 and .summary.errors == 0' <<<"$output"
}
