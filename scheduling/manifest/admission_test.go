package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestPriorities(t *testing.T) {
	class := func(name, value, rest string) string {
		return "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: " + name + "}\nvalue: " + value + "\n" + rest + "---\n"
	}
	with := func(name, spec string) string {
		return strings.ReplaceAll(pod(name), "spec: {", "spec: {"+spec+", ") + "---\n"
	}
	classes := class("high", "1000", "") + class("low", "-5", "")
	tests := map[string]struct {
		text string
		want int32
	}{
		"by name":                {classes + with("a", "priorityClassName: high"), 1000},
		"negative":               {classes + with("a", "priorityClassName: low"), -5},
		"of the system":          {with("a", "priorityClassName: system-node-critical"), 2_000_001_000},
		"of the cluster":         {with("a", "priorityClassName: system-cluster-critical"), 2_000_000_000},
		"already resolved":       {classes + with("a", "priorityClassName: high, priority: 7"), 7},
		"default":                {classes + class("usual", "50", "globalDefault: true\n") + pod("a"), 50},
		"lowest of the defaults": {class("x", "50", "globalDefault: true\n") + class("z", "40", "globalDefault: true\n") + pod("a"), 40},
		"of a workload":          {classes + object("apps/v1", "Deployment", "web", "{template: {spec: {priorityClassName: high, containers: [{name: c}]}}}"), 1000},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := read(t, tt.text)
			require.Len(t, s.Problem.Pods, 1)
			require.NotNil(t, s.Problem.Pods[0].Spec.Priority)
			require.Equal(t, tt.want, *s.Problem.Pods[0].Spec.Priority)
			require.Empty(t, s.Warnings)
		})
	}
	s := read(t, with("a", "priorityClassName: high")+object("apps/v1", "Deployment", "web", "{replicas: 3, template: {spec: {priorityClassName: high, containers: [{name: c}]}}}"))
	require.Nil(t, s.Problem.Pods[0].Spec.Priority)
	require.Len(t, s.Warnings, 2, "one for each object, not for each pod")
	require.Equal(t, "its PriorityClass high is not in the input, so it is planned with priority 0", s.Warnings[0].Message)
}

func TestRuntimeClasses(t *testing.T) {
	class := `apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: gvisor}
handler: runsc
overhead: {podFixed: {cpu: 250m, memory: 120Mi}}
scheduling:
  nodeSelector: {sandbox: "yes", both: class}
  tolerations: [{key: sandbox, operator: Exists}]
---
`
	sandboxed := strings.ReplaceAll(pod("a"), "spec: {", "spec: {runtimeClassName: gvisor, nodeSelector: {both: pod}, tolerations: [{key: x}], ") + "---\n"
	s := read(t, class+sandboxed)
	spec := s.Problem.Pods[0].Spec
	require.Equal(t, "250m", spec.Overhead.Cpu().String())
	require.Equal(t, map[string]string{"sandbox": "yes", "both": "pod"}, spec.NodeSelector)
	require.Len(t, spec.Tolerations, 2)
	require.Empty(t, s.Warnings)

	s = read(t, sandboxed)
	require.Nil(t, s.Problem.Pods[0].Spec.Overhead)
	require.Len(t, s.Warnings, 1)
	require.Contains(t, s.Warnings[0].Message, "RuntimeClass gvisor is not in the input")

	s = read(t, class+strings.ReplaceAll(sandboxed, "spec: {", "spec: {overhead: {cpu: 1}, "))
	require.Equal(t, "1", s.Problem.Pods[0].Spec.Overhead.Cpu().String(), "an overhead that is there came from admission")
}

func TestLimitRanges(t *testing.T) {
	limits := func(name, items string) string {
		return "apiVersion: v1\nkind: LimitRange\nmetadata: {name: " + name + ", namespace: shop}\nspec: {limits: [" + items + "]}\n---\n"
	}
	with := func(resources string) string {
		return strings.ReplaceAll(pod("a"), "{name: main}", "{name: main, resources: {"+resources+"}}")
	}
	tests := map[string]struct{ text, cpu, memory, limit string }{
		"defaults":                 {limits("l", "{type: Container, defaultRequest: {cpu: 100m, memory: 64Mi}, default: {cpu: 1}}") + pod("a"), "100m", "64Mi", "1"},
		"what is stated stays":     {limits("l", "{type: Container, defaultRequest: {cpu: 100m, memory: 64Mi}}") + with("requests: {cpu: 2}"), "2", "64Mi", "0"},
		"limit before default":     {limits("l", "{type: Container, defaultRequest: {cpu: 100m}}") + with("limits: {cpu: 3}"), "3", "0", "3"},
		"request from limit":       {limits("l", "{type: Container, default: {cpu: 500m}}") + pod("a"), "500m", "0", "500m"},
		"limit from maximum":       {limits("l", "{type: Container, max: {cpu: 4}}") + pod("a"), "4", "0", "4"},
		"request from minimum":     {limits("l", "{type: Container, min: {cpu: 50m}}") + pod("a"), "50m", "0", "0"},
		"other types do not count": {limits("l", "{type: Pod, max: {cpu: 4}}") + pod("a"), "0", "0", "0"},
		"first by name wins":       {limits("b", "{type: Container, default: {cpu: 2}}") + limits("a", "{type: Container, default: {cpu: 1}}") + pod("a"), "1", "0", "1"},
		"other namespaces":         {strings.ReplaceAll(limits("l", "{type: Container, default: {cpu: 2}}"), "shop", "lab") + pod("a"), "0", "0", "0"},
		"pods of the cluster have been through it": {
			limits("l", "{type: Container, default: {cpu: 2}}") + strings.ReplaceAll(pod("a"), "namespace: shop", "namespace: shop, uid: u"), "0", "0", "0",
		},
		"workloads": {limits("l", "{type: Container, default: {cpu: 2}}") + object("apps/v1", "Deployment", "web", "{template: {spec: {containers: [{name: c}]}}}"), "2", "0", "2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := read(t, tt.text)
			r := s.Problem.Pods[0].Spec.Containers[0].Resources
			require.Equal(t, []string{tt.cpu, tt.memory, tt.limit}, []string{r.Requests.Cpu().String(), r.Requests.Memory().String(), r.Limits.Cpu().String()})
		})
	}
	s := read(t, limits("l", "{type: Container, default: {cpu: 2}}")+object("apps/v1", "DaemonSet", "agent", "{template: {spec: {initContainers: [{name: i}], containers: [{name: c}]}}}"))
	spec := s.Problem.DaemonSets[0].Spec.Template.Spec
	for _, c := range []corev1.Container{spec.InitContainers[0], spec.Containers[0]} {
		require.Equal(t, "2", c.Resources.Requests.Cpu().String())
	}
}
