package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// TestWhatBalancesProve: four web pods and two other pods (x) would all fit zone a, where machines are cheapest. The x
// pods are spread over zones by the label of web, i.e. may be only in zones with at most one web pod more than the
// emptiest zone. This costs 120 more: either the x pods are in zone b, or web pods are in b, and one in c.
func TestWhatBalancesProve(t *testing.T) {
	ofWeb := st.Of("app", "web")
	pods := func(opts ...st.PodOption) []*corev1.Pod {
		return append(st.Pods(4, "w", st.Requests(st.Cores(1)), st.Label("app", "web")),
			st.Pods(2, "x", append([]st.PodOption{st.Requests(st.Cores(1))}, opts...)...)...)
	}
	usual := pods(st.Spread(zoneOf, ofWeb))
	cert := func() *certificate.Certificate {
		zones := map[string]certificate.DomainDuals{}
		for zone, worth := range map[string]string{"a": "100", "b": "160", "c": "250"} {
			zones[zone] = certificate.DomainDuals{Values: map[string]string{"default/w-1": worth}, Vectors: vectors{{"pods": worth}}}
		}
		return &certificate.Certificate{
			Kind: "assignment", Values: map[string]string{"default/w-1": "140", "default/x-1": "160"}, Domains: zones,
			Balances: []certificate.DomainBalance{{Pod: "default/x-1", Raised: map[string]string{"c": "40"}, Taken: map[string]string{"a": "40"}}},
		}
	}
	change := func(f func(c *certificate.Certificate)) *certificate.Certificate {
		c := cert()
		f(c)
		return c
	}
	runs := func(zone string) func(*scheduling.Problem) {
		return func(p *scheduling.Problem) {
			p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(500), st.GiB(4)), st.Label(zoneOf, zone), st.Label(hostName, "n"))}
			p.Running = st.Pods(1, "r", st.Label("app", "web"), st.OnNode("n"))
		}
	}
	balance := func(f func(b *certificate.DomainBalance)) *certificate.Certificate {
		return change(func(c *certificate.Certificate) { f(&c.Balances[0]) })
	}
	nowhere := func(key string) func(*scheduling.Problem) {
		return func(p *scheduling.Problem) {
			runs("a")(p)
			delete(p.Nodes[0].Labels, key)
		}
	}
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		zones  string // of the pods
		c      *certificate.Certificate
		proven offerings.Price
	}{
		{"web pods in a, others in b", zonesMarket(usual), "aaaabb", cert(), 720},
		{"those pay more", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Values["default/x-1"] = "161" }), 718},
		{"web pods pay less", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Values["default/w-1"] = "139" }), 716},
		{"nothing is owed", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Raised, b.Taken = nil, nil }), 600},
		{"no balance", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Balances = nil }), 600},
		{"so much raised that it is worth while", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Raised["c"] = "111" }), 716},
		{"raised where it helps", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Raised = map[string]string{"b": "40"} }), 640},
		{"less taken than raised", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Taken["a"] = "39" }), 717},
		{"worth less in b", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Domains["b"].Values["default/w-1"] = "150" }), 700},
		{"nothing said of b", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { delete(c.Domains, "b") }), 0},
		{"more skew", zonesMarket(pods(st.Spread(zoneOf, ofWeb, st.Skew(2)))), "aaaabb", cert(), 680},
		{"one runs in a", zonesMarket(usual, runs("a")), "aaaabb", cert(), 720},
		{"one runs in b", zonesMarket(usual, runs("b")), "aaaabb", cert(), 720},
		{"one runs in c", zonesMarket(usual, runs("c")), "aaaabb", cert(), 680},
		{"too much worth in a", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Domains["a"].Values["default/w-1"] = "101" }), -1},
		{"too little by the vector", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Domains["a"].Vectors[0]["pods"] = "101" }), -1},
		{"more taken than raised", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Raised["c"] = "39" }), -2},
		{"raised where nothing is", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Raised["d"] = "1" }), -2},
		{"all in a", zonesMarket(usual), "aaaaaa", cert(), -2},
		{"not quite even", zonesMarket(usual), "aabcab", cert(), 720},
		{"one web pod is not placed", zonesMarket(usual), "aaa.bb", cert(), -2},
		{"a wish", zonesMarket(pods(st.Spread(zoneOf, ofWeb, st.Soft()))), "aaaabb", cert(), -2},
		{"spread over hosts", zonesMarket(pods(st.Spread(hostName, ofWeb))), "aaaabb", cert(), -2},
		{"spread over some nodes", zonesMarket(pods(st.Spread(zoneOf, ofWeb), st.Select(corev1.LabelArchStable, "amd64"))), "aaaabb", cert(), -2},
		{"a node without a zone", zonesMarket(usual, nowhere(zoneOf)), "aaaabb", cert(), -2},
		{"a node without a host name", zonesMarket(usual, nowhere(hostName)), "aaaabb", cert(), -2},
		{"no such pod", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Pod = "default/z" }), -2},
		{"a pod that is not spread", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Pod = "default/w-1" }), -2},
		{"a balance twice", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Balances = append(c.Balances, c.Balances[0]) }), -2},
		{"no number", zonesMarket(usual), "aaaabb", balance(func(b *certificate.DomainBalance) { b.Taken["a"] = "-1" }), -2},
		{"no number of a stranger", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Values["default/z"] = "1" }), -2},
		{"no such zone", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Domains["z"] = certificate.DomainDuals{} }), -2},
		{"vectors beside", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Vectors = vectors{{"pods": "100"}} }), -2},
		{"spreads beside", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Spreads = []certificate.DomainSpread{{Pod: "default/x-1"}} }), -2},
		{"beside fillings", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Kind = "pattern" }), -2},
		{"beside resources", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Kind, c.Values = "resource", nil }), -2},
		{"beside a cover", zonesMarket(usual), "aaaabb", change(func(c *certificate.Certificate) { c.Kind, c.Values = "cover", nil }), -2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var buys []buy
			for i, pod := range tc.p.Pods {
				if zone := tc.zones[i : i+1]; zone != "." {
					buys = append(buys, buy{pool: "pool", pods: pod.Name, options: []string{"m/" + zone + "/on-demand"}})
				}
			}
			f := buying(tc.p, buys...)
			f.skip = true
			f.plan.Summary.Certificate = tc.c
			prove(t, f, tc.proven)
		})
	}
}
