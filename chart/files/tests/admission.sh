#!/bin/sh
# admission.sh NAMESPACE: a claim as anybody may write it is let in. Nothing is stored.
set -eu
kubectl -n "$1" create --dry-run=server -f - <<'YAML'
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
YAML
