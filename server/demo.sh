# shellcheck shell=bash disable=SC2154 # server/run assigns drawbridge and state
# Sourced by `server/run --demo`: sends the sample reviews to a fresh server and prints what a tenant would see.
# Expects $drawbridge and $state; stops the server that it started.

demo_dir=$(mktemp -d)
"$drawbridge" serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 \
    --tls-cert-file "$state/tls.crt" --tls-private-key-file "$state/tls.key" --kubernetes-version 1.36 \
    --feed dir:server/sample/cluster --ledger-dir "$demo_dir" --address-file "$demo_dir/addresses" 2>"$demo_dir/log" &
server=$!
stop_demo() {
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    rm -rf "$demo_dir"
}
trap stop_demo EXIT

for _ in $(seq 100); do
    [ -s "$demo_dir/addresses" ] && break
    sleep 0.1
done
webhook=$(sed -n 's/^webhook //p' "$demo_dir/addresses")
status=$(sed -n 's/^status //p' "$demo_dir/addresses")
if [ -z "$webhook" ] || ! curl -fsS --retry 20 --retry-delay 1 --retry-all-errors -o /dev/null "http://$status/readyz"; then
    cat "$demo_dir/log" >&2
    echo "the server did not start" >&2
    exit 1
fi

for review in server/sample/reviews/*.json; do
    answer=$(curl -fsS --cacert "$state/ca.crt" -H 'Content-Type: application/json' --data-binary "@$review" \
        "https://localhost:${webhook##*:}/validate")
    printf '\n%s\n' "$(basename "$review" .json)"
    jq -r '.response | (if .allowed then "  allowed" else "  denied (\(.status.code))" end),
        ((.warnings // [])[] | "  Warning: " + .),
        (if .allowed then empty else (.status.message | split("\n")[] | "  " + .) end)' <<<"$answer"
done
printf '\nverdicts by rule\n'
curl -fsS "http://$status/metrics" |
    sed -n 's/^drawbridge_rule_results_total{rule="\(.*\)",result="\(.*\)"} \([1-9].*\)/\1 \2 \3/p' |
    while read -r rule result count; do printf '  %-24s %-5s %s\n' "$rule" "$result" "$count"; done
if "$drawbridge" ledger show --ledger-dir "$demo_dir" >"$demo_dir/ledger" 2>/dev/null; then
    printf '\nledger\n'
    sed 's/^/  /' "$demo_dir/ledger"
fi
