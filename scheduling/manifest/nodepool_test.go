package manifest_test

import (
	"bytes"
	"encoding/json"
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
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
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

// after is a duration that is not Never.
func after(d time.Duration) *scheduling.NillableDuration {
	return &scheduling.NillableDuration{Duration: &d}
}

// nodePool reads a NodePool of karpenter.sh/v1 from YAML that lacks version and kind, if it is
// accepted, and returns the messages of its warnings and faults.
func nodePool(t *testing.T, text string) (pool *scheduling.NodePool, warnings, faults []string) {
	t.Helper()
	if !strings.Contains(text, "apiVersion: karpenter.sh") {
		text = "apiVersion: karpenter.sh/v1\n" + text
	}
	if !strings.Contains(text, "kind: NodePool") {
		text = "kind: NodePool\n" + text
	}
	s, err := manifest.Loader{}.Read("a.yaml", strings.NewReader(text))
	if err != nil {
		var all manifest.Faults
		require.ErrorAs(t, err, &all)
		for _, f := range all {
			faults = append(faults, strings.TrimPrefix(f.Error(), "a.yaml: document 1, line 1: "))
		}
		return nil, nil, faults
	}
	require.Len(t, s.Problem.NodePools, 1)
	for _, w := range s.Warnings {
		assert.Equal(t, "NodePool/"+s.Problem.NodePools[0].Name, w.Object)
		warnings = append(warnings, w.Message)
	}
	return s.Problem.NodePools[0], warnings, nil
}

func TestNodePool(t *testing.T) {
	pool, warnings, faults := nodePool(t, fullV1)
	require.Empty(t, faults)
	assert.Empty(t, warnings)
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
						{Key: "karpenter.k8s.aws/instance-generation", Operator: requirements.Gt, Values: []string{"4"}, MinValues: new(2)},
						{Key: "example.com/special", Operator: requirements.Exists},
					},
					Taints:                 []corev1.Taint{{Key: "example.com/special", Value: "true", Effect: corev1.TaintEffectNoSchedule}},
					StartupTaints:          []corev1.Taint{{Key: "example.com/agent", Effect: corev1.TaintEffectNoExecute}},
					NodeClassRef:           &scheduling.NodeClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
					ExpireAfter:            after(720 * time.Hour),
					TerminationGracePeriod: &metav1.Duration{Duration: 48 * time.Hour},
				},
			},
			Disruption: scheduling.Disruption{
				ConsolidationPolicy: scheduling.WhenEmptyOrUnderutilized, ConsolidateAfter: after(time.Minute),
				Budgets: []scheduling.Budget{
					{Nodes: "10%"},
					{Nodes: "0", Schedule: new("@daily"), Duration: &metav1.Duration{Duration: 10 * time.Minute}, Reasons: []string{"Underutilized"}},
				},
			},
			Limits: corev1.ResourceList{"cpu": resource.MustParse("1000"), "memory": resource.MustParse("1000Gi"), "nodes": resource.MustParse("50")},
			Weight: new(int32(10)),
		},
	}, pool)
}

// A pool that was read is read again from its own JSON or YAML.
func TestNodePoolRoundTrip(t *testing.T) {
	want, _, _ := nodePool(t, fullV1)
	for name, encode := range map[string]func(any) ([]byte, error){"json": json.Marshal, "yaml": yaml.Marshal} {
		t.Run(name, func(t *testing.T) {
			raw, err := encode(want)
			require.NoError(t, err)
			s := read(t, string(raw))
			assert.Empty(t, s.Warnings)
			again, err := encode(s.Problem.NodePools[0])
			require.NoError(t, err)
			assert.Equal(t, string(raw), string(again))
		})
	}
}

func TestNodePoolWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"unknown fields": {
			"metadata: {name: a}\nspec: {template: {spec: {resources: {requests: {cpu: 1}}}}, color: red}\nextra: 1",
			[]string{
				"field extra is not known for a NodePool and was left out",
				"field spec.color is not known for a NodePool and was left out", "field spec.template.spec.resources is not known for a NodePool and was left out",
			},
		},
		"fields of v1beta1 in v1": {
			"apiVersion: karpenter.sh/v1\nmetadata: {name: a, uid: b}\nspec: {disruption: {expireAfter: 1h}, template: {spec: {kubelet: {maxPods: 10}}}}",
			[]string{"field spec.disruption.expireAfter is not known for a NodePool (did you mean spec.template.spec.expireAfter?) and was left out", "field spec.template.spec.kubelet is not known for a NodePool and was left out"},
		},
		"unknown fields in lists": {
			"metadata: {name: a}\nspec: {template: {spec: {requirements: [{key: a, operator: Exists, mode: x}], taints: [{key: a, effect: NoSchedule, color: b}]}}, " +
				"disruption: {budgets: [{nodes: '1', crontab: x}]}}",
			[]string{
				"field spec.disruption.budgets[0].crontab is not known for a NodePool and was left out",
				"field spec.template.spec.requirements[0].mode is not known for a NodePool and was left out", "field spec.template.spec.taints[0].color is not known for a NodePool and was left out",
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
			_, warnings, faults := nodePool(t, tc.in)
			require.Empty(t, faults)
			assert.ElementsMatch(t, tc.want, warnings)
		})
	}
}

func TestNodePoolFaults(t *testing.T) {
	spec := func(s string) string { return "metadata: {name: a}\nspec: " + s }
	template := func(s string) string { return spec("{template: {spec: " + s + "}}") }
	const in = "NodePool a: spec."
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"no name":             {"spec: {}", []string{"NodePool: metadata.name: is missing"}},
		"no spec":             {"metadata: {name: a}", []string{"NodePool a: spec: is missing"}},
		"a name that is none": {"metadata: {name: 5}\nspec: {}", []string{`NodePool 5: metadata.name: 5 is not text: put it into quotes`}},
		"metadata": {"metadata: {name: a, labels: {x: 1}, annotations: [], creationTimestamp: now}\nspec: {}", []string{
			`NodePool a: metadata.annotations: [] is not an object`, `NodePool a: metadata.creationTimestamp: "now" is not a time such as "2026-01-31T12:00:00Z"`,
			`NodePool a: metadata.labels.x: 1 is not text: put it into quotes`,
		}},
		"a generation": {"metadata: {name: a, generation: x}\nspec: {}", []string{`NodePool a: metadata.generation: "x" is not a whole number of 64 bits`}},
		"typos": {"metadata: {name: a}\nspec: {wieght: 1, template: {spec: {taint: [], weight: 2}}}", []string{
			"NodePool a: spec.template.spec.taint: is not known (did you mean taints?)", "NodePool a: spec.template.spec.weight: is not known (did you mean spec.weight?)",
			"NodePool a: spec.wieght: is not known (did you mean weight?)",
		}},
		"spec is text":     {spec("x"), []string{`NodePool a: spec: "x" is not an object`}},
		"weight is text":   {spec("{weight: heavy}"), []string{in + `weight: "heavy" is not a whole number of 32 bits`}},
		"weight too large": {spec("{weight: 4294967296}"), []string{in + `weight: 4294967296 is not a whole number of 32 bits`}},
		"weight is broken": {spec("{weight: 1.5}"), []string{in + `weight: 1.5 is not a whole number of 32 bits`}},
		"replicas":         {spec("{replicas: [1]}"), []string{in + `replicas: [1] is not a whole number of 64 bits`}},
		"limits": {spec("{limits: {cpu: lots, memory: [], nvidia.com/gpu: 10 GB, pods: ''}}"), []string{
			in + `limits.cpu: "lots" is not a quantity such as "500m" or "2Gi"`, in + `limits.memory: [] is not a quantity such as "500m" or "2Gi"`,
			in + `limits[nvidia.com/gpu]: "10 GB" is not a quantity such as "500m" or "2Gi"`, in + `limits.pods: "" is not a quantity such as "500m" or "2Gi"`,
		}},
		"limits beyond all arithmetic": {spec("{limits: {cpu: '1e-1000000000'}}"), []string{in + `limits.cpu: "1e-1000000000" is not a quantity: its exponent is too large`}},
		"limits is a list":             {spec("{limits: [cpu]}"), []string{in + `limits: ["cpu"] is not an object`}},
		"requirements": {template("{requirements: [x, {key: a, operator: Gt, values: [4]}, {key: b, operator: In, values: on-demand}, {key: c, minValues: two}]}"), []string{
			in + `template.spec.requirements[0]: "x" is not an object`, in + `template.spec.requirements[1].values[0]: 4 is not text: put it into quotes`,
			in + `template.spec.requirements[2].values: "on-demand" is not a list`, in + `template.spec.requirements[3].minValues: "two" is not a whole number of 64 bits`,
		}},
		"nulls in a list": {template("{requirements: [null, {key: a, operator: In, values: [null]}]}"), []string{
			in + `template.spec.requirements[0]: is null`, in + `template.spec.requirements[1].values[0]: is null`,
		}},
		"taints": {template("{taints: {key: a}, startupTaints: [{key: true, timeAdded: 5}]}"), []string{
			in + `template.spec.startupTaints[0].key: true is not text: put it into quotes (YAML takes y, n, yes, no, on and off for true or false)`,
			in + `template.spec.startupTaints[0].timeAdded: 5 is not a time such as "2026-01-31T12:00:00Z"`,
			in + `template.spec.taints: {"key":"a"} is not a list`,
		}},
		"durations": {"metadata: {name: a}\nspec: {template: {spec: {expireAfter: 30d, terminationGracePeriod: 60}}, disruption: {consolidateAfter: soon, budgets: [{nodes: 5, duration: Never}]}}", []string{
			in + `disruption.budgets[0].duration: "Never" is no duration: want for example "720h" or "1h30m"`,
			in + `disruption.budgets[0].nodes: 5 is not text: put it into quotes`,
			in + `disruption.consolidateAfter: "soon" is no duration: want for example "720h" or "1h30m", or Never`,
			in + `template.spec.expireAfter: "30d" is no duration: there is no unit for days or weeks, write hours (1 day is 24h), or Never`,
			in + `template.spec.terminationGracePeriod: 60 is not a duration: want for example "720h"`,
		}},
		"negative durations": {template("{expireAfter: -5}"), []string{in + `template.spec.expireAfter: -5 is negative: want 0 seconds or more`}},
		"a negative grace period": {template("{terminationGracePeriod: -1h}"), []string{
			in + `template.spec.terminationGracePeriod: is negative: "-1h0m0s"`,
		}},
		"a long value": {spec("{weight: " + strings.Repeat("x", 90) + "}"), []string{
			in + `weight: "` + strings.Repeat("x", 59) + `… is not a whole number of 32 bits`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, faults := nodePool(t, tc.in)
			assert.Equal(t, tc.want, faults)
		})
	}
}

// A pool that is being deleted keeps that mark: it cannot launch.
func TestNodePoolDeletion(t *testing.T) {
	pool, _, faults := nodePool(t, "metadata: {name: a, deletionTimestamp: '2026-01-31T12:00:00Z', finalizers: [karpenter.sh/termination]}\nspec: {replicas: 4}")
	require.Empty(t, faults)
	require.NotNil(t, pool.DeletionTimestamp)
	assert.Equal(t, int64(1769860800), pool.DeletionTimestamp.Unix())
	assert.Equal(t, []string{"karpenter.sh/termination"}, pool.Finalizers)
	assert.Equal(t, int64(4), *pool.Spec.Replicas)
}

func FuzzNodePool(f *testing.F) {
	f.Add(fullV1)
	f.Add(fullV1beta1)
	f.Add(`{"apiVersion":"karpenter.sh/v1","kind":"NodePool","metadata":{"name":"a"},"spec":{"limits":{"cpu":1e30}}}`)
	f.Add("{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: &a b, labels: {x: *a}}, spec: {weight: 0x10}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := manifest.Loader{}.Read("a.yaml", strings.NewReader(text))
		if err != nil {
			return
		}
		for _, pool := range s.Problem.NodePools {
			raw, err := json.Marshal(pool)
			require.NoError(t, err)
			again, err := manifest.Loader{}.Read("a.json", bytes.NewReader(raw))
			require.NoError(t, err, "%s", raw)
			second, err := json.Marshal(again.Problem.NodePools[0])
			require.NoError(t, err)
			require.Equal(t, string(raw), string(second))
		}
	})
}
