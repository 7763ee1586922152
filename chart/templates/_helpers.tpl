{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{- define "drawbridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "drawbridge.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "drawbridge.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "drawbridge.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "drawbridge.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "drawbridge.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Selectors never change between releases. */}}
{{- define "drawbridge.selectorLabels" -}}
app.kubernetes.io/name: {{ include "drawbridge.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end -}}

{{- define "drawbridge.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "drawbridge.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: drawbridge
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "drawbridge.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{- define "drawbridge.inCluster" -}}
{{- if not .Values.webhook.url }}yes{{ end -}}
{{- end -}}

{{/* The Secret: of the CA in mode self, else of the serving certificate. */}}
{{- define "drawbridge.secretName" -}}
{{- if .Values.certs.secretName -}}
{{- .Values.certs.secretName -}}
{{- else if eq .Values.certs.mode "self" -}}
{{- printf "%s-ca" (include "drawbridge.fullname" . | trunc 60) -}}
{{- else -}}
{{- printf "%s-tls" (include "drawbridge.fullname" . | trunc 59) -}}
{{- end -}}
{{- end -}}

{{- define "drawbridge.dnsNames" -}}
{{- $service := include "drawbridge.fullname" . -}}
{{- $namespace := include "drawbridge.namespace" . -}}
{{- $names := list (printf "%s.%s.svc" $service $namespace) (printf "%s.%s.svc.cluster.local" $service $namespace) (printf "%s.%s" $service $namespace) $service -}}
{{- if .Values.webhook.url -}}
{{- $names = list (regexReplaceAll "^\\[?([^]]*?)\\]?(:[0-9]+)?$" (urlParse .Values.webhook.url).host "${1}") -}}
{{- end -}}
{{- concat $names .Values.certs.dnsNames | uniq | toJson -}}
{{- end -}}

{{/* Annotations of webhook configurations: who fills in their caBundle. */}}
{{- define "drawbridge.webhookAnnotations" -}}
{{- if and (eq .Values.certs.mode "cert-manager") (include "drawbridge.inCluster" .) -}}
annotations:
  cert-manager.io/inject-ca-from: {{ include "drawbridge.namespace" . }}/{{ include "drawbridge.fullname" . }}
{{- end -}}
{{- end -}}

{{/* Whether Pods may get scheduling gates. */}}
{{- define "drawbridge.hasGates" -}}
{{- if and .Values.webhook.pods.enabled (or .Values.canary.namespaces .Values.rbac.patchPodsInEveryNamespace) }}yes{{ end -}}
{{- end -}}

{{/* What every webhook has: dict root, path. */}}
{{- define "drawbridge.webhookCommon" -}}
admissionReviewVersions: [v1]
sideEffects: NoneOnDryRun
matchPolicy: Equivalent
timeoutSeconds: {{ .root.Values.webhook.timeoutSeconds }}
clientConfig:
  {{- if .root.Values.webhook.url }}
  url: {{ printf "%s%s" (.root.Values.webhook.url | trimSuffix "/") .path | quote }}
  {{- else }}
  service:
    name: {{ include "drawbridge.fullname" .root }}
    namespace: {{ include "drawbridge.namespace" .root }}
    port: {{ .root.Values.service.port }}
    path: {{ .path }}
  {{- end }}
  {{- with .root.Values.certs.caBundle }}
  caBundle: {{ b64enc . }}
  {{- end }}
{{- with .root.Values.webhook.objectSelector }}
objectSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Match conditions of the values, below those of the chart: dict root, conditions. */}}
{{- define "drawbridge.moreConditions" -}}
{{- with concat .root.Values.webhook.matchConditions (default list .conditions) -}}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{/*
Neither kube-system nor our own namespace, told by the name label that nobody can change: whatever happens to drawbridge,
the control plane's Pods and drawbridge's own can be made. Dict root, expressions.
*/}}
{{- define "drawbridge.namespaceSelector" -}}
{{- $outside := concat (list "kube-system" (include "drawbridge.namespace" .root)) .root.Values.webhook.excludedNamespaces | uniq -}}
{{- $expressions := list (dict "key" "kubernetes.io/metadata.name" "operator" "NotIn" "values" $outside) -}}
namespaceSelector:
  matchExpressions:
    {{- toYaml (concat $expressions (default list .expressions) .root.Values.webhook.namespaceSelector) | nindent 4 }}
{{- end -}}

{{/*
The canary as namespace selectors: one by label, one by name for those without the label. A list of {name, expressions};
dict root, all: whether the label counts.
*/}}
{{- define "drawbridge.canary" -}}
{{- $label := "drawbridge.dev/canary" -}}
{{- $parts := list -}}
{{- if .all -}}
{{- $parts = append $parts (dict "name" "" "expressions" (list (dict "key" $label "operator" "In" "values" (list "true")))) -}}
{{- end -}}
{{- with .root.Values.canary.namespaces -}}
{{- $expressions := list (dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" .) -}}
{{- if $.all -}}
{{- $expressions = append $expressions (dict "key" $label "operator" "NotIn" "values" (list "true")) -}}
{{- end -}}
{{- $parts = append $parts (dict "name" "-by-name" "expressions" $expressions) -}}
{{- end -}}
{{- toJson $parts -}}
{{- end -}}

{{/* A binding to our ServiceAccount: dict root, kind, name, namespace, role, roleName. */}}
{{- define "drawbridge.binding" }}
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ .kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "drawbridge.labels" .root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ .role }}
  name: {{ .roleName }}
subjects:
  - kind: ServiceAccount
    name: {{ include "drawbridge.serviceAccountName" .root }}
    namespace: {{ include "drawbridge.namespace" .root }}
{{- end -}}

{{/* The canary namespace in which `helm test` asks. */}}
{{- define "drawbridge.testNamespace" -}}
{{- default (first .Values.canary.namespaces) .Values.tests.namespace -}}
{{- end -}}

{{- define "drawbridge.testLabels" -}}
{{- include "drawbridge.labels" . | replace "component: webhook" "component: test" -}}
{{- end -}}

{{/* The weight in the order of hooks. */}}
{{- define "drawbridge.testAnnotations" -}}
helm.sh/hook: test
helm.sh/hook-weight: {{ . | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
