package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestLabelsOfLaunches covers P40 and R32–R36: which labels a launch has, and which labels its pods may ask for.
func TestLabelsOfLaunches(t *testing.T) {
	catalog := st.MustCatalog(
		st.Type("plain", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10), st.OnDemand("b", 10)),
		st.Type("gpu", st.Capacity(st.Cores(2), st.GiB(4)), st.Label(gpuOf, "1"), st.Label("example.com/disk", "ssd"), st.OnDemand("a", 20)))
	const cpuOf, region = "karpenter.k8s.aws/instance-cpu", corev1.LabelTopologyRegion
	plain, gpu := []string{"plain/a/on-demand"}, []string{"gpu/a/on-demand"}
	where := st.Where
	for _, tc := range []struct {
		name    string
		pool    st.NodePoolOption
		pod     st.PodOption
		labels  map[string]string
		carries []requirements.Selector
		options []string
		breaks  []verify.Code
	}{
		{"the pool lists one value", where(st.In(team, "red")), where(st.In(team, "red", "blue")), map[string]string{team: "red"}, nil, plain, nil},
		{"the pool lists one value, and none is set", where(st.In(team, "red")), where(st.Exists(typeOf)), nil, nil, plain,
			broken(verify.CodeLaunchLabels, verify.CodePoolRequirements)},
		{"the pool lists two, the other is set", where(st.In(team, "red", "blue")), where(st.In(team, "red")), map[string]string{team: "blue"}, nil, plain, broken(verify.CodeNodeAffinity)},
		{"any value that the pod names (R34)", where(st.Exists(team)), where(st.In(team, "x")), map[string]string{team: "x"}, nil, plain, nil},
		{"a number above another", where(st.Gt("example.com/level", 3)), where(st.Lt("example.com/level", 5)), map[string]string{"example.com/level": "4"}, nil, plain, nil},
		{"a number that is too low", where(st.Gte("example.com/level", 3)), where(st.Lt("example.com/level", 5)), map[string]string{"example.com/level": "2"}, nil, plain,
			broken(verify.CodeLaunchLabels, verify.CodePoolRequirements)},
		{"a label that the pool excludes values of may be missing", where(st.NotIn(team, "red")), where(st.NotIn(team, "blue")), nil, nil, plain, nil},
		{"or set for a pod that wants it", where(st.NotIn(team, "red")), where(st.In(team, "blue")), map[string]string{team: "blue"}, nil, plain, nil},
		{"a label that the pool forbids", where(st.DoesNotExist(team)), where(st.DoesNotExist(team)), nil, nil, plain, nil},
		{"a label that the pool forbids, set", where(st.DoesNotExist(team)), where(st.Exists(typeOf)), map[string]string{team: "x"}, nil, plain,
			broken(verify.CodeLaunchLabels, verify.CodePoolRequirements)},
		{"well-known labels of types need not be set", where(st.In(zoneOf, "a")), where(st.In(typeOf, "plain")), nil, nil, plain, nil},
		{"but may be", where(st.In(zoneOf, "a")), where(st.In(zoneOf, "a")), map[string]string{zoneOf: "a"}, nil, plain, nil},
		{"if they are those of every option", where(st.In(zoneOf, "a", "b")), where(st.Exists(zoneOf)), map[string]string{zoneOf: "a"}, nil,
			[]string{"plain/a/on-demand", "plain/b/on-demand"}, broken(verify.CodePoolRequirements)},
		{"a label that other types have is absent", where(st.DoesNotExist(gpuOf)), where(st.DoesNotExist("example.com/disk")), nil, nil, plain, nil},
		{"and not there for the asking (R35)", where(st.Exists(typeOf)), where(st.Exists(gpuOf)), nil, []requirements.Selector{st.Exists(gpuOf)}, plain,
			broken(verify.CodeNodeAffinity, verify.CodeLaunchRequirements)},
		{"nor for the pool's", where(st.Gt(gpuOf, 0)), where(st.Exists(typeOf)), nil, nil, plain, broken(verify.CodePoolRequirements)},
		{"a custom label of a type", where(st.In("example.com/disk", "ssd")), where(st.In("example.com/disk", "ssd")), nil, nil, gpu, nil},
		{"a custom label of a type, said differently by the launch", where(st.Exists("example.com/disk")), where(st.Exists(typeOf)), map[string]string{"example.com/disk": "hdd"}, nil, gpu,
			broken(verify.CodePoolRequirements)},
		{"a well-known label that no type has, promised", where(st.Gt(cpuOf, 1)), where(st.Lt(cpuOf, 9)), nil, []requirements.Selector{st.Gt(cpuOf, 2), st.Lt(cpuOf, 8)}, plain, nil},
		{"promised too widely for the pod", where(st.Gt(cpuOf, 1)), where(st.Lt(cpuOf, 9)), nil, []requirements.Selector{st.Gt(cpuOf, 2)}, plain, broken(verify.CodeNodeAffinity)},
		{"promised too widely for the pool", where(st.Gt(cpuOf, 1)), where(st.Lt(cpuOf, 9)), nil, []requirements.Selector{st.Lt(cpuOf, 8)}, plain, broken(verify.CodeLaunchRequirements)},
		{"promised in contradictions", where(st.Exists(typeOf)), where(st.In(region, "r1")), nil, []requirements.Selector{st.In(region, "r1"), st.In(region, "r2")}, plain, broken(verify.CodeNodeAffinity)},
		{"the provider's label, shunned", where(st.Exists(typeOf)), where(st.NotIn(region, "r1")), nil, nil, plain, nil},
		{"the provider's label, shunned and promised", where(st.Exists(typeOf)), where(st.NotIn(region, "r1")), nil, []requirements.Selector{st.Exists(region)}, plain, broken(verify.CodeNodeAffinity)},
		{"a requirement of the launch on its own label", where(st.Exists(team)), where(st.Exists(team)), map[string]string{team: "x"}, []requirements.Selector{st.In(team, "x")}, plain, nil},
		{"a requirement of the launch on another value", where(st.Exists(team)), where(st.Exists(team)), map[string]string{team: "x"}, []requirements.Selector{st.In(team, "y")}, plain, broken(verify.CodeLaunchRequirements)},
		{"a requirement of the launch that says nothing", where(st.Exists(typeOf)), where(st.Exists(typeOf)), nil, []requirements.Selector{st.NotIn(team, "y")}, plain, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := scheduling.Problem{Catalog: catalog, NodePools: []*scheduling.NodePool{st.NodePool("pool", tc.pool)}, Pods: []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)), tc.pod)}}
			f := buying(p, buy{pool: "pool", pods: "p", options: tc.options, labels: tc.labels})
			f.plan.Launches[0].Requirements = tc.carries
			got := f.violations(t)
			assert.ElementsMatch(t, tc.breaks, codes(got), "%v", got)
		})
	}
}

// TestOneMachineHasOneValue covers R34: two pods that ask for different values of an open label cannot share a machine,
// whatever the requirements of the launch are.
func TestOneMachineHasOneValue(t *testing.T) {
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10))),
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.Where(st.Exists(team)))},
		Pods:      []*corev1.Pod{st.Pod("p", st.Select(team, "red")), st.Pod("q", st.Select(team, "blue"))},
	}
	for _, value := range []string{"red", "blue", "green"} {
		f := buying(p, buy{pool: "pool", pods: "p q", options: []string{"m/a/on-demand"}, labels: map[string]string{team: value}})
		f.plan.Summary.PodsWithoutRequests = 2
		assert.Equal(t, broken(verify.CodeNodeAffinity), codes(f.violations(t)), value)
	}
	apart := buying(p,
		buy{pool: "pool", pods: "p", options: []string{"m/a/on-demand"}, labels: map[string]string{team: "red"}},
		buy{pool: "pool", pods: "q", options: []string{"m/a/on-demand"}, labels: map[string]string{team: "blue"}})
	apart.plan.Summary.PodsWithoutRequests = 2
	assert.Empty(t, apart.violations(t))
}

// TestLabelsAreThoseOfThePoolsCatalog: a label in the catalog of one pool says nothing about another pool.
func TestLabelsAreThoseOfThePoolsCatalog(t *testing.T) {
	labelled := st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.Label("example.com/gen", "5"), st.OnDemand("a", 10)))
	bare := st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 10)))
	p := scheduling.Problem{
		Catalog: labelled, PoolCatalogs: map[string]*instancetypes.Catalog{"bare": bare},
		NodePools: []*scheduling.NodePool{st.NodePool("bare", st.Where(st.In("example.com/gen", "7"))), st.NodePool("other", st.Where(st.In("example.com/gen", "7")))},
		Pods:      []*corev1.Pod{st.Pod("p", st.Requests(st.Cores(1)))},
	}
	seven := map[string]string{"example.com/gen": "7"}
	assert.Empty(t, buying(p, buy{pool: "bare", pods: "p", options: []string{"m/a/on-demand"}, labels: seven}).violations(t))
	assert.Equal(t, broken(verify.CodePoolRequirements),
		codes(buying(p, buy{pool: "other", pods: "p", options: []string{"m/a/on-demand"}, labels: seven}).violations(t)))
	assert.Equal(t, broken(verify.CodeRefusedForNothing), codes(buying(p).refusing("p").violations(t)))
}
