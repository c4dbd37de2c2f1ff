{{/* Not empty if the objects are read from the cluster. */}}
{{- define "agent-kourier.crds" -}}
{{- if eq .Values.settings.config.source "crds" }}true{{ end -}}
{{- end -}}

{{/* Not empty if replicas elect a leader. */}}
{{- define "agent-kourier.elects" -}}
{{- if eq .Values.settings.store "kubernetes" }}true{{ end -}}
{{- end -}}

{{- define "agent-kourier.replicas" -}}
{{- if kindIs "invalid" .Values.replicas -}}
{{ ternary 2 1 (eq .Values.settings.store "kubernetes") }}
{{- else -}}
{{ int .Values.replicas }}
{{- end -}}
{{- end -}}

{{/* What values may not say together. The schema has what one value may not say alone. */}}
{{- define "agent-kourier.check" -}}
{{- $source := .Values.settings.config.source -}}
{{- $store := .Values.settings.store -}}
{{- if and (eq $store "sqlite") (gt (int (include "agent-kourier.replicas" .)) 1) -}}
{{- fail "replicas: with settings.store sqlite one replica holds the file and nothing is elected: set replicas to 1, or settings.store to kubernetes" -}}
{{- end -}}
{{- if and (eq $source "files") (eq $store "kubernetes") -}}
{{- fail "settings.store: kubernetes keeps last good specs beside the Bindings of a cluster: with settings.config.source files, set it to sqlite" -}}
{{- end -}}
{{- if and (eq $source "files") (not .Values.files.configMap) -}}
{{- fail "files.configMap: with settings.config.source files, name the ConfigMap that has the manifests" -}}
{{- end -}}
{{- if and (eq $source "crds") (or .Values.files.configMap .Values.files.secrets) -}}
{{- fail "files: is only read with settings.config.source files: remove it, or set the source" -}}
{{- end -}}
{{- if and .Values.prometheusRule.enabled (not .Values.prometheusRule.runbook) -}}
{{- fail "prometheusRule.runbook: write the address at which you keep docs/alerts.md, such as https://wiki.example/agent-kourier" -}}
{{- end -}}
{{- if and .Values.components.path (not .Values.components.volume) -}}
{{- fail "components.path: is a folder in components.volume: say which volume" -}}
{{- end -}}
{{- end -}}

{{/* The settings file. */}}
{{- define "agent-kourier.settings" -}}
{{- $settings := deepCopy .Values.settings -}}
{{- $_ := set $settings "admin" (dict "listen" (printf "%s:%d" .Values.admin.host (int .Values.admin.port))) -}}
{{- $_ := set $settings.config "dir" "/etc/agent-kourier/config" -}}
{{- $_ := set $settings "secrets" (dict "dir" "/etc/agent-kourier/secrets") -}}
{{- if eq $settings.store "sqlite" -}}
{{- $_ := set $settings "storePath" "/var/lib/agent-kourier/store.db" -}}
{{- end -}}
{{- if .Values.components.volume -}}
{{- $path := printf "/etc/agent-kourier/components/%s" .Values.components.path | trimSuffix "/" -}}
{{- $_ := set $settings "components" (dict "dir" $path) -}}
{{- end -}}
{{ toYaml $settings }}
{{- end -}}

{{/* The seconds of a duration such as 5m. */}}
{{- define "agent-kourier.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "h" -}}{{ mul $number 3600 }}
{{- else if eq $unit "m" -}}{{ mul $number 60 }}
{{- else if eq $unit "s" -}}{{ $number }}
{{- else -}}{{ div $number 1000 }}
{{- end -}}
{{- end -}}
