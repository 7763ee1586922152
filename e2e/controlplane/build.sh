# shellcheck shell=bash disable=SC2154 # e2e/cluster assigns `controlplane`
# SPDX-License-Identifier: Apache-2.0
# Builds the programs of a control plane from Go modules, each into a cache
# outside the repository. Sourced by e2e/cluster; defines functions only.
#
# The one place that states a version is the go.mod of a component's folder.

# What each component is: folder of its go.mod (MINOR stands for 1.36, 1.37, …),
# Go package, module that carries the version.
declare -A component_folder=(
  [etcd]=etcd
  [helm]=helm
  [helm4]=helm4
  [kube-apiserver]=MINOR
  [kube-scheduler]=MINOR
  [kube-controller-manager]=MINOR
  [kubectl]=MINOR
)
declare -A component_package=(
  [etcd]=go.etcd.io/etcd/server/v3
  [helm]=helm.sh/helm/v3/cmd/helm
  [helm4]=helm.sh/helm/v4/cmd/helm
  [kube-apiserver]=k8s.io/kubernetes/cmd/kube-apiserver
  [kube-scheduler]=k8s.io/kubernetes/cmd/kube-scheduler
  [kube-controller-manager]=k8s.io/kubernetes/cmd/kube-controller-manager
  [kubectl]=k8s.io/kubernetes/cmd/kubectl
)
declare -A component_module=(
  [etcd]=go.etcd.io/etcd/server/v3
  [helm]=helm.sh/helm/v3
  [helm4]=helm.sh/helm/v4
  [kube-apiserver]=k8s.io/kubernetes
  [kube-scheduler]=k8s.io/kubernetes
  [kube-controller-manager]=k8s.io/kubernetes
  [kubectl]=k8s.io/kubernetes
)

cache_dir() {
  printf '%s\n' "${DRAWBRIDGE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/drawbridge}"
}

# Prints the full name of a component; the kube- prefix may be left out.
component_name() {
  local name=$1
  if [[ -z ${component_package[$name]:-} && -n ${component_package[kube-$name]:-} ]]; then
    name=kube-$name
  fi
  if [[ -z ${component_package[$name]:-} ]]; then
    fail "unknown component \"$1\"; known: ${!component_package[*]}"
  fi
  printf '%s\n' "$name"
}

# Minors that can be built: the folders that hold a go.mod with Kubernetes in it.
known_minors() {
  local mod
  for mod in "$controlplane"/[0-9]*/go.mod; do
    basename "$(dirname "$mod")"
  done
}

component_mod_dir() { # MINOR COMPONENT
  printf '%s\n' "$controlplane/${component_folder[$2]/MINOR/$1}"
}

component_version() { # MINOR COMPONENT
  awk -v module="${component_module[$2]}" \
    '{ sub(/^require[ \t]+/, "") } $1 == module { print $2; exit }' \
    "$(component_mod_dir "$1" "$2")/go.mod"
}

# True when $1 is at least $2, both dotted numbers.
version_at_least() {
  [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]
}

# Sets go_program to a go command that is new enough, installing Debian's
# package when that one would be, else fails with one line that says what to do.
find_go() {
  local need=$1 candidate have='none' package
  for candidate in "${GO:-}" go /usr/local/go/bin/go "/usr/lib/go-${need%.*}/bin/go"; do
    if [[ -n $candidate ]] && command -v "$candidate" >/dev/null; then
      have=$(GOTOOLCHAIN=local "$candidate" env GOVERSION 2>/dev/null | sed 's/^go//; s/[ -].*//')
      if [[ -n $have ]] && version_at_least "$have" "$need"; then
        go_program=$(command -v "$candidate")
        return
      fi
    fi
  done
  package=golang-${need%.*}-go
  if [[ $(id -u) == 0 ]] && apt-cache show "$package" >/dev/null 2>&1; then
    say "installing $package"
    apt-get install -y -qq --no-install-recommends "$package" >&2
    go_program=/usr/lib/go-${need%.*}/bin/go
    return
  fi
  fail "Go $need or newer is needed (found: $have). Install it and put it in PATH or in \$GO," \
    "or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver."
}

# Prints the version that a ready-made program reports, in the form of go.mod.
reported_version() { # COMPONENT PROGRAM
  local text
  case $1 in
    etcd) text=$("$2" --version | sed -n 's/^etcd Version: /v/p') ;;
    helm*) text=$("$2" version --template '{{.Version}}') ;;
    kubectl) text=$("$2" version --client | sed -n 's/^Client Version: //p') ;;
    *) text=$("$2" --version | sed -n 's/^Kubernetes //p') ;;
  esac
  printf '%s\n' "$text"
}

# Prints the path of a program in KUBEBUILDER_ASSETS when its version is the
# wanted one. Any etcd of the same minor will do: it only has to store.
ready_made() { # MINOR COMPONENT
  local program=${KUBEBUILDER_ASSETS:-}/$2 have want
  if [[ -z ${KUBEBUILDER_ASSETS:-} || ! -x $program ]]; then
    return 1
  fi
  have=$(reported_version "$2" "$program" 2>/dev/null)
  want=$(component_version "$1" "$2")
  if [[ $have == "$want" ]] || [[ $2 == etcd && ${have%.*} == "${want%.*}" ]]; then
    printf '%s\n' "$program"
    return 0
  fi
  say "$program is ${have:-of an unknown version}, not $want: building instead"
  return 1
}

linker_flags() { # MINOR COMPONENT
  local version
  version=$(component_version "$1" "$2")
  case $2 in
    etcd) printf -- '-s -w' ;;
    helm*) printf -- '-s -w -X %s/internal/version.version=%s' "${component_module[$2]}" "$version" ;;
    *)
      local at=k8s.io/component-base/version
      printf -- '-s -w -X %s.gitVersion=%s -X %s.gitMajor=%s -X %s.gitMinor=%s' \
        "$at" "$version" "$at" "${1%%.*}" "$at" "${1#*.}"
      ;;
  esac
}

# Prints the path of the built program; builds it when the cache has none for
# these versions, this go.mod and this compiler.
build_component() { # MINOR COMPONENT
  local minor=$1 component=$2 dir flags version key program go_program=''
  if ready_made "$minor" "$component"; then
    return
  fi
  dir=$(component_mod_dir "$minor" "$component")
  flags=$(linker_flags "$minor" "$component")
  version=$(component_version "$minor" "$component")
  find_go "$(awk '$1 == "go" { print $2; exit }' "$dir/go.mod")"
  key=$(
    {
      cat "$dir/go.mod" "$dir/go.sum"
      printf '%s\n' "$flags"
      GOTOOLCHAIN=local "$go_program" env GOVERSION GOOS GOARCH
    } | sha256sum | cut -c 1-12
  )
  program=$(cache_dir)/bin/$component-$version-$key
  mkdir -p "$(dirname "$program")"
  (
    # One build at a time; whoever waits here finds the program ready.
    flock 9
    if [[ ! -x $program ]]; then
      say "building $component $version (the first time takes minutes)"
      (
        cd "$dir"
        GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS="-mod=readonly -buildvcs=false" nice \
          "$go_program" build -p "${DRAWBRIDGE_BUILD_JOBS:-2}" -trimpath -ldflags "$flags" \
          -o "$program.part" "${component_package[$component]}"
      ) >&2 || fail "cannot build $component $version"
      mv "$program.part" "$program"
    fi
  ) 9>"$(cache_dir)/build.lock"
  printf '%s\n' "$program"
}
