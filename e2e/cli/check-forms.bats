#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The command line as scripts see it: exit codes and every form of output, held against golden files.
#
#   UPDATE=1 bats e2e/cli    writes the golden files anew

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_DIRNAME/manifests" || return 1
    drawbridge=${DRAWBRIDGE:-$BATS_TEST_DIRNAME/../../build/release/drawbridge}
    unset NO_COLOR
}

# golden NAME CODE ARGUMENTS…: standard output must be golden/NAME, the exit code CODE.
golden() {
    local name=$1 code=$2 file=$BATS_TEST_DIRNAME/golden/$1
    shift 2
    local out=$BATS_TEST_TMPDIR/$name
    run bash -c '"$@" >"$0" 2>"$0.err"' "$out" "$drawbridge" "$@"
    [ "$status" -eq "$code" ] || { echo "exit code $status, not $code"; cat "$out" "$out.err"; return 1; }
    # The texts of rules and the version belong to other tests.
    sed -i -e '/^   {"id":/d' -e 's/"version":"[0-9.]*","rules"/"version":"VERSION","rules"/' "$out"
    if [ -n "${UPDATE:-}" ]; then cp "$out" "$file"; fi
    diff -u "$file" "$out"
}

is_json() { python3 -m json.tool >/dev/null; }

@test "clean: exit code 0 in every form" {
    for form in text json junit sarif; do golden "clean.$form" 0 check -f clean.yaml -o "$form"; done
}

@test "findings that deny: exit code 1 in every form" {
    for form in text json junit sarif; do golden "findings.$form" 1 check -f findings.yaml -o "$form"; done
}

@test "warnings: exit code 0, or the one that is asked for" {
    for form in text json junit sarif; do golden "warnings.$form" 0 check -f warnings.json -o "$form"; done
    golden warnings.text 7 check -f warnings.json --warn-exit-code 7
    golden clean.text 0 check -f clean.yaml --warn-exit-code=7
    golden findings.text 1 check -f findings.yaml --warn-exit-code=7
}

@test "unreadable text: exit code 3, which wins over 1, and the rest is judged" {
    for form in text json junit sarif; do golden "broken.$form" 3 check -f broken.yaml -o "$form"; done
    golden several.json 3 check -f broken.yaml -f findings.yaml -f none.yaml -f warnings.json -o json
}

@test "usage: exit code 2, a reason and no result" {
    for arguments in "check" "check --no-such-flag" "check -o yaml -f clean.yaml" \
        "check -f clean.yaml --kubernetes-version 1.35" "check -f clean.yaml --kubernetes-version next" \
        "check -f clean.yaml --warn-exit-code many" "check -f" "no-such-command" "explain no-such-rule" ""; do
        # shellcheck disable=SC2086 # a list of words
        run --separate-stderr "$drawbridge" $arguments
        [ "$status" -eq 2 ]
        [ -z "$output" ]
        [ -n "$stderr" ]
    done
}

@test "each form is what it says" {
    for file in clean.yaml findings.yaml broken.yaml warnings.json folder none.yaml; do
        "$drawbridge" check -f "$file" -o json | is_json
        "$drawbridge" check -f "$file" -o sarif | is_json
        "$drawbridge" check -f "$file" -o junit | python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)'
    done
}

@test "the JSON has the members that other tools rely on" {
    "$drawbridge" check -f clean.yaml -f findings.yaml -f broken.yaml -f none.yaml -o json | python3 -c '
import json, sys
results = json.load(sys.stdin)["results"]
assert len(results) == 15, len(results)
for result in results:
    for name in "file", "document", "apiVersion", "kind", "name", "allowed", "findings":
        assert name in result, (name, result)
    assert result["allowed"] == ("error" not in result and not any(f["severity"] == "deny" for f in result["findings"]))
    for finding in result["findings"]:
        for name in "rule", "severity", "reason", "field", "value", "message", "hint":
            assert isinstance(finding[name], str), (name, finding)
        assert len(finding["value"].encode()) <= 64
        assert finding["line"] > 0 and finding["column"] > 0
'
}

@test "SARIF names every rule" {
    "$drawbridge" check -f clean.yaml -o sarif >"$BATS_TEST_TMPDIR/sarif"
    "$drawbridge" explain -o json | python3 -c '
import json, sys
ids = {rule["id"] for rule in json.load(sys.stdin)["rules"]}
driver = json.load(open(sys.argv[1]))["runs"][0]["tool"]["driver"]
assert {rule["id"] for rule in driver["rules"]} == ids | {"unreadable"}
assert all(rule["help"]["text"] for rule in driver["rules"])
' "$BATS_TEST_TMPDIR/sarif"
}

@test "folders in byte order, with -R those below" {
    golden folder.json 0 check -f folder -o json
    golden folder-recursive.json 0 check -f folder/ -R -o json
}

@test "standard input" {
    golden stdin.json 1 check -f - -o json <findings.yaml
    golden stdin.text 0 check -f - <warnings.json
    run "$drawbridge" check -f - </dev/null
    [ "$status" -eq 3 ]
    [[ $output == *"standard input is empty"* ]]
}

@test "versions of Kubernetes in every spelling; a newer one is judged by the newest known, and it is said" {
    for version in 1.36 v1.36 1.36.3 v1.36.3-gke.1; do
        golden clean.text 0 check -f clean.yaml --kubernetes-version "$version"
    done
    golden minor-37.text 1 check -f clean.yaml --kubernetes-version 1.37
    golden minor-99.text 1 check -f clean.yaml --kubernetes-version v1.99.0
}

@test "pipes, devices and loops of links are refused at once" {
    mkfifo "$BATS_TEST_TMPDIR/pipe.yaml"
    ln -s . "$BATS_TEST_TMPDIR/loop"
    ln -s self.yaml "$BATS_TEST_TMPDIR/self.yaml"
    for name in "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/pipe.yaml" "$BATS_TEST_TMPDIR/self.yaml" /dev/zero; do
        run timeout 5 "$drawbridge" check -R -f "$name"
        [ "$status" -eq 3 ]
    done
    run "$drawbridge" check -R -f "$BATS_TEST_TMPDIR"
    [[ $output == *"pipe.yaml: unreadable: a pipe with a name is not read"* ]]
    [[ $output == *"loop: unreadable: the folder contains itself through a link"* ]]
    [[ $output == *"self.yaml: unreadable: cannot be opened: Too many levels of symbolic links"* ]]
}

@test "bombs end in a clear error" {
    python3 -c 'print("\n".join("a%d: &a%d [%s]" % (i, i, ",".join(["*a%d" % (i - 1)] * 9 if i else ["x"] * 9)) for i in range(30)))' \
        >"$BATS_TEST_TMPDIR/laughs.yaml"
    python3 -c 'print("[" * 1000000)' >"$BATS_TEST_TMPDIR/brackets.yaml"
    python3 -c 'print("{\"a\":" * 1000000)' >"$BATS_TEST_TMPDIR/braces.json"
    for bomb in laughs.yaml brackets.yaml braces.json; do
        run timeout 5 "$drawbridge" check -f "$BATS_TEST_TMPDIR/$bomb"
        [ "$status" -eq 3 ]
        [[ $output == *unreadable:* ]]
    done
}

@test "a bound on the length of files" {
    head -c 2000 /dev/zero | tr '\0' '#' >"$BATS_TEST_TMPDIR/long.yaml"
    run "$drawbridge" check -f "$BATS_TEST_TMPDIR/long.yaml" --max-file-bytes 1Ki
    [ "$status" -eq 3 ]
    [[ $output == *"longer than 1024 bytes; --max-file-bytes raises the bound"* ]]
}

@test "colours only on a terminal, and not with NO_COLOR" {
    export TERM=xterm
    run "$drawbridge" check -f findings.yaml
    [[ $output != *$'\033['* ]]
    run script -qec "$drawbridge check -f findings.yaml" /dev/null
    [[ $output == *$'\033['* ]]
    NO_COLOR=1 run script -qec "$drawbridge check -f findings.yaml" /dev/null
    [[ $output != *$'\033['* ]]
    TERM=dumb run script -qec "$drawbridge check -f findings.yaml" /dev/null
    [[ $output != *$'\033['* ]]
}

@test "what a tenant writes does not reach the terminal as it is" {
    printf '%s' '{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"a\u001b[31m%n%s\n\u202e<&"}}' \
        >"$BATS_TEST_TMPDIR/evil.json"
    for form in text json junit sarif; do
        run "$drawbridge" check -f "$BATS_TEST_TMPDIR/evil.json" -o "$form"
        [ "$status" -eq 1 ]
        [[ $output != *$'\033'* ]]
    done
    "$drawbridge" check -f "$BATS_TEST_TMPDIR/evil.json" -o junit |
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.stdin)'
}

@test "long values are cut at 64 bytes, at a character" {
    python3 -c 'import json; print(json.dumps({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "x" + "é" * 300}}))' |
        "$drawbridge" check -f - -o json | python3 -c '
import json, sys
values = [f["value"] for r in json.load(sys.stdin)["results"] for f in r["findings"]]
assert "x" + "é" * 31 in values, values
'
}

@test "a result that cannot be written is no success" {
    run bash -c '"$0" check -f clean.yaml >/dev/full' "$drawbridge"
    [ "$status" -eq 3 ]
    [[ $output == *"cannot be written"* ]]
}

@test "explain lists rules, tells of one, and helps with slips" {
    run "$drawbridge" explain
    [ "$status" -eq 0 ]
    [[ $output == *unit-bytes-fraction* ]]
    [[ $output == *schema* ]]
    run "$drawbridge" explain unit-bytes-fraction schema
    [ "$status" -eq 0 ]
    [[ $output == *500Mi* ]]
    [[ $output == *"Action: deny"* ]]
    run "$drawbridge" explain unit-byte-fraction
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean unit-bytes-fraction?"* ]]
    "$drawbridge" explain -o json | is_json
    "$drawbridge" explain schema -o json | is_json
}

@test "version and help" {
    run "$drawbridge" version
    [ "$status" -eq 0 ]
    [[ $output == "drawbridge "* ]]
    [[ $output == *"Kubernetes 1.36 1.37"* ]]
    "$drawbridge" version -o json | is_json
    run "$drawbridge" --version
    [ "$status" -eq 0 ]
    for arguments in help --help -h "help check" "check --help"; do
        # shellcheck disable=SC2086 # a list of words
        run "$drawbridge" $arguments
        [ "$status" -eq 0 ]
        [[ $output == *"Usage: drawbridge"* ]]
    done
    run "$drawbridge" help
    [[ $output == *"kubectl drawbridge"* ]]
    run "$drawbridge" chek
    [ "$status" -eq 2 ]
    [[ $output == *"did you mean check?"* ]]
}
