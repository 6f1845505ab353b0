package packing

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// m is a type of some cores with 4 GiB each.
func m(name string, cores int64, opts ...st.TypeOption) *instancetypes.InstanceType {
	return st.Type(name, append(opts, st.Capacity(st.Cores(cores), st.GiB(4*cores)))...)
}

func problem(pods []*corev1.Pod, types ...*instancetypes.InstanceType) scheduling.Problem {
	return scheduling.Problem{Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("default")}, Catalog: st.MustCatalog(types...)}
}

func TestShopFoldsPods(t *testing.T) {
	pods := st.Pods(3, "a", st.Requests(st.MilliCPU(500)), st.Label("x", "1"))
	pods = append(pods, st.Pod("b", st.Limits(st.MilliCPU(500)), st.Label("x", "2")), st.Pod("c", st.Requests(st.MilliCPU(600))),
		st.Pod("d", st.Requests(st.MilliCPU(500)), st.Select("zone", "z")), st.Pod("e", st.Requests(st.MilliCPU(500)), st.TolerateAll()))
	s, err := NewShop(problem(pods, m("m", 4, st.OnDemand("z", 1))))
	require.NoError(t, err)
	var sizes []int
	for _, c := range s.Classes {
		sizes = append(sizes, len(c.Pods))
	}
	assert.Equal(t, []int{4, 1, 1, 1}, sizes, "labels of pods do not matter, requests, selectors and tolerations do")
	assert.Equal(t, []corev1.ResourceName{"cpu", "pods"}, s.Resources)
	assert.Equal(t, []int64{500, 1}, s.Classes[0].Requests)
}

func TestShopOptions(t *testing.T) {
	arm := m("arm", 4, st.OnDemand("z1", st.Cents(1)))
	arm.Labels[corev1.LabelArchStable] = "arm64"
	p := problem([]*corev1.Pod{
		st.Pod("any", st.Requests(st.Cores(1)), st.TolerateAll()),
		st.Pod("far", st.Requests(st.Cores(1)), st.TolerateAll(), st.Where(st.In(corev1.LabelTopologyZone, "z1"), st.NotIn("gone", "x")), st.Where(st.In(corev1.LabelTopologyZone, "z2"))),
		st.Pod("meek", st.Requests(st.Cores(1))),
		st.Pod("team", st.Requests(st.Cores(1)), st.TolerateAll(), st.Select("team", "red")),
	}, arm, m("big", 4, st.OnDemand("z1", st.Cents(10)), st.OnDemand("z2", st.Cents(9)), st.OnDemand("z3", st.Cents(8)), st.OnDemand("z4", st.Cents(7)),
		st.Offer(offerings.Offering{Zone: "z5", CapacityType: offerings.OnDemand, Unavailable: true})),
		m("tiny", 1, st.OnDemand("z1", st.Cents(2))), m("spot", 4, st.Spot("z1", st.Cents(1))))
	p.NodePools = []*scheduling.NodePool{
		st.NodePool("red", st.Where(st.In(corev1.LabelArchStable, "amd64"), st.In(offerings.CapacityTypeLabel, "on-demand")),
			st.Taint("team", "red", corev1.TaintEffectNoSchedule), st.Label("team", "red")),
		st.NodePool("static", st.Replicas(2)),
		st.NodePool("strange", st.Where(st.In("unheard/of", "x", "y"))),
	}
	p.DaemonSets = append(p.DaemonSets, st.DaemonSet("agent", st.Requests(st.MilliCPU(100)), st.TolerateAll()),
		st.DaemonSet("elsewhere", st.Requests(st.MilliCPU(1)), st.TolerateAll(), st.Select("team", "blue")))
	p.Now = time.Unix(1e9, 0)
	p.Unavailable = &offerings.Unavailable{}
	p.Unavailable.Mark(offerings.Key{InstanceType: "big", Zone: "z3", CapacityType: offerings.OnDemand}, p.Now, 0)
	s, err := NewShop(p)
	require.NoError(t, err)

	type option struct {
		zone   string
		price  offerings.Price
		admits []bool
	}
	var got []option
	for _, o := range s.Options {
		assert.Equal(t, "red big", o.NodePool+" "+o.InstanceType)
		assert.Equal(t, []int64{3900, 109}, o.Room, "the daemon that runs there is deducted")
		got = append(got, option{o.Offering.Zone, o.Offering.Price, o.Admits})
	}
	assert.Equal(t, []option{
		{"z4", st.Cents(7), []bool{true, false, false, true}},
		{"z2", st.Cents(9), []bool{true, true, false, true}}, // z1 holds the same for more
	}, got)
}

func TestUnsupported(t *testing.T) {
	one := 1
	floor := st.In("x", "y")
	floor.MinValues = &one
	reserved := st.MustCatalog(m("m", 1, st.Reserved("z", 0, "cr", 1)))
	for want, change := range map[string]func(p *scheduling.Problem){
		"running nodes":     func(p *scheduling.Problem) { p.Nodes = []*corev1.Node{st.Node("n")} },
		"pool p: limits":    func(p *scheduling.Problem) { p.NodePools[0] = st.NodePool("p", st.MaxNodes(3)) },
		"pool p: weights":   func(p *scheduling.Problem) { p.NodePools[0] = st.NodePool("p", st.Weight(3)) },
		"pool p: minValues": func(p *scheduling.Problem) { p.NodePools[0] = st.NodePool("p", st.Where(floor)) },
		"pod default/spread: constraints": func(p *scheduling.Problem) {
			pod := st.Pod("spread")
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1}}
			p.Pods = append(p.Pods, pod)
		},
		"pod default/friend: constraints": func(p *scheduling.Problem) {
			pod := st.Pod("friend")
			pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{}}
			p.Pods = append(p.Pods, pod)
		},
		"m: reservations":     func(p *scheduling.Problem) { p.Catalog = reserved },
		"m: reservations are": func(p *scheduling.Problem) { p.PoolCatalogs = map[string]*instancetypes.Catalog{"p": reserved} },
	} {
		p := problem(nil, m("m", 1, st.OnDemand("z", 1)))
		require.NoError(t, Supported(p))
		change(&p)
		assert.ErrorContains(t, Supported(p), want)
		_, err := NewShop(p)
		assert.ErrorContains(t, err, want)
		_, err = Peer{}.Load(p)
		assert.ErrorContains(t, err, want)
	}
}
