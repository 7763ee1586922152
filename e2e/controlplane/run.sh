# shellcheck shell=bash disable=SC2154 # e2e/cluster assigns the inputs named below
# SPDX-License-Identifier: Apache-2.0
# Starts, watches and ends the processes of a control plane whose state is one
# folder. Sourced by e2e/cluster; defines functions only.
#
# Inputs are the variables that e2e/cluster sets: state_dir, minor, ttl_s,
# timeout_s, components, gates, runtime_config, disabled_plugins, users, extra_args.

# A folder is ours, and may be removed, only when it holds this file.
readonly marker=.drawbridge-control-plane

# Ends later ones first.
readonly start_order=(etcd kube-apiserver kube-controller-manager kube-scheduler)

# ---- processes ----

# A pid is used again by the system; pid and start time together are not.
start_time_of() { # PID
  local line
  { line=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  line=${line##*) } # the name in brackets may hold blanks
  awk '{ print $20 }' <<<"$line"
}

# Prints the pid when the recorded process still runs.
running_pid() { # NAME
  local pid started
  { read -r pid started <"$state_dir/pids/$1"; } 2>/dev/null || return 1
  if [[ $(start_time_of "$pid") == "$started" ]]; then
    printf '%s\n' "$pid"
  else
    return 1
  fi
}

record_pid() { # NAME PID
  printf '%s %s\n' "$2" "$(start_time_of "$2")" >"$state_dir/pids/$1"
}

# Runs a program in a session of its own, without any open file of ours: a
# caller that reads our output to its end must not wait for the server.
start_process() { # NAME PROGRAM ARG...
  local name=$1 fd
  shift
  printf '%s\0' "$@" >"$state_dir/pids/$name.command"
  (
    for fd in "/proc/$BASHPID/fd/"*; do
      fd=${fd##*/}
      if ((fd > 2)); then
        eval "exec $fd>&-"
      fi
    done
    exec setsid "$@" </dev/null >>"$state_dir/logs/$name.log" 2>&1
  ) &
  record_pid "$name" $!
}

stop_process() { # NAME
  local pid tries
  if pid=$(running_pid "$1"); then
    kill -TERM "$pid" 2>/dev/null || true
    for ((tries = 0; tries < 100; tries++)); do
      running_pid "$1" >/dev/null || break
      sleep 0.1
    done
    if running_pid "$1" >/dev/null; then
      kill -KILL "$pid" 2>/dev/null || true
    fi
  fi
  rm -f "$state_dir/pids/$1"
}

# Ends a process at once, as a crash does, and starts it as it was started before.
restart_process() { # NAME
  local pid
  local -a argv
  mapfile -d '' -t argv <"$state_dir/pids/$1.command"
  if pid=$(running_pid "$1"); then
    kill -KILL "$pid"
    while running_pid "$1" >/dev/null; do
      sleep 0.05
    done
  fi
  start_process "$1" "${argv[@]}"
}

stop_all() {
  local i
  for ((i = ${#start_order[@]} - 1; i >= 0; i--)); do
    stop_process "${start_order[i]}"
  done
}

# Ends the whole attempt with the last lines of the log of what failed.
start_failed() { # NAME WHAT
  say "$1 $2; the last lines of $state_dir/logs/$1.log:"
  tail -n 25 "$state_dir/logs/$1.log" >&2 || true
  stop_all
  stop_process watchdog
  fail "the control plane did not start (everything was stopped; the logs are kept)"
}

# Waits until a URL answers 200, the process ends, or the time is up.
wait_healthy() { # NAME URL
  local until=$((SECONDS + timeout_s))
  while ((SECONDS < until)); do
    if ! running_pid "$1" >/dev/null; then
      start_failed "$1" "ended"
    fi
    if ask "$2" >/dev/null 2>&1; then
      return
    fi
    sleep 0.2
  done
  start_failed "$1" "was not ready within $timeout_s s"
}

# GET with the administrator's token where there is a server certificate yet.
ask() { # URL
  local with=()
  if [[ $1 == "$(server_url)"/* ]]; then
    with=(--cacert "$state_dir/tls/apiserver.crt" -H "@$state_dir/auth-header")
  elif [[ $1 == https:* ]]; then
    with=(--insecure)
  fi
  curl --silent --show-error --fail --noproxy '*' --max-time 5 "${with[@]}" "$1"
}

# ---- ports ----

# A port on loopback that nobody listens on, below the range that the system
# gives to outgoing connections.
free_port() {
  local port tries
  for ((tries = 0; tries < 200; tries++)); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if [[ " ${used_ports[*]:-} " != *" $port "* ]] &&
      ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      used_ports+=("$port")
      new_port=$port
      return
    fi
  done
  fail "no free port on 127.0.0.1 between 20000 and 31999"
}

choose_ports() {
  local name new_port
  used_ports=()
  declare -gA port=()
  for name in etcd_client etcd_peer apiserver scheduler controller_manager; do
    free_port
    port[$name]=$new_port
  done
}

server_url() {
  printf 'https://127.0.0.1:%s' "${port[apiserver]:-0}"
}

# ---- files ----

random_token() {
  od -An -N 24 -t x1 /dev/urandom | tr -d ' \n'
}

# Creates one user: a token, and a kubeconfig that uses it.
add_user() { # NAME GROUPS
  local name=$1 file=${1##*:} token
  token=$(random_token)
  printf '%s\n' "$token" >"$state_dir/tokens/$file"
  if [[ -n $2 ]]; then
    printf '%s,%s,%s,"%s"\n' "$token" "$name" "$name" "$2" >>"$state_dir/tokens.csv"
  else
    printf '%s,%s,%s\n' "$token" "$name" "$name" >>"$state_dir/tokens.csv"
  fi
}

write_kubeconfig() { # TOKEN FILE
  cat >"$2" <<YAML
apiVersion: v1
kind: Config
clusters:
  - name: e2e
    cluster:
      server: $(server_url)
      certificate-authority: $state_dir/tls/apiserver.crt
users:
  - name: user
    user:
      token: $1
contexts:
  - name: e2e
    context: {cluster: e2e, user: user}
current-context: e2e
YAML
}

write_kubeconfigs() {
  local token name
  for token in "$state_dir"/tokens/*; do
    name=$(basename "$token")
    write_kubeconfig "$(<"$token")" "$state_dir/kubeconfigs/$name"
  done
  printf 'Authorization: Bearer %s\n' "$(<"$state_dir/tokens/admin")" >"$state_dir/auth-header"
}

prepare_state() {
  local user
  mkdir -p "$state_dir"
  chmod 700 "$state_dir"
  find "$state_dir" -mindepth 1 -delete
  mkdir "$state_dir"/{pids,logs,tls,tokens,kubeconfigs,bin}
  : >"$state_dir/$marker"
  add_user admin system:masters
  add_user system:kube-scheduler ''
  add_user system:kube-controller-manager ''
  for user in "${users[@]}"; do
    add_user "${user%%=*}" "$([[ $user == *=* ]] && printf '%s' "${user#*=}")"
  done
  openssl genrsa -out "$state_dir/service-account.key" 2048 2>/dev/null
}

# What another program needs to use the control plane, as shell assignments.
write_env() {
  {
    printf 'export KUBECONFIG=%q\n' "$state_dir/kubeconfigs/admin"
    printf 'export DRAWBRIDGE_KUBE_SERVER=%q\n' "$(server_url)"
    printf 'export DRAWBRIDGE_KUBE_TOKEN_FILE=%q\n' "$state_dir/tokens/admin"
    printf 'export DRAWBRIDGE_KUBE_CA_FILE=%q\n' "$state_dir/tls/apiserver.crt"
    printf 'export DRAWBRIDGE_KUBE_VERSION=%q\n' "$(component_version "$minor" kube-apiserver)"
    printf 'export DRAWBRIDGE_KUBE_DIR=%q\n' "$state_dir"
    printf 'export DRAWBRIDGE_KUBE_BIN=%q\n' "$state_dir/bin"
  } >"$state_dir/env"
}

# ---- components ----

# Puts the extra arguments given for a component into `extra`.
extra_for() { # NAME
  local pair
  extra=()
  for pair in "${extra_args[@]}"; do
    if [[ ${pair%%=*} == "$1" ]]; then
      extra+=("${pair#*=}")
    fi
  done
}

start_etcd() {
  local client=http://127.0.0.1:${port[etcd_client]} peer=http://127.0.0.1:${port[etcd_peer]}
  extra_for etcd
  start_process etcd "$state_dir/bin/etcd" --name=e2e --data-dir="$state_dir/etcd" \
    --listen-client-urls="$client" --advertise-client-urls="$client" \
    --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" \
    --initial-cluster="e2e=$peer" --unsafe-no-fsync --log-level=warn "${extra[@]}"
  wait_healthy etcd "$client/health"
}

start_apiserver() {
  local args=()
  if [[ -n $runtime_config ]]; then
    args+=(--runtime-config="$runtime_config")
  fi
  extra_for kube-apiserver
  start_process kube-apiserver "$state_dir/bin/kube-apiserver" \
    --etcd-servers="http://127.0.0.1:${port[etcd_client]}" \
    --bind-address=127.0.0.1 --secure-port="${port[apiserver]}" \
    --advertise-address=127.0.0.1 --endpoint-reconciler-type=none \
    --cert-dir="$state_dir/tls" \
    --service-account-key-file="$state_dir/service-account.key" \
    --service-account-signing-key-file="$state_dir/service-account.key" \
    --service-account-issuer=https://kubernetes.default.svc \
    --token-auth-file="$state_dir/tokens.csv" \
    --authorization-mode=Node,RBAC \
    --service-cluster-ip-range=10.96.0.0/24 --allow-privileged=true \
    --disable-admission-plugins="$disabled_plugins" \
    --feature-gates="$gates" "${args[@]}" "${extra[@]}"
  wait_healthy kube-apiserver "$(server_url)/readyz"
}

# The node-lifecycle controller is left out: it would taint nodes that have no
# kubelet to renew their Lease.
start_controller_manager() {
  extra_for kube-controller-manager
  start_process kube-controller-manager "$state_dir/bin/kube-controller-manager" \
    --kubeconfig="$state_dir/kubeconfigs/kube-controller-manager" \
    --authentication-kubeconfig="$state_dir/kubeconfigs/kube-controller-manager" \
    --authorization-kubeconfig="$state_dir/kubeconfigs/kube-controller-manager" \
    --bind-address=127.0.0.1 --secure-port="${port[controller_manager]}" \
    --cert-dir="$state_dir/tls/controller-manager" --leader-elect=false \
    --service-account-private-key-file="$state_dir/service-account.key" \
    --use-service-account-credentials=true \
    --controllers='*,-node-lifecycle-controller' \
    --feature-gates="$gates" "${extra[@]}"
  wait_healthy kube-controller-manager "https://127.0.0.1:${port[controller_manager]}/healthz"
}

start_scheduler() {
  extra_for kube-scheduler
  start_process kube-scheduler "$state_dir/bin/kube-scheduler" \
    --kubeconfig="$state_dir/kubeconfigs/kube-scheduler" \
    --authentication-kubeconfig="$state_dir/kubeconfigs/kube-scheduler" \
    --authorization-kubeconfig="$state_dir/kubeconfigs/kube-scheduler" \
    --bind-address=127.0.0.1 --secure-port="${port[scheduler]}" \
    --cert-dir="$state_dir/tls/scheduler" --leader-elect=false \
    --feature-gates="$gates" "${extra[@]}"
  wait_healthy kube-scheduler "https://127.0.0.1:${port[scheduler]}/readyz"
}

start_components() {
  local name
  write_kubeconfigs
  write_env
  for name in "${components[@]}"; do
    case $name in
      etcd) start_etcd ;;
      kube-apiserver) start_apiserver ;;
      kube-controller-manager) start_controller_manager ;;
      kube-scheduler) start_scheduler ;;
    esac
  done
}
