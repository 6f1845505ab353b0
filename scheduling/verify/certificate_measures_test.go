package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

const hostName = corev1.LabelHostname

// hostMarket is a problem of pods of half a core, and of machines of two cores for 200 nano-USD.
func hostMarket(change func(*scheduling.Problem), lists ...[]*corev1.Pod) scheduling.Problem {
	p := scheduling.Problem{NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 200)))}
	for _, l := range lists {
		p.Pods = append(p.Pods, l...)
	}
	if change != nil {
		change(&p)
	}
	return p
}

func TestWhatPodsApartProve(t *testing.T) {
	half, web, alone := st.Requests(st.MilliCPU(500)), st.Label("app", "web"), st.Apart(hostName)
	pods := func(n int, prefix string, opts ...st.PodOption) []*corev1.Pod {
		return st.Pods(n, prefix, append([]st.PodOption{half}, opts...)...)
	}
	loners := pods(5, "p", web, alone)
	slot := vectors{{"apart:0": "200"}}
	mixed := vectors{{"apart:0": "120", "cpu": "0"}, {"apart:0": "120"}}
	first, over := []certificate.ApartTerm{{Pod: "default/p-1"}}, []certificate.ApartTerm{{Pod: "default/p-1", Spread: true}}
	pairs := pods(5, "p", web, st.Spread(hostName, st.Skew(2)))
	nodes := func(opts ...st.NodeOption) func(*scheduling.Problem) {
		return func(p *scheduling.Problem) {
			p.Nodes = []*corev1.Node{st.Node("n", append([]st.NodeOption{st.Allocatable(st.Cores(2), st.GiB(4))}, opts...)...)}
		}
	}
	nameless := func(p *scheduling.Problem) {
		nodes()(p)
		delete(p.Nodes[0].Labels, hostName)
	}
	inhabited := func(labels ...st.PodOption) func(*scheduling.Problem) {
		return func(p *scheduling.Problem) {
			nodes()(p)
			p.Running = st.Pods(1, "r", append(labels, st.OnNode("n"))...)
		}
	}
	otherWords := pods(5, "q", web, st.Apart(hostName))
	for _, pod := range otherWords {
		term := &pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		term.Namespaces, term.LabelSelector.MatchLabels = []string{"default"}, map[string]string{"app": "web"}
	}
	narrower := pods(5, "q", web, st.Label("v", "1"), st.Apart(hostName, st.Of("v", "1")))
	wider := pods(5, "p", web, st.Label("v", "1"), st.Apart(hostName, st.Of("app", "web")))
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		worths worths
		by     vectors
		apart  []certificate.ApartTerm
		proven offerings.Price // below 0: the certificate breaks a rule
	}{
		{"each for itself", hostMarket(nil, loners), worths{"p-1": "200"}, slot, first, 1000},
		{"one nano-USD too much", hostMarket(nil, loners), worths{"p-1": "201"}, vectors{{"apart:0": "201"}}, first, -1},
		{"a worth above the value", hostMarket(nil, loners), worths{"p-1": "200"}, vectors{{"apart:0": "199"}}, first, 1000},
		{"a worth far above the value", hostMarket(nil, loners), worths{"p-1": "200"}, vectors{{"apart:0": "0"}}, first, 1000},
		{"nobody says that they are apart", hostMarket(nil, loners), worths{"p-1": "200"}, slot, nil, -1},
		{"pods that do not ask for it", hostMarket(nil, loners, pods(5, "q", web)), worths{"p-1": "100", "q-1": "100"}, slot, first, -1},
		{"they may be worth what is left", hostMarket(nil, loners, pods(5, "q", web)), worths{"p-1": "120", "q-1": "20"}, mixed, first, 700},
		{"but no more", hostMarket(nil, loners, pods(5, "q", web)), worths{"p-1": "141", "q-1": "20"}, vectors{{"apart:0": "141"}}, first, -1},
		{"pods that keep others away, not each other", hostMarket(nil, pods(5, "p", st.Label("app", "api"), st.Apart(hostName, st.Of("app", "web")))), worths{"p-1": "200"}, slot, first, -1},
		{"pods that keep their kind from the zone", hostMarket(nil, pods(5, "p", web, st.Apart(zoneOf))), worths{"p-1": "200"}, slot, first, -2},
		{"pods that would rather be alone", hostMarket(nil, pods(5, "p", web, st.Apart(hostName, st.Weight(100)))), worths{"p-1": "200"}, slot, first, -2},
		{"two sorts with the same term", hostMarket(nil, loners, pods(5, "q", web, alone, st.Requests(st.MilliCPU(300)))), worths{"p-1": "200", "q-1": "200"}, slot, first, 2000},
		{"the same term in other words", hostMarket(nil, loners, otherWords), worths{"p-1": "200", "q-1": "200"}, slot, first, 2000},
		{"a term that selects more", hostMarket(nil, loners, pods(5, "q", web, st.Label("tier", "x"), st.Apart(hostName, st.Of("tier", "x")))), worths{"p-1": "200", "q-1": "200"}, slot, first, -1},
		{"a node has room for one", hostMarket(nodes(), loners), worths{"p-1": "200"}, slot, first, 800},
		{"a node without a name has room for many", hostMarket(nameless, loners), worths{"p-1": "200"}, vectors{{"apart:0": "200"}, {}}, first, 200},
		{"a node with such a pod has none", hostMarket(inhabited(web), loners), worths{"p-1": "200"}, slot, first, 1000},
		{"a node with another pod has one", hostMarket(inhabited(st.Label("app", "api")), loners), worths{"p-1": "200"}, slot, first, 800},
		{"a node that keeps some of them away alone", hostMarket(inhabited(web), wider, narrower), worths{"p-1": "200", "q-1": "200"}, slot, first, 1800},
		{"two on each", hostMarket(nil, pairs), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, 500},
		{"two that are worth too much", hostMarket(nil, pairs), worths{"p-1": "101"}, vectors{{"apart:0": "101"}}, over, -1},
		{"two beside a wider spread", hostMarket(nil, pairs, pods(5, "q", web, st.Spread(hostName, st.Skew(3)))), worths{"p-1": "100", "q-1": "100"}, vectors{{"apart:0": "100"}}, over, -1},
		{"a spread is no term", hostMarket(nil, pairs), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, first, -2},
		{"a term is no spread", hostMarket(nil, loners), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, -2},
		{"a spread over zones", hostMarket(nil, pods(5, "p", web, st.Spread(zoneOf))), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, -2},
		{"a spread that need not hold", hostMarket(nil, pods(5, "p", web, st.Spread(hostName, st.Soft()))), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, -2},
		{"a spread of others", hostMarket(nil, pods(5, "p", web, st.Spread(hostName, st.Of("app", "api")))), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, -1},
		{"a node with one has room for one more", hostMarket(inhabited(web), pairs), worths{"p-1": "100"}, vectors{{"apart:0": "100"}}, over, 400},
		{"no such pod", hostMarket(nil, loners), worths{"p-1": "1"}, slot, []certificate.ApartTerm{{Pod: "default/z"}}, -2},
		{"no such term", hostMarket(nil, loners), worths{"p-1": "1"}, slot, []certificate.ApartTerm{{Pod: "default/p-1", Term: 1}}, -2},
		{"a term below none", hostMarket(nil, loners), worths{"p-1": "1"}, slot, []certificate.ApartTerm{{Pod: "default/p-1", Term: -1}}, -2},
	} {
		for _, kind := range []string{"assignment", "pattern"} {
			t.Run(tc.name+"/"+kind, func(t *testing.T) {
				f := assigning(tc.p, tc.worths, tc.by)
				f.plan.Summary.Certificate.Kind, f.plan.Summary.Certificate.Apart = kind, tc.apart
				prove(t, f, tc.proven)
			})
		}
	}
	t.Run("pods that are placed freely", func(t *testing.T) {
		f := assigning(hostMarket(nil, pairs), worths{"p-1": "100"}, vectors{{"apart:0": "100"}})
		f.plan.Summary.Certificate.Apart, f.solver.Placement = over, scheduling.PlacementFree
		prove(t, f, -2)
	})
}

// prove checks that the certificate proves want, and no higher bound. want is -1 where a machine holds more worth than
// its price, and -2 where the certificate is malformed.
func prove(t *testing.T, f *fixture, want offerings.Price) {
	t.Helper()
	switch want {
	case -1:
		assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1))
	case -2:
		assert.Equal(t, broken(verify.CodeCertificateMalformed), boundCodes(t, f, 1))
	default:
		assert.Empty(t, boundCodes(t, f, want))
		assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, want+1))
	}
}

// TestWhatStepsProve: for pods of half a core and of one core a machine of 1.9 cores counts as three halves, because
// the pods request whole halves.
func TestWhatStepsProve(t *testing.T) {
	list := append(st.Pods(5, "p", st.Requests(st.MilliCPU(500))), st.Pods(5, "q", st.Requests(st.Cores(1)))...)
	market := func(milli int64, price offerings.Price) scheduling.Problem {
		return scheduling.Problem{Pods: list, NodePools: []*scheduling.NodePool{st.NodePool("pool")},
			Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.MilliCPU(milli), st.GiB(8)), st.OnDemand("a", price)))}
	}
	node := func(p scheduling.Problem, milli int64) scheduling.Problem {
		p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(milli), st.GiB(4)))}
		return p
	}
	both, perStep := worths{"p-1": "100", "q-1": "200"}, vectors{{"step:0": "100"}}
	halves := []certificate.Quantum{{Resource: "cpu", Size: 500}}
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		worths worths
		by     vectors
		steps  []certificate.Quantum
		proven offerings.Price
	}{
		{"whole steps", market(1900, 300), both, perStep, halves, 1500},
		{"one nano-USD too much", market(1900, 299), both, perStep, halves, -1},
		{"one step more", market(2000, 300), both, perStep, halves, -1},
		{"the last millicore", market(1999, 300), both, perStep, halves, 1500},
		{"nobody says what a step is", market(1900, 300), both, perStep, nil, -1},
		{"steps of another resource", market(1900, 300), both, perStep, []certificate.Quantum{{Resource: "memory", Size: 500}}, -1},
		{"steps of what nobody has", market(1900, 300), both, perStep, []certificate.Quantum{{Resource: "example.com/x", Size: 500}}, -1},
		{"larger steps", market(1900, 200), worths{"q-1": "200"}, vectors{{"step:0": "200"}}, []certificate.Quantum{{Resource: "cpu", Size: 1000}}, 1000},
		{"what is less than a step is no step", market(1900, 200), worths{"p-1": "100", "q-1": "200"}, vectors{{"step:0": "200"}}, []certificate.Quantum{{Resource: "cpu", Size: 1000}}, -1},
		{"two steps", market(1900, 300), both, vectors{{"step:1": "100"}}, []certificate.Quantum{{Resource: "cpu", Size: 400}, {Resource: "cpu", Size: 500}}, 1500},
		{"a node has whole steps", node(market(1900, 300), 999), both, perStep, halves, 1400},
		{"no step at all", market(1900, 300), both, perStep, []certificate.Quantum{{Resource: "cpu"}}, -2},
		{"a step backwards", market(1900, 300), both, perStep, []certificate.Quantum{{Resource: "cpu", Size: -500}}, -2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := assigning(tc.p, tc.worths, tc.by)
			f.plan.Summary.Certificate.Steps = tc.steps
			prove(t, f, tc.proven)
		})
	}
}

// TestMeasuresBesideResources: a certificate of kind "resource" must not have measures.
func TestMeasuresBesideResources(t *testing.T) {
	for name, change := range map[string]func(*certificate.Certificate){
		"apart": func(c *certificate.Certificate) { c.Apart = []certificate.ApartTerm{{Pod: "default/p-1"}} },
		"steps": func(c *certificate.Certificate) { c.Steps = []certificate.Quantum{{Resource: "cpu", Size: 1}} },
	} {
		t.Run(name, func(t *testing.T) {
			f := placing(hostMarket(nil, st.Pods(2, "p", st.Apart(hostName))), 0, map[string]string{"cpu": "0"})
			change(f.plan.Summary.Certificate)
			prove(t, f, -2)
		})
	}
}
