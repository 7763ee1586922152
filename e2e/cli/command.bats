#!/usr/bin/env bats
# version, help, completion, and the settings of serve: flags, variables, file, defaults.

load ../lib/helpers

@test "version names the Kubernetes minors and the libraries" {
    run -0 "$DRAWBRIDGE" version
    expect_in "$output" "drawbridge " "Kubernetes 1.36 1.37" "libmicrohttpd"
    run -0 "$DRAWBRIDGE" version -o json
    jq -e '.version and .kubernetes == ["1.36", "1.37"] and .libraries.openssl' <<<"$output"
    run -0 "$DRAWBRIDGE" --version
    expect_in "$output" "drawbridge "
}

@test "help of the program and of each command" {
    run -0 "$DRAWBRIDGE" help
    expect_in "$output" "check" "serve" "explain" "certs" "Exit codes: 0 clean, 1 findings that deny, 2 usage, 3 input cannot be read"
    local command
    for command in check serve explain version completion 'certs issue' 'certs show' 'certs verify'; do
        # shellcheck disable=SC2086 # words of a command
        run -0 "$DRAWBRIDGE" $command --help
        expect_in "$output" "Usage: drawbridge $command" "--help"
    done
    run -2 "$DRAWBRIDGE"
    expect_in "$output" "Usage: drawbridge COMMAND"
}

@test "bash completion knows commands, flags and choices" {
    run -0 bash -c '
        source <("$DRAWBRIDGE" completion bash)
        try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _drawbridge; echo "$*: ${COMPREPLY[*]}"; }
        try drawbridge ch
        try drawbridge check --kube
        try drawbridge check -o s
        try drawbridge certs i
        try drawbridge serve --failure-policy ""'
    expect_in "$output" "drawbridge ch: check" "check --kube: --kubernetes-version" "check -o s: sarif" "certs i: issue" \
        "Fail Ignore"
}

@test "zsh, fish, man page and reference name every flag of serve" {
    local form flag
    for form in zsh fish man markdown; do
        run -0 "$DRAWBRIDGE" completion "$form"
        for flag in kubernetes-version warn-exit-code failure-policy idle-connection-deadline; do
            expect_in "${output//\\-/-}" "$flag"
        done
    done
    "$DRAWBRIDGE" completion bash | bash -n
    "$DRAWBRIDGE" completion man | head -n 5 | grep -q '^\.TH'
    run -2 "$DRAWBRIDGE" completion tcsh
    expect_in "$output" "bash|zsh|fish"
}

settings() { "$DRAWBRIDGE" serve --print-config --tls-cert-file a --tls-private-key-file b "$@"; }

@test "settings: flag, then variable, then file, then default" {
    cat >"$BATS_TEST_TMPDIR/config.yaml" <<'YAML'
apiVersion: drawbridge.dev/v1alpha1
kind: DrawbridgeConfiguration
port: 1001
v: 3
failurePolicy: Ignore
headerDeadline: 3s
YAML
    export DRAWBRIDGE_PORT=1002 DRAWBRIDGE_V=4
    run -0 settings --config "$BATS_TEST_TMPDIR/config.yaml" --port 1003
    expect_in "$output" "port: 1003 # flag" "v: 4 # variable" 'failurePolicy: "Ignore" # file' "headerDeadline: 3s # file" \
        "requestDeadline: 10s # default" "maxRequestBytes: 8Mi # default"
    unset DRAWBRIDGE_PORT DRAWBRIDGE_V
    # What is printed is a file that says the same.
    settings --config "$BATS_TEST_TMPDIR/config.yaml" >"$BATS_TEST_TMPDIR/printed.yaml"
    run -0 "$DRAWBRIDGE" serve --print-config --config "$BATS_TEST_TMPDIR/printed.yaml"
    expect_equal "$(sed 's/ #.*//' <<<"$output" | grep -v '^#' | sort)" \
        "$(sed 's/ #.*//' "$BATS_TEST_TMPDIR/printed.yaml" | grep -v '^#' | sort)"
}

@test "settings: a file is refused with its line" {
    local file=$BATS_TEST_TMPDIR/config.yaml
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: DrawbridgeConfiguration\nprot: 1\n' >"$file"
    run settings --config "$file"
    [ "$status" -ne 0 ]
    expect_in "$output" "config.yaml" "3" "prot" "port"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: DrawbridgeConfiguration\nport: many\n' >"$file"
    run settings --config "$file"
    [ "$status" -ne 0 ]
    expect_in "$output" "config.yaml" "3" "port"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: DrawbridgeConfiguration\nport: 1\nport: 2\n' >"$file"
    run settings --config "$file"
    [ "$status" -ne 0 ]
    expect_in "$output" "config.yaml" "4" "port"
    printf 'apiVersion: drawbridge.dev/v1alpha1\nkind: Other\n' >"$file"
    run settings --config "$file"
    [ "$status" -ne 0 ]
    expect_in "$output" "config.yaml" "DrawbridgeConfiguration"
}

@test "settings: values out of bounds are refused by name" {
    run -2 settings --port 70000
    expect_in "$output" "--port" "70000"
    run -2 settings --header-deadline 1h
    expect_in "$output" "--header-deadline"
    run -2 settings --max-request-bytes 1x
    expect_in "$output" "--max-request-bytes" "1x"
    DRAWBRIDGE_FAILURE_POLICY=Maybe run settings
    [ "$status" -ne 0 ]
    expect_in "$output" "DRAWBRIDGE_FAILURE_POLICY" "Maybe"
    run -2 "$DRAWBRIDGE" serve
    expect_in "$output" "--tls-cert-file" "certs issue"
}
