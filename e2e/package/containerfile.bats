#!/usr/bin/env bats
# server/Containerfile built by buildah, which is no engine and no daemon, on a Debian 12 that is made here from its packages
# because no registry of images may be in reach. Both ways to an image end in the same files.

load ../lib/helpers

b() { buildah --root "$BATS_FILE_TMPDIR/storage" --runroot "$BATS_FILE_TMPDIR/run" --storage-driver vfs "$@"; }
# files FOLDER: every name in it, with mode and owner.
files() { (cd "$1" && find . -mindepth 1 -printf '%P %y %m %U:%G\n' | sort); }

setup_file() {
    load ../lib/helpers
    local container
    mmdebstrap --mode=auto --variant=minbase --include=ca-certificates bookworm "$BATS_FILE_TMPDIR/debian.tar"
    container=$(b from scratch)
    b add -q "$container" "$BATS_FILE_TMPDIR/debian.tar" /
    b commit -q --rm "$container" localhost/debian:12-slim
    mkdir "$BATS_FILE_TMPDIR/source"
    # What is in the working tree, without what was built.
    (cd "$REPO" && git ls-files -z -co --exclude-standard | tar --null -T - -cf -) | tar -xf - -C "$BATS_FILE_TMPDIR/source"
    b build -q --isolation chroot --build-arg BASE=localhost/debian:12-slim -f "$BATS_FILE_TMPDIR/source/server/Containerfile" \
        -t drawbridge "$BATS_FILE_TMPDIR/source"
}

teardown_file() {
    load ../lib/helpers
    b umount -a
    b rm -a
    b rmi -a -f
}

@test "it runs as user 65534 from a root that holds what the other way puts there" {
    local built loaded
    b inspect --type image localhost/drawbridge |
        jq -e '.OCIv1.config | .User == "65534:65534" and .Entrypoint == ["/usr/bin/drawbridge"] and .Env == ["PATH=/usr/bin"]'
    built=$(b mount "$(b from --pull-never localhost/drawbridge)")
    loaded=$(b mount "$(b from --pull-never "oci-archive:$("$REPO/server/package/image")")")
    diff <(files "$built") <(files "$loaded")
}

@test "both images start" {
    local container
    for container in $(b containers -q); do
        run -0 b run --isolation chroot "$container" -- /usr/bin/drawbridge version
        expect_in "$output" "drawbridge " "libcurl "
        run -0 b run --isolation chroot "$container" -- /usr/bin/drawbridge explain unit-bytes-fraction
    done
}
