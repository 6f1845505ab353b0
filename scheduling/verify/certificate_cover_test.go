package verify_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// TestWhatWholeMachinesProve: machines have ten cores for 100 nano-USD or two cores for 26, so that whole machines cost
// more than their resources.
func TestWhatWholeMachinesProve(t *testing.T) {
	types := func(more ...*instancetypes.InstanceType) *instancetypes.Catalog {
		return st.MustCatalog(append(more,
			st.Type("large", st.Capacity(st.Cores(10), st.GiB(20)), st.OnDemand("a", 100)),
			st.Type("small", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 26)))...)
	}
	pods := func(n int, opts ...st.PodOption) []*corev1.Pod {
		return st.Pods(n, "p", append([]st.PodOption{st.Requests(st.Cores(1))}, opts...)...)
	}
	market := func(list []*corev1.Pod, catalog *instancetypes.Catalog, change func(*scheduling.Problem)) scheduling.Problem {
		p := scheduling.Problem{Pods: list, NodePools: []*scheduling.NodePool{st.NodePool("pool")}, Catalog: catalog}
		if change != nil {
			change(&p)
		}
		return p
	}
	node := func(opts ...st.NodeOption) func(*scheduling.Problem) {
		return func(p *scheduling.Problem) {
			p.Nodes = []*corev1.Node{st.Node("n", append([]st.NodeOption{st.Allocatable(st.Cores(1), st.GiB(4))}, opts...)...)}
		}
	}
	ten, spread := map[string]string{"cpu": "10"}, st.Spread(hostName, st.Skew(2))
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		values map[string]string
		proven offerings.Price
	}{
		{"whole machines", market(pods(21), types(), nil), ten, 226},
		{"without values, too", market(pods(21), types(), nil), nil, 226},
		{"with values of something else", market(pods(21), types(), nil), map[string]string{"memory": "7", "example.com/x": "9"}, 226},
		{"one more of the large", market(pods(28), types(), nil), ten, 300},
		{"a bargain", market(pods(21), types(st.Type("bargain", st.Capacity(st.Cores(21), st.GiB(42)), st.OnDemand("a", 150))), nil), ten, 150},
		{"a bargain that no pod may use", market(pods(21), types(st.Type("bargain", st.Capacity(st.Cores(21), st.GiB(42)), st.OnDemand("b", 150))), func(p *scheduling.Problem) {
			for _, pod := range p.Pods {
				pod.Spec.NodeSelector = map[string]string{zoneOf: "a"}
			}
		}), ten, 226},
		{"a bargain that one pod may use", market(pods(21), types(st.Type("bargain", st.Capacity(st.Cores(21), st.GiB(42)), st.OnDemand("b", 150))), func(p *scheduling.Problem) {
			for _, pod := range p.Pods[1:] {
				pod.Spec.NodeSelector = map[string]string{zoneOf: "a"}
			}
		}), ten, 150},
		{"a bargain that is not on sale", market(pods(21), types(st.Type("bargain", st.Capacity(st.Cores(21), st.GiB(42)), st.Reserved("a", 1, "cr", 0))), nil), ten, 226},
		{"a reservation, once", market(pods(21), types(st.Type("reserved", st.Capacity(st.Cores(10), st.GiB(20)), st.Reserved("a", 10, "cr", 1))), nil), ten, 136},
		{"daemons take their part", market(pods(18), types(), func(p *scheduling.Problem) {
			p.DaemonSets = []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.Cores(1)))}
		}), ten, 200},
		{"a node", market(pods(21), types(), node()), ten, 200},
		{"a node that has room for others alone", market(append(pods(1), st.Pods(7, "q", st.Requests(st.Cores(3)))...), types(), node()), ten, 300},
		{"a node that no pod tolerates", market(pods(21), types(), node(st.Taint("k", "", corev1.TaintEffectNoSchedule))), ten, 226},
		{"a node that is being removed", market(pods(21), types(), node(st.Disrupted())), ten, 226},
		{"a node that holds more than it has", market(pods(21), types(), func(p *scheduling.Problem) {
			node()(p)
			p.Running = st.Pods(1, "r", st.Requests(st.Cores(9)), st.OnNode("n"))
			p.Pods = append(p.Pods, st.Pods(1, "q")...)
		}), ten, 226},
		{"two on each", market(pods(21, st.Label("app", "web"), spread), types(), nil), ten, 11 * 26},
		{"a node has room for two", market(pods(21, st.Label("app", "web"), spread), types(), node(st.Allocatable(st.Cores(10), st.GiB(40)))), ten, 10 * 26},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := placing(tc.p, 0, tc.values)
			f.plan.Summary.Certificate.Kind = "cover"
			if len(tc.p.Pods[0].Spec.TopologySpreadConstraints) > 0 {
				f.plan.Summary.Certificate.Apart = []certificate.ApartTerm{{Pod: "default/p-1", Spread: true}}
			}
			prove(t, f, tc.proven)
		})
	}
	for name, change := range map[string]func(*certificate.Certificate){
		"a negative value": func(c *certificate.Certificate) { c.Values["cpu"] = "-1" },
		"vectors":          func(c *certificate.Certificate) { c.Vectors = []map[string]string{{}} },
		"terms":            func(c *certificate.Certificate) { c.Apart = []certificate.ApartTerm{{Pod: "default/p-1"}} },
		"no steps":         func(c *certificate.Certificate) { c.Steps = []certificate.Quantum{{Resource: "cpu"}} },
	} {
		t.Run(name, func(t *testing.T) {
			f := placing(market(pods(21), types(), nil), 0, map[string]string{"cpu": "10"})
			f.plan.Summary.Certificate.Kind = "cover"
			change(f.plan.Summary.Certificate)
			prove(t, f, -2)
		})
	}
	t.Run("pods that request too much", func(t *testing.T) {
		p := scheduling.Problem{Pods: st.Pods(3, "p", st.Requests(st.GiB(1<<32)))}
		f := placing(p, 0, nil)
		f.plan.Summary.Certificate.Kind = "cover"
		prove(t, f, -2)
	})
}
