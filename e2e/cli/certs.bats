#!/usr/bin/env bats
# `drawbridge certs`: issue, show, verify, and what other tools make of the result.

load ../lib/helpers

setup() { D=$BATS_TEST_TMPDIR/pki; }

@test "issue, show, verify" {
    run -0 "$DRAWBRIDGE" certs issue --dir "$D" --service drawbridge --namespace drawbridge-system --days 30
    expect_in "$output" "$D/ca.crt" "$D/tls.crt" "$D/tls.key" "valid until"
    run -0 "$DRAWBRIDGE" certs show -f "$D/tls.crt"
    expect_in "$output" "dns:drawbridge" "dns:drawbridge.drawbridge-system" "dns:drawbridge.drawbridge-system.svc" \
        "dns:drawbridge.drawbridge-system.svc.cluster.local" "ECDSA P-256" "leaf, for servers"
    run -0 "$DRAWBRIDGE" certs show -f "$D/ca.crt" -f "$D/tls.crt" -o json
    jq -e '.certificates | length == 2 and .[0].isCA and .[0].pathLength == 0 and (.[1].isCA | not) and .[1].usages == ["serverAuth"]' <<<"$output"
    jq -e '.certificates[1] | (.serial | length) >= 16 and .valid and .daysLeft >= 29' <<<"$output"
    run -0 "$DRAWBRIDGE" certs verify --ca-file "$D/ca.crt" --cert-file "$D/tls.crt" --key-file "$D/tls.key" --host drawbridge.drawbridge-system.svc
    expect_in "$output" "verified"
}

@test "verify refuses, says why, and ends with 1" {
    "$DRAWBRIDGE" certs issue --dir "$D" --host localhost
    "$DRAWBRIDGE" certs issue --dir "$D-other" --host localhost
    run -1 "$DRAWBRIDGE" certs verify --ca-file "$D/ca.crt" --cert-file "$D/tls.crt" --host example.com
    expect_in "$output" 'the certificate does not hold for "example.com"'
    run -1 "$DRAWBRIDGE" certs verify --ca-file "$D-other/ca.crt" --cert-file "$D/tls.crt"
    expect_in "$output" "refused"
    run -1 "$DRAWBRIDGE" certs verify --ca-file "$D/ca.crt" --cert-file "$D/tls.crt" --key-file "$D-other/tls.key"
    expect_in "$output" "refused" "key"
    run -3 "$DRAWBRIDGE" certs verify --ca-file "$D/nothing" --cert-file "$D/tls.crt"
    expect_in "$output" "nothing"
}

@test "keys are private, the CA is used again, names are limited to what is asked" {
    "$DRAWBRIDGE" certs issue --dir "$D" --host localhost
    expect_equal "$(stat -c %a "$D/tls.key" "$D/ca.key" | tr '\n' ' ')" "600 600 "
    cp "$D/ca.crt" "$D/ca.before"
    run -0 "$DRAWBRIDGE" certs issue --dir "$D" --host 127.0.0.1 --host ::1
    cmp "$D/ca.crt" "$D/ca.before"
    run -0 "$DRAWBRIDGE" certs show -f "$D/tls.crt" -o json
    jq -e '.certificates[0].names | length == 2 and all(startswith("ip:"))' <<<"$output"
}

@test "openssl agrees, for each algorithm" {
    local algorithm
    for algorithm in ecdsa-p256 ecdsa-p384 rsa-2048 rsa-3072 ed25519; do
        run -0 "$DRAWBRIDGE" certs issue --dir "$D-$algorithm" --host localhost --algorithm "$algorithm"
        run -0 openssl verify -x509_strict -purpose sslserver -verify_hostname localhost -CAfile "$D-$algorithm/ca.crt" "$D-$algorithm/tls.crt"
        run -0 "$DRAWBRIDGE" certs verify --ca-file "$D-$algorithm/ca.crt" --cert-file "$D-$algorithm/tls.crt" --key-file "$D-$algorithm/tls.key" --host localhost
    done
}

@test "usage: exit 2 names what is missing" {
    run -2 "$DRAWBRIDGE" certs issue --dir "$D"
    expect_in "$output" "--host" "--service"
    run -2 "$DRAWBRIDGE" certs issue --dir "$D" --service drawbridge
    expect_in "$output" "--namespace"
    run -2 "$DRAWBRIDGE" certs issue --host localhost
    expect_in "$output" "--dir"
    run -2 "$DRAWBRIDGE" certs
    expect_in "$output" "issue"
    run -3 "$DRAWBRIDGE" certs show -f /dev/null
}
