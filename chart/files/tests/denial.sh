#!/bin/sh
# denial.sh NAMESPACE: a claim that asks for less than nothing is denied, and by drawbridge. Nothing is stored.
set -eu
if said=$(
    kubectl -n "$1" create --dry-run=server -f - 2>&1 <<'YAML'
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: drawbridge-test
spec:
  devices:
    requests:
      - name: device
        exactly:
          deviceClassName: drawbridge-test
          capacity:
            requests:
              memory: "-1"
YAML
); then
    echo "let in, but must be denied: $said"
    exit 1
fi
case $said in
*'[unit-negative]'*) echo "denied, as it must be: $said" ;;
*)
    echo "refused, but not by drawbridge: $said"
    exit 1
    ;;
esac
