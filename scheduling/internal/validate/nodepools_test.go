package validate

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// faultsOfPool validates a problem with one NodePool and returns the faults without
// the path of the pool.
func faultsOfPool(t *testing.T, change func(*scheduling.NodePool)) []string {
	t.Helper()
	pool := &scheduling.NodePool{ObjectMeta: named("a")}
	change(pool)
	before := pool.DeepCopy()
	faults := faultsOf(t, problemFaults((&scheduling.Problem{NodePools: []*scheduling.NodePool{pool}})))
	assert.Equal(t, before, pool, "validation changes nothing")
	for i := range faults {
		faults[i] = strings.TrimPrefix(faults[i], "nodepools["+pool.Name+"].")
	}
	return faults
}

func need(key string, op requirements.Operator, values ...string) requirements.Selector {
	return requirements.Selector{Key: key, Operator: op, Values: values}
}

func TestValidateNodePoolName(t *testing.T) {
	assert.Equal(t, []string{"metadata.name: " + NotALabelValue + `: "a b"`}, faultsOfPool(t, func(p *scheduling.NodePool) { p.Name = "a b" }))
}

// R42, R44, R47–R50: requirements that a NodePool may not have.
func TestValidateNodePoolRequirements(t *testing.T) {
	floor := func(s requirements.Selector, n int) requirements.Selector {
		s.MinValues = &n
		return s
	}
	const path = "spec.template.spec.requirements"
	for name, tc := range map[string]struct {
		in   []requirements.Selector
		want []string
	}{
		"sound": {[]requirements.Selector{
			need("karpenter.sh/capacity-type", "In", "spot", "on-demand"), need("karpenter.k8s.aws/instance-cpu", "Gt", "4"), need("karpenter.k8s.aws/instance-cpu", "Lte", "64"),
			floor(need("node.kubernetes.io/instance-type", "In", "a", "b"), 2), need("example.com/x", "Exists"), need("example.com/y", "DoesNotExist"), need("team", "NotIn", "x"),
		}, nil},
		"R47 values": {[]requirements.Selector{need("a", "In"), need("a", "Exists", "x"), need("a", "Gt", "1", "2"), need("a", "Gte", "-1"), need("a", "Lt", "x"), need("a", "Is", "x")}, []string{
			path + `[0].values: label "a": operator In needs at least one value`,
			path + `[1].values: label "a": operator Exists takes no values: "x"`,
			path + `[2].values: label "a": operator Gt takes exactly one value, not 2: "1 2"`,
			path + `[3].values[0]: label "a": operator Gte needs an integer that is not negative: "-1"`,
			path + `[4].values[0]: label "a": operator Lt needs an integer of 64 bits: "x"`,
			path + `[5].operator: label "a": must be one of In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte: "Is"`,
		}},
		"R48 minValues": {[]requirements.Selector{floor(need("a", "Exists"), 0), floor(need("a", "Exists"), 51), floor(need("a", "In", "x", "y", "x"), 3)}, []string{
			path + `[0].minValues: label "a": must lie between 1 and 50: "0"`, path + `[1].minValues: label "a": must lie between 1 and 50: "51"`,
			path + `[2].minValues: label "a": is more than the 2 different values listed: "3"`,
		}},
		"R49 the pool's own label": {[]requirements.Selector{need("karpenter.sh/nodepool", "In", "a")}, []string{
			path + `[0].key: label "karpenter.sh/nodepool": is set by the NodePool itself and may not be required`,
		}},
		"R42 restricted": {[]requirements.Selector{need("karpenter.sh/initialized", "Exists"), need("kubernetes.io/hostname", "In", "h"), need("x.karpenter.sh/y", "Exists")}, []string{
			path + `[0].key: label "karpenter.sh/initialized": is restricted: its value follows from the instance type and zone`,
			path + `[1].key: label "kubernetes.io/hostname": is restricted: its value follows from the instance type and zone`,
			path + `[2].key: label "x.karpenter.sh/y": is restricted: its value follows from the instance type and zone`,
		}},
		"R50 known values":             {[]requirements.Selector{need("karpenter.sh/capacity-type", "In", "Spot")}, []string{path + `[0].values: label "karpenter.sh/capacity-type": needs at least 1 of the values on-demand, reserved, spot: "Spot"`}},
		"R50 a mixture is let through": {[]requirements.Selector{need("karpenter.sh/capacity-type", "In", "spot", "preemptible")}, nil},
		"a contradiction": {[]requirements.Selector{need("zone", "In", "a"), need("arch", "Exists"), need("zone", "In", "b", "c")}, []string{
			path + `[2]: label "zone": In [a] does not overlap In [b c]`,
		}},
		"a contradiction of three": {[]requirements.Selector{need("zone", "In", "a", "b"), need("zone", "NotIn", "a"), need("zone", "NotIn", "b")}, []string{
			path + `[2]: label "zone": In [b] does not overlap NotIn [b]`,
		}},
		"a contradiction of bounds": {[]requirements.Selector{need("cpu", "Gt", "8"), need("cpu", "Lt", "9")}, []string{path + `[1]: label "cpu": `}},
		"presence":                  {[]requirements.Selector{need("x", "DoesNotExist"), need("x", "Exists")}, []string{path + `[1]: label "x": DoesNotExist does not overlap Exists`}},
		"negative sides agree":      {[]requirements.Selector{need("x", "DoesNotExist"), need("x", "NotIn", "y")}, nil},
		"aliases are one key":       {[]requirements.Selector{need("beta.kubernetes.io/arch", "In", "amd64"), need("kubernetes.io/arch", "In", "arm64")}, []string{path + `[1]: label "kubernetes.io/arch": In [amd64] does not overlap In [arm64]`}},
		"nothing is large enough":   {[]requirements.Selector{need("cpu", "Gt", "9223372036854775807")}, []string{path + `[0]: label "cpu": nothing satisfies`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := faultsOfPool(t, func(p *scheduling.NodePool) { p.Spec.Template.Spec.Requirements = tc.in })
			if !assert.Len(t, got, len(tc.want), got) {
				return
			}
			for i := range got {
				assert.True(t, strings.HasPrefix(got[i], tc.want[i]), "%s\n%s", tc.want[i], got[i])
			}
		})
	}
	t.Run("R47 a hundred at most", func(t *testing.T) {
		got := faultsOfPool(t, func(p *scheduling.NodePool) {
			for i := range 101 {
				p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, need(fmt.Sprint("k", i), "Exists"))
			}
		})
		assert.Equal(t, []string{path + `[100]: at most 100 requirements are allowed, not 101`}, got)
	})
}

// R49: labels of the template.
func TestValidateNodePoolLabels(t *testing.T) {
	const path = "spec.template.metadata.labels"
	assert.Equal(t, []string{
		path + ": " + NotALabelKey + `: "a b"`,
		path + ".disk: " + NotALabelValue + `: "x y"`,
		path + "[karpenter.sh/nodepool]: is set by the NodePool itself",
		path + "[karpenter.sh/registered]: is restricted: its value follows from the instance type and zone",
		path + `[topology.kubernetes.io/zone]: label "topology.kubernetes.io/zone": In [a b] does not overlap In [c]`,
	}, faultsOfPool(t, func(p *scheduling.NodePool) {
		p.Spec.Template.Spec.Requirements = []requirements.Selector{need("topology.kubernetes.io/zone", "In", "a", "b"), need("team", "Exists")}
		p.Spec.Template.Metadata.Labels = map[string]string{
			"a b": "c", "disk": "x y", "karpenter.sh/nodepool": "a", "karpenter.sh/registered": "true",
			"topology.kubernetes.io/zone": "c", "team": "web", "kubernetes.io/os": "linux", "sub.k8s.io/x": "y",
		}
	}))
	t.Run("aliases with different values", func(t *testing.T) {
		assert.Equal(t, []string{path + `[kubernetes.io/arch]: label "kubernetes.io/arch": In [amd64] does not overlap In [arm64]`}, faultsOfPool(t, func(p *scheduling.NodePool) {
			p.Spec.Template.Metadata.Labels = map[string]string{"beta.kubernetes.io/arch": "amd64", "kubernetes.io/arch": "arm64"}
		}))
	})
}

// R51: taints, with startup taints.
func TestValidateNodePoolTaints(t *testing.T) {
	const path = "spec.template.spec."
	assert.Equal(t, []string{
		path + `startupTaints[0]: has the key and effect of taints[0]: "a:NoSchedule"`,
		path + `startupTaints[2].effect: must be one of NoSchedule, PreferNoSchedule, NoExecute`,
		path + `taints[2]: has the key and effect of taints[0]: "a:NoSchedule"`,
		path + `taints[3].effect: must be one of NoSchedule, PreferNoSchedule, NoExecute: "Soon"`,
		path + `taints[3].key: ` + NotALabelKey,
		path + `taints[3].value: ` + NotALabelValue + `: "x y"`,
	}, faultsOfPool(t, func(p *scheduling.NodePool) {
		p.Spec.Template.Spec.Taints = []corev1.Taint{
			{Key: "a", Value: "1", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Effect: corev1.TaintEffectNoExecute},
			{Key: "a", Value: "2", Effect: corev1.TaintEffectNoSchedule}, {Value: "x y", Effect: "Soon"},
		}
		p.Spec.Template.Spec.StartupTaints = []corev1.Taint{
			{Key: "a", Effect: corev1.TaintEffectNoSchedule}, {Key: "a", Effect: corev1.TaintEffectPreferNoSchedule}, {Key: "b"},
		}
	}))
}

func TestValidateNodePoolNumbers(t *testing.T) {
	assert.Equal(t, []string{
		`spec.limits.cpu: is negative: "-1"`, `spec.limits.nodes: is not a whole number: "2500m"`,
		`spec.replicas: is negative: "-1"`, `spec.weight: must lie between 1 and 100, or be absent: "101"`,
	}, faultsOfPool(t, func(p *scheduling.NodePool) {
		p.Spec.Limits = quantities("cpu", "-1", "memory", "1e30", "nodes", "2500m", "nvidia.com/gpu", "8")
		p.Spec.Replicas, p.Spec.Weight = ptr(int64(-1)), ptr(int32(101))
	}))
	for weight, ok := range map[int32]bool{-1: false, 0: true, 1: true, 100: true} {
		assert.Equal(t, ok, len(faultsOfPool(t, func(p *scheduling.NodePool) { p.Spec.Weight = &weight })) == 0, weight)
	}
	assert.Empty(t, faultsOfPool(t, func(p *scheduling.NodePool) {
		p.Spec.Limits, p.Spec.Replicas = quantities("nodes", "0", "cpu", "0"), ptr(int64(0))
	}))
	assert.Equal(t, []string{`spec.limits.nodes: is negative: "-1500m"`}, faultsOfPool(t, func(p *scheduling.NodePool) { p.Spec.Limits = quantities("nodes", "-1.5") }))
}

func TestValidateNodePoolDurations(t *testing.T) {
	assert.Equal(t, []string{
		`spec.disruption.consolidateAfter: is negative: "-1s"`, `spec.template.spec.expireAfter: is negative: "-1s"`,
		`spec.template.spec.terminationGracePeriod: is negative: "-1s"`,
	}, faultsOfPool(t, func(p *scheduling.NodePool) {
		past := after(-time.Second)
		p.Spec.Disruption.ConsolidateAfter, p.Spec.Template.Spec.ExpireAfter = &past, &past
		p.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: -time.Second}
	}))
	assert.Empty(t, faultsOfPool(t, func(p *scheduling.NodePool) {
		p.Spec.Disruption.ConsolidateAfter, p.Spec.Template.Spec.ExpireAfter = &scheduling.NillableDuration{}, ptr(after(0))
	}))
}

func TestValidateNodePoolPolicy(t *testing.T) {
	for policy, want := range map[scheduling.ConsolidationPolicy][]string{
		"": nil, scheduling.WhenEmpty: nil, scheduling.WhenEmptyOrUnderutilized: nil, scheduling.Balanced: nil,
		"WhenUnderutilized": {`spec.disruption.consolidationPolicy: is called WhenEmptyOrUnderutilized since karpenter.sh/v1: "WhenUnderutilized"`},
		"Always":            {`spec.disruption.consolidationPolicy: must be one of WhenEmpty, WhenEmptyOrUnderutilized, Balanced: "Always"`},
	} {
		assert.Equal(t, want, faultsOfPool(t, func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = policy }))
	}
}

// D34: budgets.
func TestValidateNodePoolBudgets(t *testing.T) {
	hours := &metav1.Duration{Duration: 8 * time.Hour}
	for name, tc := range map[string]struct {
		budget scheduling.Budget
		want   []string
	}{
		"count":                {scheduling.Budget{Nodes: "5"}, nil},
		"none":                 {scheduling.Budget{Nodes: "0"}, nil},
		"share":                {scheduling.Budget{Nodes: "100%"}, nil},
		"window":               {scheduling.Budget{Nodes: "0%", Schedule: ptr("0 9 * * mon-fri"), Duration: hours, Reasons: []string{"Underutilized", "Empty", "Drifted"}}, nil},
		"nothing":              {scheduling.Budget{}, []string{"nodes: must be a number of nodes or a share from 0% to 100%"}},
		"share too large":      {scheduling.Budget{Nodes: "101%"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "101%"`}},
		"share of four digits": {scheduling.Budget{Nodes: "0100%"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "0100%"`}},
		"negative":             {scheduling.Budget{Nodes: "-1"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "-1"`}},
		"fraction":             {scheduling.Budget{Nodes: "1.5%"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "1.5%"`}},
		"percent alone":        {scheduling.Budget{Nodes: "%"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "%"`}},
		"too many nodes":       {scheduling.Budget{Nodes: "99999999999"}, []string{`nodes: must be a number of nodes or a share from 0% to 100%: "99999999999"`}},
		"schedule alone":       {scheduling.Budget{Nodes: "1", Schedule: ptr("@daily")}, []string{"duration: is missing, while schedule is there"}},
		"duration alone":       {scheduling.Budget{Nodes: "1", Duration: hours}, []string{"schedule: is missing, while duration is there"}},
		"seconds":              {scheduling.Budget{Nodes: "1", Schedule: ptr("@daily"), Duration: &metav1.Duration{Duration: 90 * time.Second}}, []string{`duration: must be hours and minutes: "1m30s"`}},
		"backwards":            {scheduling.Budget{Nodes: "1", Schedule: ptr("@daily"), Duration: &metav1.Duration{Duration: -time.Hour}}, []string{`duration: must be hours and minutes: "-1h0m0s"`}},
		"no such schedule":     {scheduling.Budget{Nodes: "1", Schedule: ptr("0 25 * * *"), Duration: hours}, []string{`schedule: "25" is no hour: "0 25 * * *"`}},
		"reasons":              {scheduling.Budget{Nodes: "1", Reasons: []string{"Empty", "empty"}}, []string{`reasons[1]: must be one of Underutilized, Empty, Drifted: "empty"`}},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range tc.want {
				tc.want[i] = "spec.disruption.budgets[1]." + tc.want[i]
			}
			assert.Equal(t, tc.want, faultsOfPool(t, func(p *scheduling.NodePool) {
				p.Spec.Disruption.Budgets = []scheduling.Budget{{Nodes: "10%"}, tc.budget}
			}))
		})
	}
	assert.Equal(t, []string{"spec.disruption.budgets: at most 50 budgets are allowed, not 51"}, faultsOfPool(t, func(p *scheduling.NodePool) {
		for range 51 {
			p.Spec.Disruption.Budgets = append(p.Spec.Disruption.Budgets, scheduling.Budget{Nodes: "1"})
		}
	}))
}
