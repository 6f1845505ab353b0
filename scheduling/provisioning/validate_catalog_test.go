package provisioning

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// smallCatalog has two amd64 types and one arm64 type, each spot in zone a and
// on-demand in zones a and b.
func smallCatalog(t testing.TB) *instancetypes.Catalog {
	t.Helper()
	var types []*instancetypes.InstanceType
	for name, arch := range map[string]string{"m.large": "amd64", "m.xlarge": "amd64", "g.large": "arm64"} {
		types = append(types, &instancetypes.InstanceType{
			Name: name, Labels: map[string]string{corev1.LabelArchStable: arch, corev1.LabelOSStable: "linux", "karpenter.k8s.aws/instance-cpu": "4"},
			Capacity: quantities("cpu", "4", "memory", "16Gi", "pods", "58"),
			Offerings: []offerings.Offering{
				{Zone: "a", CapacityType: offerings.Spot, Price: offerings.MustPrice("0.04")},
				{Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.1")},
				{Zone: "b", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("0.1"), Unavailable: true},
			},
		})
	}
	catalog, err := instancetypes.NewCatalog(types...)
	require.NoError(t, err)
	return catalog
}

func poolWith(name string, reqs ...requirements.Selector) *scheduling.NodePool {
	p := &scheduling.NodePool{ObjectMeta: named(name)}
	p.Spec.Template.Spec.Requirements = reqs
	return p
}

func TestValidateEmptyCatalog(t *testing.T) {
	empty, err := instancetypes.NewCatalog()
	require.NoError(t, err)
	bare, err := instancetypes.NewCatalog(&instancetypes.InstanceType{Name: "x", Capacity: quantities("cpu", "1", "memory", "1Gi")})
	require.NoError(t, err)
	pods := []*corev1.Pod{shopPod("a", nil)}
	pools := []*scheduling.NodePool{poolWith("p")}
	isEmpty := []string{"catalog: is empty: it has no offering of any instance type"}
	static, going := poolWith("s"), poolWith("g")
	static.Spec.Replicas = new(int64(3))
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, tc := range map[string]struct {
		problem scheduling.Problem
		want    []string
	}{
		"nil":                         {scheduling.Problem{Pods: pods, NodePools: pools}, isEmpty},
		"no types":                    {scheduling.Problem{Pods: pods, NodePools: pools, Catalog: empty}, isEmpty},
		"no offerings":                {scheduling.Problem{Pods: pods, NodePools: pools, Catalog: bare}, isEmpty},
		"no pods":                     {scheduling.Problem{NodePools: pools}, nil},
		"no pools":                    {scheduling.Problem{Pods: pods}, nil},
		"no pools that buy":           {scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{static, going}}, nil},
		"a catalog of the pool's own": {scheduling.Problem{Pods: pods, NodePools: pools, PoolCatalogs: map[string]*instancetypes.Catalog{"p": smallCatalog(t)}}, nil},
		"an empty one of its own":     {scheduling.Problem{Pods: pods, NodePools: pools, Catalog: smallCatalog(t), PoolCatalogs: map[string]*instancetypes.Catalog{"p": empty}}, isEmpty},
		"one of two is empty": {scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{poolWith("p"), poolWith("q")}, Catalog: smallCatalog(t),
			PoolCatalogs: map[string]*instancetypes.Catalog{"p": empty}}, nil},
		"one of two is empty, and the other wants too much": {scheduling.Problem{
			Pods: pods, NodePools: []*scheduling.NodePool{poolWith("p"), poolWith("q", need(corev1.LabelArchStable, "In", "riscv64"))}, Catalog: smallCatalog(t),
			PoolCatalogs: map[string]*instancetypes.Catalog{"p": empty},
		}, nil},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, faultsOf(t, Validate(&tc.problem))) })
	}
}

// idleWarnings plans, and returns the warnings of pools that launch nothing, which are those of Problem.IdleNodePools.
func idleWarnings(t *testing.T, p scheduling.Problem) []string {
	t.Helper()
	plan, err := Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
	require.NoError(t, err)
	var out []string
	for _, w := range plan.Warnings {
		if strings.Contains(w.Message, "cannot launch nodes") {
			out = append(out, w.Object+" "+w.Message)
		}
	}
	var own []string
	for _, w := range IdleNodePools(&p) {
		own = append(own, w.Object+" "+w.Message)
	}
	assert.Equal(t, own, out)
	return out
}

// P11: a pool that leaves nothing is warned of, and its pods have no place.
func TestPoolsThatNothingMeets(t *testing.T) {
	arch := func(v string) requirements.Selector { return need(corev1.LabelArchStable, "In", v) }
	const none = " cannot launch nodes: none of the 3 instance types of the catalog meets all of its requirements: "
	empty, err := instancetypes.NewCatalog()
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		pools []*scheduling.NodePool
		want  []string
	}{
		"no requirements":       {[]*scheduling.NodePool{poolWith("p")}, nil},
		"some are left":         {[]*scheduling.NodePool{poolWith("p", arch("arm64"))}, nil},
		"one of two":            {[]*scheduling.NodePool{poolWith("p", arch("riscv64")), poolWith("q", arch("amd64"))}, []string{"NodePool/p" + none + "kubernetes.io/arch In [riscv64] alone rules out 3"}},
		"unavailable for now":   {[]*scheduling.NodePool{poolWith("p", need(corev1.LabelTopologyZone, "In", "b"))}, nil},
		"labels nobody defines": {[]*scheduling.NodePool{poolWith("p", need("example.com/team", "In", "web"), need("karpenter.k8s.aws/instance-gpu-count", "Gt", "0"))}, nil},
		"no pool leaves any": {[]*scheduling.NodePool{poolWith("p", arch("riscv64")), poolWith("q", need("karpenter.k8s.aws/instance-cpu", "Gt", "4"))}, []string{
			"NodePool/p" + none + "kubernetes.io/arch In [riscv64] alone rules out 3",
			"NodePool/q" + none + requirements.MustNew("karpenter.k8s.aws/instance-cpu", "Gt", "4").Short() + " alone rules out 3",
		}},
		"the worst is named": {[]*scheduling.NodePool{poolWith("p", arch("arm64"), need(corev1.LabelInstanceTypeStable, "In", "m.large"), need(corev1.LabelOSStable, "Exists"))}, []string{
			"NodePool/p" + none + "kubernetes.io/arch In [arm64] alone rules out 2",
		}},
		"another place": {[]*scheduling.NodePool{poolWith("p", need(corev1.LabelTopologyZone, "In", "z"))}, []string{
			"NodePool/p" + none + "topology.kubernetes.io/zone In [z] alone rules out 3, and the catalog's zones are a, b",
		}},
		"no type in that zone as spot": {[]*scheduling.NodePool{poolWith("p", need(corev1.LabelTopologyZone, "In", "b"), need(offerings.CapacityTypeLabel, "In", "spot"))}, []string{
			"NodePool/p cannot launch nodes: none of the 3 instance types of the catalog has an offering that meets all of its requirements together",
		}},
		"a label of the template": {[]*scheduling.NodePool{func() *scheduling.NodePool {
			p := poolWith("p")
			p.Spec.Template.Metadata.Labels = map[string]string{corev1.LabelArchStable: "s390x"}
			return p
		}()}, []string{"NodePool/p" + none + "kubernetes.io/arch In [s390x] alone rules out 3"}},
		"an empty catalog of its own": {[]*scheduling.NodePool{poolWith("e"), poolWith("q")}, []string{"NodePool/e cannot launch nodes: its catalog has no offerings"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := scheduling.Problem{Pods: []*corev1.Pod{shopPod("a", nil)}, NodePools: tc.pools, Catalog: smallCatalog(t)}
			if tc.pools[0].Name == "e" {
				p.PoolCatalogs = map[string]*instancetypes.Catalog{"e": empty}
			}
			assert.NoError(t, Validate(&p))
			assert.Equal(t, tc.want, idleWarnings(t, p))
		})
	}
}

// Labels that only some types bring: the others have the pool's own, or none.
func TestPoolsThatNothingMeetsWithoutTheLabel(t *testing.T) {
	gpu := &instancetypes.InstanceType{
		Name: "gpu.large", Labels: map[string]string{corev1.LabelArchStable: "arm64", "example.com/accelerated": "true"}, Capacity: quantities("cpu", "4", "memory", "16Gi"),
		Offerings: []offerings.Offering{{Zone: "a", CapacityType: offerings.OnDemand, Price: offerings.MustPrice("1")}},
	}
	types := []*instancetypes.InstanceType{gpu}
	for it := range smallCatalog(t).All() {
		types = append(types, it)
	}
	catalog, err := instancetypes.NewCatalog(types...)
	require.NoError(t, err)
	const key = "example.com/accelerated"
	amd64 := need(corev1.LabelArchStable, "In", "amd64") // which rules out the machine that has the label
	for name, tc := range map[string]struct {
		label string
		need  requirements.Selector
		fine  bool
	}{
		"absence will do":       {"", need(key, "NotIn", "true"), true},
		"absence is asked for":  {"", need(key, "DoesNotExist"), true},
		"presence is asked for": {"", need(key, "Exists"), false},
		"the pool sets it":      {"false", need(key, "In", "false"), true},
	} {
		t.Run(name, func(t *testing.T) {
			pool := poolWith("p", amd64, tc.need)
			if tc.label != "" {
				pool.Spec.Template.Metadata.Labels = map[string]string{key: tc.label}
			}
			assert.Equal(t, tc.fine, idleWarnings(t, scheduling.Problem{Pods: []*corev1.Pod{shopPod("a", nil)}, NodePools: []*scheduling.NodePool{pool}, Catalog: catalog}) == nil)
		})
	}
}

// Pools whose requirements leave a few types cost a look at the catalog each.
func BenchmarkIdleNodePools(b *testing.B) {
	var types []*instancetypes.InstanceType
	for i := range 850 {
		it := &instancetypes.InstanceType{
			Name: fmt.Sprintf("type-%03d", i), Labels: map[string]string{corev1.LabelArchStable: "amd64", "karpenter.k8s.aws/instance-cpu": fmt.Sprint(i)},
			Capacity: quantities("cpu", "4", "memory", "16Gi"),
		}
		for _, zone := range []string{"a", "b", "c", "d"} {
			for _, ct := range []offerings.CapacityType{offerings.Spot, offerings.OnDemand} {
				it.Offerings = append(it.Offerings, offerings.Offering{Zone: zone, CapacityType: ct, Price: offerings.MustPrice("0.1")})
			}
		}
		types = append(types, it)
	}
	catalog, err := instancetypes.NewCatalog(types...)
	require.NoError(b, err)
	p := scheduling.Problem{Pods: []*corev1.Pod{shopPod("a", nil)}, Catalog: catalog}
	for i := range 20 {
		p.NodePools = append(p.NodePools, poolWith(fmt.Sprint("pool-", i), need(corev1.LabelArchStable, "In", "amd64"),
			need(corev1.LabelTopologyZone, "In", "a", "b"), need("karpenter.k8s.aws/instance-cpu", "Gt", "848"), need("example.com/x", "Exists")))
	}
	b.ReportAllocs()
	for b.Loop() {
		if idle := IdleNodePools(&p); idle != nil {
			b.Fatal(idle)
		}
	}
}
