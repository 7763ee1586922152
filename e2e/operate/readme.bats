#!/usr/bin/env bats
# The README's walk through a held claim, run line by line as it is printed; the comment after each `review` is what the
# review must say. Only the folders in /tmp and the ports are replaced, so that it can run beside another server.

load ../lib/helpers

PORT=19443

# The code blocks of the section, one after the other, the server's before the commands of the second terminal.
block() {
    awk -v wanted="$1" '/^## /{ inside = /^## Watch a claim held/ } inside && /^```/ { open = !open; if (open) n++; next }
        inside && open && n == wanted' "$REPO/README.md" |
        sed "s,/tmp/cluster,$BATS_TEST_TMPDIR/cluster,g; s,/tmp/ledger,$BATS_TEST_TMPDIR/ledger,g; s,localhost:9443,localhost:$PORT,g"
}

setup() {
    cd "$REPO" || return
    PATH=$(dirname "$DRAWBRIDGE"):$PATH
    block 1 >"$BATS_TEST_TMPDIR/server"
    block 2 >"$BATS_TEST_TMPDIR/commands"
    DRAWBRIDGE_STATUS_BIND_ADDRESS=0 DRAWBRIDGE_PORT=$PORT bash -e "$BATS_TEST_TMPDIR/server" >"$BATS_TEST_TMPDIR/log" 2>&1 3>&- &
    SERVER_PID=$!
    eventually 120 grep -q Serving "$BATS_TEST_TMPDIR/log" || { cat "$BATS_TEST_TMPDIR/log" >&2; return 1; }
}

# The shell that ran the block ends with its child, the server.
teardown() {
    pkill -TERM -P "$SERVER_PID" || true
    wait "$SERVER_PID" || true
}

# review_says TEXT: the answer is a denial that starts with the text, or an admission when the text says "allowed".
review_says() {
    local answer
    answer=$(review | jq -r '.response | if .allowed then "allowed" else .status.message end')
    case $1 in
    *allowed*) [ "$answer" = allowed ] || fail "$answer" ;;
    *) [[ $answer == "${1%% …*}"* ]] || fail "have: $answer" "want: $1" ;;
    esac
}

@test "the README's walk says what it promises, line by line" {
    local line text reviews=0
    eval "$(sed -n '/^review()/,/}$/p' "$BATS_TEST_TMPDIR/commands")"
    while IFS= read -r line; do
        text=${line#*# }
        case $line in
        review\ *)
            eventually 15 review_says "$text"
            reviews=$((reviews + 1))
            ;;
        *'ledger show'*) expect_in "$(eval "$line")" node-b ;;
        *) eval "$line" >/dev/null ;;
        esac
    done < <(sed '/^review()/,/}$/d; /^$/d' "$BATS_TEST_TMPDIR/commands")
    [ "$reviews" -eq 4 ] || fail "the README has $reviews reviews"
}
