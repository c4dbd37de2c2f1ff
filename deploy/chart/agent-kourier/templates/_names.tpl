{{/* The start of all names. Short enough for what is added to it. */}}
{{- define "agent-kourier.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* The name of objects that belong to no namespace: two releases may have the same name in two namespaces. */}}
{{- define "agent-kourier.clusterName" -}}
{{- printf "%s.%s" (include "agent-kourier.name" .) .Release.Namespace -}}
{{- end -}}

{{- define "agent-kourier.chosen" -}}
app.kubernetes.io/name: agent-kourier
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "agent-kourier.labels" -}}
{{ include "agent-kourier.chosen" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "agent-kourier.account" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "agent-kourier.name" .) }}
{{- else -}}
{{ required "serviceAccount.name: name the account that exists, or set serviceAccount.create" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{- define "agent-kourier.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The Lease that the replicas compete for. The program makes the same name. */}}
{{- define "agent-kourier.lease" -}}
agent-kourier-{{ .Values.settings.broker }}
{{- end -}}

{{/* The broker's account, as a role is bound to it. */}}
{{- define "agent-kourier.subject" -}}
- kind: ServiceAccount
  name: {{ include "agent-kourier.account" . }}
  namespace: {{ .Release.Namespace }}
{{- end -}}
