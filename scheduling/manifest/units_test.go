package manifest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/plimsoll-go/plimsoll/internal/strict"
)

func TestTypeChecks(t *testing.T) {
	tests := map[string]struct {
		obj  any
		json string
		want []string // "field: value message", then "?field" for unknown ones
	}{
		"nothing wrong": {&corev1.Pod{}, `{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","ports":[{"containerPort":80}]}],"hostNetwork":true}}`, nil},
		"null is fine":  {&corev1.Pod{}, `{"metadata":null,"spec":{"containers":null,"nodeSelector":null,"hostNetwork":null}}`, nil},
		"object wanted": {&corev1.Pod{}, `{"spec":[1]}`, []string{"spec: [1] is not an object"}},
		"list wanted":   {&corev1.Pod{}, `{"spec":{"containers":{"name":"c"}}}`, []string{`spec.containers: {"name":"c"} is not a list`}},
		"text wanted":   {&corev1.Pod{}, `{"spec":{"nodeName":5,"nodeSelector":{"a":true}}}`, []string{"spec.nodeName: 5 is not text: put it into quotes", "spec.nodeSelector.a: true is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)"}},
		"truth wanted":  {&corev1.Pod{}, `{"spec":{"hostNetwork":"yes"}}`, []string{`spec.hostNetwork: "yes" is not true or false`}},
		"number wanted": {&appsv1.Deployment{}, `{"spec":{"replicas":"3","minReadySeconds":1.5}}`, []string{"spec.minReadySeconds: 1.5 is not a whole number of 32 bits", `spec.replicas: "3" is not a whole number of 32 bits`}},
		"time wanted":   {&corev1.Pod{}, `{"metadata":{"creationTimestamp":"today"}}`, []string{`metadata.creationTimestamp: "today" is not a time such as "2026-01-31T12:00:00Z"`}},
		"duration":      {&NodeClaim{}, `{"spec":{"terminationGracePeriod":"long","expireAfter":"later"}}`, []string{`spec.expireAfter: "later" is no duration: want for example "720h" or "1h30m", or Never`, `spec.terminationGracePeriod: "long" is no duration: want for example "720h" or "1h30m"`}},
		"int or text":   {&policyv1.PodDisruptionBudget{}, `{"spec":{"maxUnavailable":[]}}`, []string{`spec.maxUnavailable: [] is not a number and not a text such as "10%"`}},
		"bytes":         {&corev1.Secret{}, `{"data":{"k":"not base64!"}}`, []string{`data.k: "not base64!" does not fit the field's type `}},
		"embedded":      {&corev1.Pod{}, `{"spec":{"volumes":[{"name":"v","emptyDir":{"sizeLimit":"big"}}]}}`, []string{`spec.volumes[0].emptyDir.sizeLimit: "big" is not a quantity such as "500m" or "2Gi"`}},
		"unknown":       {&batchv1.Job{}, `{"spec":{"paralelism":2,"template":{"spec":{"containers":[{"nam":"c"}]}}},"status":{"x":1},"metadata":{"x":1},"spek":{}}`, []string{"?spec.paralelism", "?spec.template.spec.containers[0].nam", "?spek"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			faults, unknown, _ := decode([]byte(tt.json), tt.obj, "", strict.Rules{NullEntries: true})
			var got []string
			for _, f := range faults {
				got = append(got, f.field+": "+f.value+" "+f.msg)
			}
			for _, path := range unknown {
				got = append(got, "?"+path)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func TestLocations(t *testing.T) {
	for want, at := range map[string]Location{
		"a.yaml":                      {Source: "a.yaml", Item: -1},
		"a.yaml: document 2, line 14": {Source: "a.yaml", Document: 2, Item: -1, Line: 14},
		"a.json: document 1, items[3]": {
			Source: "a.json", Document: 1, Item: 3,
		},
		"net: line 4": {Source: "net", Item: -1, Line: 4},
	} {
		require.Equal(t, want, at.String())
	}
	f := &Fault{At: Location{Source: "a", Item: -1}, Object: "Pod x", Field: "spec", Value: "1", Message: "is odd"}
	require.EqualError(t, f, "a: Pod x: spec: 1 is odd")
	require.EqualError(t, &Fault{At: f.At, Message: "is odd"}, "a: is odd")
}

func TestRanges(t *testing.T) {
	for text, want := range map[string]map[int]bool{"1,3-5": {1: true, 3: true, 4: true, 5: true}, "": {}, "a,5-3,0-999999999": {}} {
		taken := map[int]bool{}
		takeRanges(taken, text)
		require.Equal(t, want, taken, text)
	}
}

func TestQuantityFaults(t *testing.T) {
	for text, want := range map[string]string{
		"cpu=1": "", "cpu=-1m": "is negative", "cpu=9223372036854776": "", "cpu=-1e30": "is negative",
		"memory=8Ei": "", "memory=1e30": "", "memory=0.5": "",
		"pods=1.5": "is not a whole number", "pods=3": "", "a.b/c=1500m": "is not a whole number", "a.b/c=2": "", "a.b/c=0": "", "a.b/c=20000000000000000000": "", "a.b/c=1e30": "",
	} {
		name, value, _ := strings.Cut(text, "=")
		var list corev1.ResourceList
		require.NoError(t, json.Unmarshal([]byte(`{"`+name+`":"`+value+`"}`), &list))
		q := list[corev1.ResourceName(name)]
		require.Equal(t, want, amountFault(name, &q), text)
	}
}

func TestResourceHints(t *testing.T) {
	for _, fine := range []corev1.ResourceName{"cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu", "example.com/mem"} {
		require.Empty(t, resourceHint(fine), fine)
	}
	for typed, meant := range map[corev1.ResourceName]string{"CPU": "cpu", "cpus": "cpu", "mem": "memory", "memmory": "memory", "Memory": "memory", "gpu": "nvidia.com/gpu", "ephemeralstorage": "ephemeral-storage"} {
		require.Contains(t, resourceHint(typed), "did you mean "+meant+"?")
	}
	require.Contains(t, resourceHint("licences"), "have a domain in their name")
}
