# shellcheck shell=bash
# What the suites of the chart share.

CHART=$REPO/chart
export CHART

# json: YAML documents on standard input as JSON, one a line, in their order.
json() {
    python3 -c 'import json, sys, yaml
for document in yaml.safe_load_all(sys.stdin):
    if document: print(json.dumps(document, default=str))'
}

# promtool ARGUMENT…: of the machine, else out of Debian's package, which is not installed for it: that would start a
# server.
promtool() {
    local kept=${DRAWBRIDGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drawbridge}/promtool scratch
    if type -P promtool >/dev/null; then
        command promtool "$@"
        return
    fi
    if [ ! -x "$kept" ]; then
        scratch=$(mktemp -d)
        (cd "$scratch" && apt-get download -q prometheus && dpkg -x prometheus_*.deb unpacked) >&2 || return 1
        mkdir -p "$(dirname "$kept")"
        mv "$scratch/unpacked/usr/bin/promtool" "$kept"
        rm -r "$scratch"
    fi
    "$kept" "$@"
}

# metric_names: of the expressions on standard input, those of drawbridge, its process and the API server.
metric_names() { grep -oE '\b(drawbridge|process|apiserver)_[a-z_]+\b' | sort -u; }

# free_port: a port of loopback on which nobody listens.
free_port() {
    python3 -c 'import socket
with socket.socket() as found:
    found.bind(("127.0.0.1", 0))
    print(found.getsockname()[1])'
}
