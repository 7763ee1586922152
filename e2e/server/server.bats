#!/usr/bin/env bats
# The server under hostile clients. Each test is a group of hostile/: DRAWBRIDGE names the program to attack;
# with DRAWBRIDGE_SANITIZED=yes, figures of memory are left out.

load ../lib/helpers

setup_file() {
    load ../lib/helpers
    HOSTILE=$BATS_FILE_TMPDIR/hostile
    export HOSTILE
    (cd "$REPO/e2e" && go test -c -o "$HOSTILE" ./server/hostile)
}

teardown() {
    [ -z "${SERVER_PID:-}" ] || stop_drawbridge
}

attack() {
    cd "$BATS_TEST_DIRNAME/hostile" || return
    run -0 "$HOSTILE" -test.v -test.parallel 4 -test.timeout 9m -test.run "$1"
    expect_in "$output" "PASS: $1"
    expect_not_in "$output" "--- SKIP"
}

@test "transport: versions, suites, silence, resets" { attack TestTransport; }
@test "callers' certificates" { attack TestClients; }
@test "HTTP: slow, large, malformed, and other protocols" { attack TestHTTP; }
@test "reviews: truncated, forged, hostile bytes, wrong types" { attack TestReview; }
@test "from start to orderly end: certificates, settings, termination, metrics" { attack TestLifecycle; }

@test "sslscan sees TLS 1.2 with AEAD and TLS 1.3, and nothing else" {
    start_drawbridge
    run -0 sslscan --no-colour "localhost:$SERVER_PORT"
    expect_in "$output" "TLSv1.0   disabled" "TLSv1.1   disabled" "TLSv1.2   enabled" "TLSv1.3   enabled" "SSLv3     disabled" \
        "Session renegotiation not supported"
    local suites
    suites=$(grep -E '^(Preferred|Accepted)' <<<"$output")
    [ "$(grep -cE 'TLSv1.[23]' <<<"$suites")" -ge 4 ] || fail "too few suites: $suites" || return 1
    ! grep -vE 'GCM|CHACHA20|CCM' <<<"$suites" || fail "a suite without AEAD"
}

@test "openssl: TLS 1.0 and 1.1 are refused, 1.2 and 1.3 verify" {
    local version
    start_drawbridge
    for version in -tls1 -tls1_1; do
        run openssl s_client "$version" -cipher 'ALL:@SECLEVEL=0' -connect "localhost:$SERVER_PORT" </dev/null
        [ "$status" -ne 0 ] || fail "$version is accepted" || return 1
    done
    for version in -tls1_2 -tls1_3; do
        run -0 openssl s_client "$version" -verify_return_error -verify_hostname localhost -CAfile "$TLS_DIR/ca.crt" -connect "localhost:$SERVER_PORT" </dev/null
        expect_in "$output" "Verify return code: 0 (ok)"
    done
}

@test "a denial is text that a tenant understands, with the rule's ID, and metrics and the log tell of it" {
    start_drawbridge
    run -0 post "$REPO/server/sample/reviews/slice-memory-500m.json"
    jq -e '.response.status | .code == 422 and .status == "Failure" and (.details.causes | length == 1)' <<<"$output"
    expect_in "$(jq -r .response.status.message <<<"$output")" \
        'spec.devices[0].nodeAllocatableResourceMappings[memory].allocationMultiplier: Invalid value: "500m": memory is counted in whole bytes; did you mean 500Mi? [unit-bytes-fraction]'
    expect_equal "$(metric 'drawbridge_rule_results_total{rule="unit-bytes-fraction",result="deny"}')" 1
    jq -e 'select(.msg == "Denied") | .uid and .rules == "unit-bytes-fraction"' "$SERVER_LOG"
}

@test "health: livez, readyz with its checks, healthz; the status port can be off" {
    start_drawbridge
    run -0 fetch "$STATUS/readyz?verbose"
    expect_in "$output" "certificate" "ok"
    run -0 fetch "$STATUS/livez"
    run -0 fetch "$STATUS/healthz"
    stop_drawbridge
    "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 0 --shutdown-delay 0s --logging-format json \
        --tls-cert-file "$TLS_DIR/tls.crt" --tls-private-key-file "$TLS_DIR/tls.key" 2>"$BATS_TEST_TMPDIR/log" 3>&- &
    SERVER_PID=$! SERVER_LOG=$BATS_TEST_TMPDIR/log
    eventually 20 grep -q Serving "$SERVER_LOG"
    expect_equal "$(ss -ltnpH | grep -c "pid=$SERVER_PID,")" 1
}

@test "an address that is taken is told by name" {
    start_drawbridge
    run timeout 20 "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port "$SERVER_PORT" --status-bind-address 0 \
        --tls-cert-file "$TLS_DIR/tls.crt" --tls-private-key-file "$TLS_DIR/tls.key"
    [ "$status" -eq 3 ] || fail "exit code $status: $output" || return 1
    expect_in "$output" "$SERVER_PORT" "in use"
}

@test "a certificate file that has expired is still shown, never written, and readyz says whose work it is" {
    local tls=$BATS_TEST_TMPDIR/tls before
    "$DRAWBRIDGE" certs issue --dir "$tls" --host localhost --host 127.0.0.1 >/dev/null
    openssl req -new -key "$tls/tls.key" -subj / -out "$tls/request"
    printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n' >"$tls/extensions"
    mkdir "$tls/ca"
    : >"$tls/ca/index"
    printf '[ca]\ndefault_ca=d\n[d]\ndatabase=%s/ca/index\nrand_serial=yes\ndefault_md=sha256\npolicy=p\n[p]\n' "$tls" >"$tls/ca/config"
    openssl ca -batch -config "$tls/ca/config" -cert "$tls/ca.crt" -keyfile "$tls/ca.key" -in "$tls/request" -outdir "$tls/ca" -notext \
        -startdate 20200101000000Z -enddate 20200102000000Z -extfile "$tls/extensions" -subj /CN=old -out "$tls/tls.crt"
    before=$(sha256sum "$tls"/tls.*)
    SERVER_LOG=$BATS_TEST_TMPDIR/log
    "$DRAWBRIDGE" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 --shutdown-delay 0s --logging-format json \
        --tls-cert-file "$tls/tls.crt" --tls-private-key-file "$tls/tls.key" >"$SERVER_LOG" 2>&1 3>&- &
    SERVER_PID=$!
    eventually 20 address_of status
    run -0 curl -s --noproxy '*' -w '%{http_code}' "http://$(address_of status)/readyz?verbose"
    expect_in "$output" "[-]certificate" "has expired; renewing its files is the work of who wrote them" 503
    run -0 fetch "http://$(address_of status)/livez"
    expect_equal "$(openssl s_client -connect "$(address_of address)" </dev/null 2>/dev/null | openssl x509 -noout -fingerprint)" \
        "$(openssl x509 -noout -fingerprint -in "$tls/tls.crt")"
    expect_equal "$(sha256sum "$tls"/tls.*)" "$before"
    stop_drawbridge
}
