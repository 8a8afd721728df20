{{/* Of resources, annotations, labels and kinds; common/base/names.h has it for the programs. */}}
{{- define "crossover.domain" -}}crossover.dev{{- end }}

{{/*
Labels of every object. Names do not follow the release's: kinds of objects, the webhook, resources and paths on nodes
are there once in a cluster, and so is Crossover. Helm refuses a second release.
Argument: (dict "root" $ "component" "extender")
*/}}
{{- define "crossover.labels" -}}
{{ include "crossover.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: crossover
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{/* What selects pods, and can never change. */}}
{{- define "crossover.selector" -}}
app.kubernetes.io/name: crossover
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/*
An image's reference. Argument: (dict "key" "extender.image" "image" .Values.extender.image "tag" "its default"
"holds" "crossover-extender")
*/}}
{{- define "crossover.image" -}}
{{- if not .image.repository }}
{{- fail (printf "%s.repository is not set: name the repository of an image that holds %s (docs/install.md says how to build it), such as --set %s.repository=registry.example/%s" .key .holds .key .holds) }}
{{- end -}}
{{ .image.repository }}{{ if .image.digest }}@{{ .image.digest }}{{ else }}:{{ .image.tag | default .tag }}{{ end }}
{{- end }}

{{- define "crossover.deviceplugin.image" -}}
{{ include "crossover.image" (dict "key" "deviceplugin.image" "image" .Values.deviceplugin.image "tag" .Chart.AppVersion "holds" "crossover-deviceplugin") }}
{{- end }}

{{- define "crossover.extender.image" -}}
{{ include "crossover.image" (dict "key" "extender.image" "image" .Values.extender.image "tag" .Chart.AppVersion "holds" "crossover-extender") }}
{{- end }}

{{/* Of the cluster's own version, without what a vendor added to it: v1.31.4 of v1.31.4-gke.1372000. */}}
{{- define "crossover.scheduler.image" -}}
{{- $tag := regexFind "^v[0-9]+[.][0-9]+[.][0-9]+" .Capabilities.KubeVersion.Version -}}
{{ include "crossover.image" (dict "key" "scheduler.image" "image" .Values.scheduler.image "tag" $tag "holds" "kube-scheduler") }}
{{- end }}

{{- define "crossover.mps.image" -}}
{{- if .Values.mps.image.repository -}}
{{ include "crossover.image" (dict "key" "mps.image" "image" .Values.mps.image "tag" .Chart.AppVersion "holds" "sh and mount") }}
{{- else -}}
{{ include "crossover.deviceplugin.image" . }}
{{- end }}
{{- end }}

{{- define "crossover.signaller.image" -}}
{{- if .Values.signaller.image.repository -}}
{{ include "crossover.image" (dict "key" "signaller.image" "image" .Values.signaller.image "tag" .Chart.AppVersion "holds" "crossover-signaller") }}
{{- else -}}
{{ include "crossover.deviceplugin.image" . }}
{{- end }}
{{- end }}

{{/*
The nodes that a pod may be on: those that its image runs on, and what values say of it, which counts more.
Argument: (dict "root" $ "own" .Values.extender.nodeSelector)
*/}}
{{- define "crossover.nodeSelector" -}}
{{- $images := dict "kubernetes.io/os" "linux" }}
{{- with .root.Values.arch }}{{ $images = set $images "kubernetes.io/arch" . }}{{ end }}
{{- mergeOverwrite $images (deepCopy (.own | default dict)) | toYaml }}
{{- end }}

{{/* Where hooks run: on nodes of the extender. What keeps its pods apart from each other would keep them from there. */}}
{{- define "crossover.hooks.nodes" -}}
nodeSelector: {{- include "crossover.nodeSelector" (dict "root" $ "own" .Values.extender.nodeSelector) | nindent 2 }}
{{- with (.Values.extender.affinity | default dict).nodeAffinity }}
affinity:
  nodeAffinity: {{- toYaml . | nindent 4 }}
{{- end }}
{{- with .Values.extender.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Of a container that may do nothing: level "restricted" of Pod Security, and stricter. */}}
{{- define "crossover.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- define "crossover.restrictedPod" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* Says whether node daemons write labels or annotations of their Nodes: "true", or nothing. */}}
{{- define "crossover.deviceplugin.marksNodes" -}}
{{- $node := .Values.deviceplugin.config.node | default dict -}}
{{- if or (eq (get $node "gpu_operator" | default "leave") "labels") (eq (get $node "scale_down" | default "leave") "disabled") -}}
true
{{- end -}}
{{- end }}

{{/* How a node's programs find the driver if no container runtime brings it. */}}
{{- define "crossover.driver.env" -}}
{{- if .Values.driver.root }}
- {name: LD_LIBRARY_PATH, value: /usr/local/nvidia/lib64}
- {name: PATH, value: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/bin"}
{{- else }}
# NVIDIA's container runtime brings the driver's libraries and programs: NVML, and those that speak to MPS.
- {name: NVIDIA_VISIBLE_DEVICES, value: all}
- {name: NVIDIA_DRIVER_CAPABILITIES, value: "compute,utility"}
{{- end }}
{{- end }}
