package provisioning

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

const fullV1 = `
# a manifest with everything in it
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
  labels: {team: platform}
  annotations:
    karpenter.sh/nodepool-hash: "123"
  uid: 0d2c
  generation: 3
  creationTimestamp: "2026-01-31T12:00:00Z"
spec:
  template:
    metadata:
      labels: {team: web}
      annotations: {example.com/owner: me}
    spec:
      requirements:
        - key: karpenter.sh/capacity-type
          operator: In
          values: [spot, on-demand]
        - {key: karpenter.k8s.aws/instance-generation, operator: Gt, values: ["4"], minValues: 2}
        - {key: example.com/special, operator: Exists}
      taints:
        - {key: example.com/special, value: "true", effect: NoSchedule}
      startupTaints:
        - {key: example.com/agent, effect: NoExecute}
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      expireAfter: 720h
      terminationGracePeriod: 48h
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
    budgets:
      - nodes: 10%
      - {nodes: "0", schedule: "@daily", duration: 10m, reasons: [Underutilized]}
  limits: {cpu: "1000", memory: 1000Gi, nodes: 50}
  weight: 10
status:
  conditions: [{type: Ready, status: "True"}]
`

func ptr[T any](v T) *T { return &v }

func TestDecodeNodePool(t *testing.T) {
	pool, warnings, err := scheduling.DecodeNodePool([]byte(fullV1))
	require.NoError(t, err)
	assert.Empty(t, warnings)
	expire := after(720 * time.Hour)
	wait := after(time.Minute)
	created := metav1.NewTime(time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC).Local())
	assert.Equal(t, &scheduling.NodePool{
		TypeMeta: metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "general", Labels: map[string]string{"team": "platform"}, UID: "0d2c", Generation: 3,
			Annotations: map[string]string{"karpenter.sh/nodepool-hash": "123"}, CreationTimestamp: created,
		},
		Spec: scheduling.NodePoolSpec{
			Template: scheduling.NodeTemplate{
				Metadata: scheduling.NodeMetadata{Labels: map[string]string{"team": "web"}, Annotations: map[string]string{"example.com/owner": "me"}},
				Spec: scheduling.NodeTemplateSpec{
					Requirements: []requirements.Selector{
						{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"spot", "on-demand"}},
						{Key: "karpenter.k8s.aws/instance-generation", Operator: requirements.Gt, Values: []string{"4"}, MinValues: ptr(2)},
						{Key: "example.com/special", Operator: requirements.Exists},
					},
					Taints:                 []corev1.Taint{{Key: "example.com/special", Value: "true", Effect: corev1.TaintEffectNoSchedule}},
					StartupTaints:          []corev1.Taint{{Key: "example.com/agent", Effect: corev1.TaintEffectNoExecute}},
					NodeClassRef:           &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
					ExpireAfter:            &expire,
					TerminationGracePeriod: &metav1.Duration{Duration: 48 * time.Hour},
				},
			},
			Disruption: scheduling.Disruption{
				ConsolidationPolicy: scheduling.WhenEmptyOrUnderutilized, ConsolidateAfter: &wait,
				Budgets: []scheduling.Budget{
					{Nodes: "10%"},
					{Nodes: "0", Schedule: ptr("@daily"), Duration: &metav1.Duration{Duration: 10 * time.Minute}, Reasons: []string{"Underutilized"}},
				},
			},
			Limits: corev1.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("1000Gi"), "nodes": resource.MustParse("50")},
			Weight: ptr(int32(10)),
		},
	}, pool)
	assert.NoError(t, Validate((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}})))
}

// What is decoded encodes to something that decodes to the same.
func TestDecodeNodePoolRoundTrip(t *testing.T) {
	want, _, err := scheduling.DecodeNodePool([]byte(fullV1))
	require.NoError(t, err)
	for name, encode := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal} {
		t.Run(name, func(t *testing.T) {
			raw, err := encode(want)
			require.NoError(t, err)
			got, warnings, err := scheduling.DecodeNodePool(raw)
			require.NoError(t, err)
			assert.Empty(t, warnings)
			again, err := encode(got)
			require.NoError(t, err)
			assert.Equal(t, string(raw), string(again))
		})
	}
}

func TestDecodeNodePoolWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"unknown fields": {
			"metadata: {name: a, nickname: b}\nspec: {template: {spec: {resources: {requests: {cpu: 1}}}}, color: red}\nextra: 1",
			[]string{
				"extra is not known and was ignored", "metadata.nickname is not known and was ignored",
				"spec.color is not known and was ignored", "spec.template.spec.resources is not known and was ignored",
			},
		},
		"fields of v1beta1 in v1": {
			"apiVersion: karpenter.sh/v1\nmetadata: {name: a, uid: b}\nspec: {disruption: {expireAfter: 1h}, template: {spec: {kubelet: {maxPods: 10}}}}",
			[]string{"spec.disruption.expireAfter is not known and was ignored (did you mean spec.template.spec.expireAfter?)", "spec.template.spec.kubelet is not known and was ignored"},
		},
		"unknown fields in lists": {
			"metadata: {name: a}\nspec: {template: {spec: {requirements: [{key: a, operator: Exists, mode: x}], taints: [{key: a, effect: NoSchedule, color: b}]}}, " +
				"disruption: {budgets: [{nodes: '1', crontab: x}]}}",
			[]string{
				"spec.disruption.budgets[0].crontab is not known and was ignored",
				"spec.template.spec.requirements[0].mode is not known and was ignored", "spec.template.spec.taints[0].color is not known and was ignored",
			},
		},
		"a number as duration": {
			"metadata: {name: a}\nspec: {template: {spec: {expireAfter: 3600}}}",
			[]string{"spec.template.spec.expireAfter: 3600 has no unit and was read as seconds"},
		},
		"not ready": {
			"metadata: {name: a}\nspec: {}\nstatus: {resources: {cpu: 4}, conditions: [{type: ValidationSucceeded, status: 'False'}, {type: Ready, status: 'False', reason: NodeClassNotReady}]}",
			[]string{"status.conditions: the NodePool is not ready (NodeClassNotReady), but is planned with"},
		},
		"a status that cannot be read": {"metadata: {name: a}\nspec: {}\nstatus: [1]", nil},
		"null is absent":               {"metadata: {name: a, labels: null}\nspec: {template: null, weight: null, limits: null}\nstatus: null", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, warnings, err := scheduling.DecodeNodePool([]byte(tc.in))
			require.NoError(t, err)
			var got []string
			for _, w := range warnings {
				assert.Equal(t, "NodePool/a", w.Object)
				got = append(got, w.Message)
			}
			assert.ElementsMatch(t, tc.want, got)
		})
	}
}

func TestDecodeNodePoolErrors(t *testing.T) {
	spec := func(s string) string { return "metadata: {name: a}\nspec: " + s }
	template := func(s string) string { return spec("{template: {spec: " + s + "}}") }
	const in = "nodepools[a].spec."
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"nothing":            {"", []string{"nodepool: the document is empty"}},
		"only comments":      {"---\n# here\n---\n", []string{"nodepool: the document is empty"}},
		"two documents":      {"metadata: {name: a}\n---\nmetadata: {name: b}", []string{"nodepool: there are 2 YAML documents, not one"}},
		"no YAML":            {"{", []string{"nodepool: yaml: line 1: did not find expected node content"}},
		"a key twice":        {"metadata: {name: a}\nspec:\n  weight: 1\n  weight: 2", []string{`nodepool: yaml: unmarshal errors: line 4: key "weight" already set in map`}},
		"a list":             {"[1]", []string{`nodepools[]: is not an object: "[1]"`}},
		"no name":            {"spec: {}", []string{"nodepools[].metadata.name: is missing"}},
		"no spec":            {"metadata: {name: a}", []string{"nodepools[a].spec: is missing"}},
		"a name that is not": {"metadata: {name: 5}\nspec: {}", []string{`nodepools[].metadata.name: is missing`, `nodepools[].metadata.name: is not text: put it into quotes: "5"`}},
		"another kind":       {"apiVersion: karpenter.sh/v1\nkind: NodeClaim\n" + spec("{}"), []string{`nodepools[a].kind: is not NodePool: "NodeClaim"`}},
		"an older version": {"apiVersion: karpenter.sh/v1alpha5\nkind: Provisioner\n" + spec("{}"), []string{
			`nodepools[a].apiVersion: is not known: want karpenter.sh/v1 or karpenter.sh/v1beta1: "karpenter.sh/v1alpha5"`,
			`nodepools[a].kind: is not NodePool: "Provisioner"`,
		}},
		"metadata": {"metadata: {name: a, labels: {x: 1}, annotations: [], creationTimestamp: now}\nspec: {}", []string{
			`nodepools[a].metadata.annotations: is not an object: "[]"`, `nodepools[a].metadata.creationTimestamp: is not a time such as "2026-01-31T12:00:00Z": "now"`,
			`nodepools[a].metadata.labels.x: is not text: put it into quotes: "1"`,
		}},
		"metadata that nobody reads": {"metadata: {name: a, generation: x}\nspec: {}", []string{
			"nodepools[a].metadata: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64",
		}},
		"spec is text":     {spec("x"), []string{`nodepools[a].spec: is not an object: "x"`}},
		"weight is text":   {spec("{weight: heavy}"), []string{in + `weight: is not a whole number of 32 bits: "heavy"`}},
		"weight too large": {spec("{weight: 4294967296}"), []string{in + `weight: is not a whole number of 32 bits: "4294967296"`}},
		"weight is broken": {spec("{weight: 1.5}"), []string{in + `weight: is not a whole number of 32 bits: "1.5"`}},
		"replicas":         {spec("{replicas: [1]}"), []string{in + `replicas: is not a whole number of 64 bits: "[1]"`}},
		"limits": {spec("{limits: {cpu: lots, memory: [], nvidia.com/gpu: 10 GB, pods: ''}}"), []string{
			in + `limits.cpu: is not a quantity such as "1000" or "4000Gi": "lots"`, in + `limits.memory: is not a quantity such as "1000" or "4000Gi": "[]"`,
			in + `limits.pods: is not a quantity such as "1000" or "4000Gi"`, in + `limits[nvidia.com/gpu]: is not a quantity such as "1000" or "4000Gi": "10 GB"`,
		}},
		"limits beyond all arithmetic": {spec("{limits: {cpu: '1e-1000000000', memory: '1E+1000', pods: '" + strings.Repeat("0", 101) + "'}}"), []string{
			in + `limits.cpu: is not a quantity such as "1000" or "4000Gi": "1e-1000000000"`, in + `limits.memory: is not a quantity such as "1000" or "4000Gi": "1E+1000"`,
			in + `limits.pods: is not a quantity such as "1000" or "4000Gi": "` + strings.Repeat("0", 80) + `…"`,
		}},
		"limits is a list": {spec("{limits: [cpu]}"), []string{in + `limits: is not an object: "[\"cpu\"]"`}},
		"requirements": {template("{requirements: [x, {key: a, operator: Gt, values: [4]}, {key: b, operator: In, values: on-demand}, {key: c, minValues: two}]}"), []string{
			in + `template.spec.requirements[0]: is not an object: "x"`, in + `template.spec.requirements[1].values[0]: is not text: put it into quotes: "4"`,
			in + `template.spec.requirements[2].values: is not a list: "on-demand"`, in + `template.spec.requirements[3].minValues: is not a whole number of 32 bits: "two"`,
		}},
		"taints": {template("{taints: {key: a}, startupTaints: [{key: true, timeAdded: 5}]}"), []string{
			in + `template.spec.startupTaints[0].key: is not text: put it into quotes: "true"`,
			in + `template.spec.startupTaints[0].timeAdded: is not a time such as "2026-01-31T12:00:00Z": "5"`,
			in + `template.spec.taints: is not a list: "{\"key\":\"a\"}"`,
		}},
		"durations": {"metadata: {name: a}\nspec: {template: {spec: {expireAfter: 30d, terminationGracePeriod: 60}}, disruption: {consolidateAfter: soon, budgets: [{nodes: 5, duration: Never}]}}", []string{
			in + `disruption.budgets[0].duration: is no duration: want for example "720h" or "1h30m": "Never"`,
			in + `disruption.budgets[0].nodes: is not text: put it into quotes: "5"`,
			in + `disruption.consolidateAfter: is no duration: want for example "720h" or "1h30m", or Never: "soon"`,
			in + `template.spec.expireAfter: is no duration: there is no unit for days or weeks, write hours (1 day is 24h), or Never: "30d"`,
			in + `template.spec.terminationGracePeriod: is no duration: want for example "720h": "60"`,
		}},
		"negative durations": {template("{expireAfter: -5, terminationGracePeriod: -1h}"), []string{
			in + `template.spec.expireAfter: is negative: want 0 seconds or more: "-5"`,
			in + `template.spec.terminationGracePeriod: is negative: want a duration of 0s or more: "-1h"`,
		}},
		"a long value": {spec("{weight: " + strings.Repeat("x", 90) + "}"), []string{
			in + `weight: is not a whole number of 32 bits: "` + strings.Repeat("x", 80) + `…"`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			pool, warnings, err := scheduling.DecodeNodePool([]byte(tc.in))
			require.Error(t, err)
			assert.Nil(t, pool)
			assert.Empty(t, warnings)
			assert.Equal(t, tc.want, faultsOf(t, err))
		})
	}
}

// Markers that YAML allows around one document do not make it two.
func TestDecodeNodePoolDocumentMarkers(t *testing.T) {
	for _, around := range []string{"---\n%s\n", "# c\n---\n%s\n---\n", "\n\n---\n# c\n%s\n---\n# end\n", "%%YAML 1.1\n---\n%s", "--- # c\n%s"} {
		in := fmt.Sprintf(around, "metadata: {name: a}\nspec:\n  template:\n    metadata:\n      annotations:\n        text: |-\n          a\n          ---\n          b")
		pool, _, err := scheduling.DecodeNodePool([]byte(in))
		require.NoError(t, err, in)
		assert.Equal(t, "a\n---\nb", pool.Spec.Template.Metadata.Annotations["text"])
	}
}

// A pool that is being deleted keeps that mark: it buys nothing.
func TestDecodeNodePoolDeletion(t *testing.T) {
	pool, _, err := scheduling.DecodeNodePool([]byte("metadata: {name: a, deletionTimestamp: '2026-01-31T12:00:00Z', finalizers: [karpenter.sh/termination]}\nspec: {replicas: 4}"))
	require.NoError(t, err)
	require.NotNil(t, pool.DeletionTimestamp)
	assert.Equal(t, int64(1769860800), pool.DeletionTimestamp.Unix())
	assert.Equal(t, []string{"karpenter.sh/termination"}, pool.Finalizers)
	assert.Equal(t, int64(4), *pool.Spec.Replicas)
}

func FuzzDecodeNodePool(f *testing.F) {
	f.Add([]byte(fullV1))
	f.Add([]byte(fullV1beta1))
	f.Add([]byte(`{"metadata":{"name":"a"},"spec":{"limits":{"cpu":1e30}}}`))
	f.Add([]byte("metadata: {name: &a b, labels: {x: *a}}\nspec: {weight: 0x10}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		pool, _, err := scheduling.DecodeNodePool(raw)
		if err != nil {
			faultsOf(t, err)
			return
		}
		_ = Validate((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}}))
		first, err := json.Marshal(pool)
		require.NoError(t, err)
		again, _, err := scheduling.DecodeNodePool(first)
		require.NoError(t, err, "%s", first)
		second, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}
