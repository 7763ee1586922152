#!/usr/bin/env bats
# The Debian package: built twice with the same bytes, unpacked into a folder and run from there.

load ../lib/helpers

setup_file() {
    load ../lib/helpers
    "$REPO/server/package/build" >"$BATS_FILE_TMPDIR/deb"
    ROOT=$BATS_FILE_TMPDIR/root
    export ROOT
    dpkg-deb -x "$(cat "$BATS_FILE_TMPDIR/deb")" "$ROOT"
}

deb() { cat "$BATS_FILE_TMPDIR/deb"; }

@test "the same commit gives the same package" {
    cp "$(deb)" "$BATS_TEST_TMPDIR/first.deb"
    "$REPO/server/package/build"
    cmp "$BATS_TEST_TMPDIR/first.deb" "$(deb)"
}

@test "it says what it needs and what belongs to the administrator" {
    run -0 dpkg-deb -f "$(deb)" Depends
    expect_in "$output" libmicrohttpd12 libgnutls30 libssl3 libjansson4 libyaml-0-2 libcurl4 libsqlite3-0
    run -0 dpkg-deb --ctrl-tarfile "$(deb)"
    run -0 bash -c 'dpkg-deb --ctrl-tarfile "$1" | tar -xOf - ./conffiles' - "$(deb)"
    expect_equal "$output" /etc/drawbridge/config.yaml
    # Everything belongs to root, nothing can be written by others.
    run -0 bash -c 'dpkg-deb -c "$1" | grep -vE "^(-rwxr-xr-x|-rw-r--r--|drwxr-xr-x|lrwxrwxrwx) root/root" || true' - "$(deb)"
    expect_equal "$output" ""
}

@test "dpkg installs it into a root of its own, takes it out and purges it" {
    local admin=$BATS_TEST_TMPDIR/root flags
    mkdir -p "$admin/var/lib/dpkg/info" "$admin/var/lib/dpkg/updates" "$admin/etc"
    : >"$admin/var/lib/dpkg/status"
    # What it depends on is on the machine, not in that root; its scripts run without a change of root.
    flags=(--root="$admin" --force-depends --force-not-root --force-script-chrootless --log="$admin/log")
    run -0 dpkg "${flags[@]}" -i "$(deb)"
    run -0 dpkg-query --admindir="$admin/var/lib/dpkg" -W -f='${db:Status-Status}' drawbridge
    expect_equal "$output" installed
    [ -x "$admin/usr/bin/drawbridge" ]
    expect_in "$(cat "$admin/etc/passwd")" "drawbridge:x:"
    # Only the service's group may look into its settings.
    expect_equal "$(stat -c '%a %g' "$admin/etc/drawbridge/tls")" "750 $(sed -n 's/^drawbridge:x:\([0-9]*\):.*/\1/p' "$admin/etc/group")"
    run -0 dpkg "${flags[@]}" -r drawbridge
    [ ! -e "$admin/usr/bin/drawbridge" ]
    [ -e "$admin/etc/drawbridge/config.yaml" ]
    run -0 dpkg "${flags[@]}" -P drawbridge
    [ ! -e "$admin/etc/drawbridge" ]
}

@test "the program in it runs, and by the name of a kubectl plugin too" {
    run -0 "$ROOT/usr/bin/drawbridge" version
    expect_in "$output" "drawbridge $(dpkg-deb -f "$(deb)" Version)"
    run -0 "$ROOT/usr/bin/kubectl-drawbridge" explain unit-bytes-fraction
    expect_in "$output" unit-bytes-fraction
    run -1 "$ROOT/usr/bin/drawbridge" check -o junit -f "$REPO/e2e/cli/input/slices.yaml"
    expect_in "$output" "<testsuite"
}

@test "kubectl finds it as a plugin" {
    local kubectl
    kubectl=$("$REPO/e2e/cluster" build --kubernetes-version 1.37 --component kubectl)
    run -0 env PATH="$ROOT/usr/bin:$PATH" "$kubectl" plugin list
    expect_in "$output" "$ROOT/usr/bin/kubectl-drawbridge"
    run -0 env PATH="$ROOT/usr/bin:$PATH" "$kubectl" drawbridge version
    expect_in "$output" "drawbridge $(dpkg-deb -f "$(deb)" Version)"
}

@test "the man page is there by both names and shows without a warning" {
    local page=$ROOT/usr/share/man/man1
    run -0 env LC_ALL=C.UTF-8 MANWIDTH=100 man --warnings -l "$page/drawbridge.1.gz"
    expect_in "$output" "drawbridge serve [flags]" "--dynamic-serving-ca-secret-name" "DRAWBRIDGE_PORT"
    expect_not_in "$output" "warning:" "error:"
    expect_equal "$(readlink "$page/kubectl-drawbridge.1.gz")" drawbridge.1.gz
    gunzip -c "$page/drawbridge.1.gz" >"$BATS_TEST_TMPDIR/drawbridge.1"
    # It has no date, so that the same program prints the same page.
    run mandoc -Tlint -W warning "$BATS_TEST_TMPDIR/drawbridge.1"
    expect_equal "$(grep -v 'missing date' <<<"$output")" ""
}

@test "bash completes it" {
    run -0 bash --norc -c '
        . /usr/share/bash-completion/bash_completion
        BASH_COMPLETION_USER_DIR=/nonexistent XDG_DATA_DIRS=$1/usr/share _completion_loader drawbridge
        complete -p drawbridge
        COMP_WORDS=(drawbridge serve --dynamic-serving-ca-secret-n) COMP_CWORD=2 COMPREPLY=()
        _drawbridge
        printf "%s\n" "${COMPREPLY[@]}"' - "$ROOT"
    expect_in "$output" "-F _drawbridge" "--dynamic-serving-ca-secret-name" "--dynamic-serving-ca-secret-namespace"
}

@test "zsh completes it" {
    run -0 zsh -f -c '
        fpath=($1/usr/share/zsh/vendor-completions $fpath)
        autoload -Uz compinit
        compinit -D -u
        print -r -- ${_comps[drawbridge]}
        autoload -Uz +X _drawbridge
        functions _drawbridge' - "$ROOT"
    expect_in "$output" "_drawbridge" "check:judge manifests without a cluster"
    run -0 zsh -n "$ROOT/usr/share/zsh/vendor-completions/_drawbridge"
    expect_equal "$output" ""
}

@test "fish completes it" {
    run -0 env HOME="$BATS_TEST_TMPDIR" fish --no-config -c '
        source $argv[1]/usr/share/fish/vendor_completions.d/drawbridge.fish
        complete -C "drawbridge serve --dynamic-serving-ca-secret-n"
        complete -C "drawbridge fr"' "$ROOT"
    expect_in "$output" "--dynamic-serving-ca-secret-name" "--dynamic-serving-ca-secret-namespace" "freeze"
}

@test "the unit is well formed and shut off from the machine" {
    local unit=$BATS_TEST_TMPDIR/drawbridge.service
    sed "s|=/usr/bin/drawbridge |=$ROOT/usr/bin/drawbridge |" "$ROOT/usr/lib/systemd/system/drawbridge.service" >"$unit"
    run -0 systemd-analyze verify --man=no "$unit"
    expect_equal "$output" ""
    # 10 is everything open, 0 is everything shut: a service with the network cannot come to 0.
    run -0 systemd-analyze security --offline=true --threshold=15 "$unit"
}

@test "the settings that come with it start a server once there is a certificate" {
    local config=$BATS_TEST_TMPDIR/config.yaml tls=$BATS_TEST_TMPDIR/tls
    "$ROOT/usr/bin/drawbridge" certs issue --dir "$tls" --host localhost --host 127.0.0.1
    mkdir "$BATS_TEST_TMPDIR/journal"
    sed "s|/etc/drawbridge/tls|$tls|; s|/var/lib/drawbridge|$BATS_TEST_TMPDIR/journal|" "$ROOT/etc/drawbridge/config.yaml" >"$config"
    run -0 "$ROOT/usr/bin/drawbridge" serve --print-config --config "$ROOT/etc/drawbridge/config.yaml"
    expect_in "$output" "tlsCertFile: \"/etc/drawbridge/tls/tls.crt\" # file"
    SERVER_LOG=$BATS_TEST_TMPDIR/log
    "$ROOT/usr/bin/drawbridge" serve --config "$config" --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 \
        --shutdown-delay 0s --logging-format json >"$SERVER_LOG" 2>&1 3>&- &
    SERVER_PID=$!
    eventually 20 server_answers
    WEBHOOK=https://localhost:$(address_of address | sed 's/.*://') TLS_DIR=$tls
    run -0 post "$REPO/server/sample/reviews/slice-good.json"
    jq -e '.response.allowed' <<<"$output"
    stop_drawbridge
}
