#!/usr/bin/env bats
# The root file system of the image, started with nothing but itself: user 65534, read-only, without capabilities. Needs root,
# to mount and to change root.

load ../lib/helpers

setup_file() {
    load ../lib/helpers
    "$REPO/server/package/image" >"$BATS_FILE_TMPDIR/image"
    IMAGE=$(cat "$BATS_FILE_TMPDIR/image")
    ROOTFS=$BATS_FILE_TMPDIR/rootfs
    export IMAGE ROOTFS
    # As an engine would do it: the layers of the archive, unpacked.
    mkdir "$BATS_FILE_TMPDIR/oci" "$ROOTFS"
    tar -xf "$IMAGE" -C "$BATS_FILE_TMPDIR/oci"
    local layer
    for layer in $(blob "$(manifest)" | jq -r '.layers[].digest'); do blob "$layer" | tar -xzp --numeric-owner -C "$ROOTFS"; done
    mkdir "$BATS_FILE_TMPDIR/tls" "$BATS_FILE_TMPDIR/journal"
    "$DRAWBRIDGE" certs issue --dir "$BATS_FILE_TMPDIR/tls" --host localhost --host 127.0.0.1 >/dev/null
    chmod 755 "$BATS_FILE_TMPDIR/tls"
    chown 65534:65534 "$BATS_FILE_TMPDIR/tls/"* "$BATS_FILE_TMPDIR/journal"
}

blob() { cat "$BATS_FILE_TMPDIR/oci/blobs/${1/://}"; }
manifest() { jq -r '.manifests[0].digest' "$BATS_FILE_TMPDIR/oci/index.json"; }

# start_contained WORD…: runs the program in its root, in mounts, processes and names of its own; not in the network's.
start_contained() {
    SERVER_LOG=$(mktemp "$BATS_FILE_TMPDIR/server.XXXXXX")
    # shellcheck disable=SC2016 # the inner shell expands them
    unshare --mount --uts --ipc --propagation private bash -c '
        set -eu
        mount --bind "$1" "$1"
        mount -o remount,bind,ro,nosuid,nodev "$1"
        mount --bind /proc "$1/proc"
        mount -t tmpfs -o size=1m tmpfs "$1/tmp"
        mount --bind "$2/journal" "$1/var/lib/drawbridge"
        mkdir "$1/tmp/tls"
        mount --bind -o ro "$2/tls" "$1/tmp/tls"
        shift 2
        exec env -i PATH=/usr/bin setpriv --no-new-privs unshare --root="$0" --wd=/ --setgid 65534 --setuid 65534 "$@"' \
        "$ROOTFS" "$ROOTFS" "$BATS_FILE_TMPDIR" drawbridge "$@" >"$SERVER_LOG" 2>&1 3>&- &
    SERVER_PID=$!
}

@test "the archive is one that tools for images take: every digest is right" {
    local config
    jq -e '.imageLayoutVersion == "1.0.0"' "$BATS_FILE_TMPDIR/oci/oci-layout"
    (cd "$BATS_FILE_TMPDIR/oci/blobs/sha256" && sha256sum -c < <(for one in *; do echo "$one  $one"; done))
    config=$(blob "$(manifest)" | jq -r .config.digest)
    blob "$config" | jq -e '.config.User == "65534:65534" and .config.Entrypoint == ["/usr/bin/drawbridge"]'
    expect_equal "$(blob "$config" | jq -r '.rootfs.diff_ids[0]')" \
        "sha256:$(blob "$(blob "$(manifest)" | jq -r '.layers[0].digest')" | gunzip | sha256sum | cut -d' ' -f1)"
}

@test "the same commit gives the same image" {
    cp "$IMAGE" "$BATS_TEST_TMPDIR/first"
    "$REPO/server/package/image"
    cmp "$BATS_TEST_TMPDIR/first" "$IMAGE"
}

@test "there is no shell, nothing with a set bit, nothing that others may write but the folder for short-lived files" {
    run -0 find "$ROOTFS" -type f -perm /111 -not -name '*.so*' -printf '%P\n'
    expect_equal "$output" usr/bin/drawbridge
    run -0 find "$ROOTFS" -perm /6000
    expect_equal "$output" ""
    run -0 find "$ROOTFS" -not -type l -perm /022 -printf '%P\n'
    expect_equal "$output" tmp
    expect_equal "$(stat -c '%u:%g %a' "$ROOTFS/var/lib/drawbridge")" "65534:65534 700"
}

@test "it starts on a read-only root as user 65534 without capabilities, judges, and keeps its journal" {
    start_contained serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 --shutdown-delay 0s --logging-format json \
        --tls-cert-file /tmp/tls/tls.crt --tls-private-key-file /tmp/tls/tls.key --ledger-dir /var/lib/drawbridge --feed dir:/tmp
    eventually 20 server_answers || { cat "$SERVER_LOG" >&2; return 1; }
    run -0 grep -E '^(Uid|Gid|CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs):' "/proc/$SERVER_PID/status"
    expect_in "$output" "Uid:	65534	65534	65534	65534" "Gid:	65534	65534	65534	65534" "CapPrm:	0000000000000000" \
        "CapEff:	0000000000000000" "CapInh:	0000000000000000" "CapAmb:	0000000000000000" "NoNewPrivs:	1"
    expect_in "$(awk '$5 == "/" { print $6 }' "/proc/$SERVER_PID/mountinfo")" ro,nosuid,nodev
    WEBHOOK=https://localhost:$(address_of address | sed 's/.*://') TLS_DIR=$BATS_FILE_TMPDIR/tls
    run -0 post "$REPO/server/sample/reviews/slice-memory-500m.json"
    jq -e '.response.allowed == false and .response.status.code == 422' <<<"$output"
    eventually 10 test -s "$BATS_FILE_TMPDIR/journal/journal.db"
    stop_drawbridge
}

@test "a cluster can be spoken to from it: what is loaded by name is there" {
    cat >"$BATS_FILE_TMPDIR/tls/kubeconfig" <<YAML
apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "https://localhost:1", certificate-authority: /tmp/tls/ca.crt}}]
users: [{name: a, user: {token: abc}}]
YAML
    chown 65534:65534 "$BATS_FILE_TMPDIR/tls/kubeconfig"
    start_contained serve --bind-address 127.0.0.1 --port 0 --status-bind-address 127.0.0.1:0 --shutdown-delay 0s --logging-format json \
        --tls-cert-file /tmp/tls/tls.crt --tls-private-key-file /tmp/tls/tls.key --feed kube --kubeconfig /tmp/tls/kubeconfig
    # It asks, by a name that it looks up itself, and is told that nobody listens there.
    eventually 20 grep -iE "failed to connect to localhost|couldn.t connect|connection refused" "$SERVER_LOG"
    run -22 fetch "http://$(address_of status)/readyz"
    run -0 fetch "http://$(address_of status)/livez"
    stop_drawbridge
}
