package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// rich is a problem with one of everything.
func rich() scheduling.Problem {
	typ := Type("m.large", Capacity(Cores(2), GiB(8)), Spot("a", Cents(3)))
	u := &offerings.Unavailable{}
	p := Random(1, Size{})
	u.Mark(offerings.Key{InstanceType: "x", CapacityType: offerings.Spot}, p.Now, 0)
	return scheduling.Problem{
		Pods:      []*corev1.Pod{Pod("a", Requests(Cores(1)), Select("k", "v"), Where(In("x", "y"))), Pod("b")},
		NodePools: []*scheduling.NodePool{NodePool("p", Limit(Cores(3)), Where(In("x", "y")), Label("l", "v"), Taint("t", "", corev1.TaintEffectNoSchedule))},
		Catalog:   MustCatalog(typ),
		Nodes:     []*corev1.Node{Node("n", Allocatable(Cores(4)))},
		Running:   []*corev1.Pod{Pod("r", OnNode("n"))},
		DaemonSets: []*daemonSet{
			DaemonSet("d", Requests(MilliCPU(10))),
		},
		Unavailable: u, Now: p.Now,
	}
}

func TestSnapshotNoticesEveryChange(t *testing.T) {
	assert.NoError(t, take(rich()).changes(rich()))
	changes := map[string]func(*scheduling.Problem){
		"a pod's request": func(p *scheduling.Problem) {
			p.Pods[0].Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("2")
		},
		"a pod's selector":     func(p *scheduling.Problem) { p.Pods[0].Spec.NodeSelector["k"] = "w" },
		"a pod's term":         func(p *scheduling.Problem) { firstTerm(p.Pods[0]).MatchExpressions[0].Values[0] = "z" },
		"a pod's label":        func(p *scheduling.Problem) { p.Pods[1].Labels = map[string]string{"new": "label"} },
		"the order of pods":    func(p *scheduling.Problem) { p.Pods[0], p.Pods[1] = p.Pods[1], p.Pods[0] },
		"a node's label":       func(p *scheduling.Problem) { p.Nodes[0].Labels["new"] = "label" },
		"a node's allocatable": func(p *scheduling.Problem) { p.Nodes[0].Status.Allocatable["cpu"] = resource.MustParse("1") },
		"a running pod":        func(p *scheduling.Problem) { p.Running[0].Spec.NodeName = "other" },
		"a daemon": func(p *scheduling.Problem) {
			p.DaemonSets[0].Spec.Template.Spec.NodeSelector = map[string]string{"a": "b"}
		},
		"a pool's limit":  func(p *scheduling.Problem) { p.NodePools[0].Spec.Limits["cpu"] = resource.MustParse("1") },
		"a pool's label":  func(p *scheduling.Problem) { p.NodePools[0].Spec.Template.Metadata.Labels["l"] = "w" },
		"a pool's values": func(p *scheduling.Problem) { p.NodePools[0].Spec.Template.Spec.Requirements[0].Values[0] = "z" },
		"a pool's taint":  func(p *scheduling.Problem) { p.NodePools[0].Spec.Template.Spec.Taints[0].Key = "z" },
		"the catalog": func(p *scheduling.Problem) {
			for typ := range p.Catalog.All() {
				typ.Offerings[0].Price++
			}
		},
		"the failures": func(p *scheduling.Problem) { p.Unavailable.Mark(offerings.Key{InstanceType: "y"}, p.Now, 0) },
	}
	for name, change := range changes {
		p := rich()
		before := take(p)
		change(&p)
		assert.ErrorContains(t, before.changes(p), "the solver changed its input", name)
	}
}

func firstTerm(p *corev1.Pod) *corev1.NodeSelectorTerm {
	return &p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0]
}
