# shellcheck shell=bash
# shellcheck disable=SC2034 # the lists are used by who sources this
# Sourced by server/run and e2e/run: the Debian packages that each needs, installed when missing.

BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config libmicrohttpd-dev libgnutls28-dev libssl-dev libjansson-dev
  libyaml-dev libcurl4-openssl-dev libsqlite3-dev libcriterion-dev curl jq ca-certificates"
TEST_PACKAGES="$BUILD_PACKAGES bats clang-14 clang-format-14 libclang-rt-14-dev llvm-14 shellcheck binutils python3 python3-yaml
  openssl git procps iproute2 sslscan"
# To build the .deb; and to look at what is in it.
PACKAGE_PACKAGES="dpkg-dev file binutils"
PACKAGE_TEST_PACKAGES="$PACKAGE_PACKAGES zsh fish mandoc man-db bash-completion systemd
  buildah mmdebstrap"
BENCH_PACKAGES="wrk nginx-light"

# need_packages NAME…: installs what is missing as root, else prints the one line that does it and ends with 3.
need_packages() {
    local missing=() name
    for name in "$@"; do
        dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        printf 'drawbridge needs these Debian packages; install them with\n  sudo apt-get install -y %s\n' "${missing[*]}" >&2
        exit 3
    fi
    printf 'installing %s\n' "${missing[*]}" >&2
    apt-get update -qq >&2
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# need_go: Go is not in Debian in the version that e2e/go.mod asks for.
need_go() {
    local wanted have
    wanted=$(sed -n 's/^go //p' e2e/go.mod)
    command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
    have=$(go env GOVERSION 2>/dev/null) || {
        echo "the tests need Go $wanted or newer in the PATH: see https://go.dev/doc/install" >&2
        return 3
    }
    # A Go from 1.21 on fetches the toolchain that a module asks for.
    case $have in
    go1.[0-9] | go1.[0-9].* | go1.1[0-9]* | go1.20*) echo "the tests need Go $wanted or newer, not $have" >&2; return 3 ;;
    esac
}

# build_preset PRESET [CMAKE-ARGUMENT …]: configures and builds build/PRESET, or only BUILD_TARGET of it; the log is
# shown when it fails.
build_preset() {
    local preset=$1 log
    shift
    log=$(mktemp)
    if ! { cmake -S . -B "build/$preset" -G Ninja -DPRESET="$preset" "$@" && ninja -C "build/$preset" "${BUILD_TARGET:-all}"; } >"$log" 2>&1; then
        tail -n 60 "$log" >&2
        rm -f "$log"
        echo "the $preset build failed" >&2
        return 1
    fi
    rm -f "$log"
}
