package verify_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// worths are duals of pods in the namespace default, by the name of the pod.
type worths map[string]string

// vectors are the vectors of a certificate, each with values by resource, e.g. "cpu" → "1".
type vectors []map[string]string

// assigning returns the plan of placing with a certificate of kind "assignment".
func assigning(p scheduling.Problem, values worths, by vectors) *fixture {
	f := placing(p, 0, map[string]string{})
	c := f.plan.Summary.Certificate
	c.Kind, c.Vectors = "assignment", by
	for name, v := range values {
		c.Values["default/"+name] = v
	}
	return f
}

func TestWhatWorthsProve(t *testing.T) {
	pods := func(prefix string, n int, opts ...st.PodOption) []*corev1.Pod { return st.Pods(n, prefix, opts...) }
	join := func(lists ...[]*corev1.Pod) (out []*corev1.Pod) {
		for _, l := range lists {
			out = append(out, l...)
		}
		return out
	}
	core, most, half := st.Requests(st.Cores(1)), st.Requests(st.MilliCPU(1500)), st.Requests(st.MilliCPU(500))
	none := vectors{{}}
	perCore := vectors{{"cpu": "1"}}
	node := st.Node("n", st.Allocatable(st.MilliCPU(1500), st.GiB(4)))
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		worths worths
		by     vectors
		proven offerings.Price // below 0: the certificate breaks a rule
	}{
		{"as many pods as a machine has places for", market(pods("p", 5, core), nil, st.OnDemand("a", 200)), worths{"p-1": "100"}, none, 500},
		{"one nano-USD too much", market(pods("p", 5, core), nil, st.OnDemand("a", 199)), worths{"p-1": "100"}, none, -1},
		{"a place is a whole one", market(pods("p", 5, most), nil, st.OnDemand("a", 200)), worths{"p-1": "200"}, none, 1000},
		{"no more pods than there are", market(pods("p", 1, half), nil, st.OnDemand("a", 200)), worths{"p-1": "200"}, none, 200},
		{"pods with one host port, each for itself", market(pods("p", 5, half, st.HostPort(80)), nil, st.OnDemand("a", 200)), worths{"p-1": "200"}, none, 1000},
		{"pods with other host ports can be together", market(join(pods("p", 1, half, st.HostPort(80)), pods("q", 1, half, st.HostPort(81))), nil, st.OnDemand("a", 200)),
			worths{"p-1": "200", "q-1": "200"}, none, -1},
		{"the same port, written in two ways", market(join(pods("p", 1, half, st.HostPort(80)), []*corev1.Pod{onEveryAddress(st.Pod("q", half, st.HostPort(80)))}), nil, st.OnDemand("a", 200)),
			worths{"p-1": "200"}, none, 400},
		{"different pods share a machine", market(join(pods("p", 5, core), pods("q", 5, half)), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000", "q-1": "500"}, none, -1},
		{"pods that are worth nothing make no room", market(join(pods("p", 1, core), pods("q", 1, half)), nil, st.OnDemand("a", 1000)), worths{"p-1": "1000"}, perCore, 1000},
		{"a vector knows that they do not share it twice", market(join(pods("p", 5, core), pods("q", 5, half)), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000", "q-1": "500"}, perCore, 7500},
		{"a vector and places", market(join(pods("p", 5, most), pods("q", 5, half)), nil, st.OnDemand("a", 2400)), worths{"p-1": "1900", "q-1": "500"}, perCore, 12000},
		{"one vector for each machine", market(join(pods("p", 2, core, st.Select(zoneOf, "a")), pods("q", 2, core, st.Select(zoneOf, "b"))), nil, st.OnDemand("a", 200), st.OnDemand("b", 6000)),
			worths{"p-1": "100", "q-1": "3000"}, vectors{{"cpu": "3"}, {}}, 6200},
		{"pods that may use both", market(join(pods("p", 2, core), pods("q", 2, core, st.Select(zoneOf, "b"))), nil, st.OnDemand("a", 200), st.OnDemand("b", 6000)),
			worths{"p-1": "100", "q-1": "3000"}, vectors{{"cpu": "3"}, {}}, 6200},
		{"a vector is missing", market(join(pods("p", 2, core), pods("q", 2, half)), nil, st.OnDemand("a", 2000), st.OnDemand("b", 6000)),
			worths{"p-1": "1000", "q-1": "500"}, vectors{{"memory": "1"}}, -1},
		{"no vectors at all", market(pods("p", 5, core), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000"}, nil, -1},
		{"worth of pods that are not like any", market(join(pods("p", 5, core), pods("q", 5, half)), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000"}, perCore, 5000},
		{"two say different things of the same", market(pods("p", 5, core), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000", "p-2": "10"}, perCore, 50},
		{"resources that nobody asks for are worth nothing", market(pods("p", 5, core), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000"}, vectors{{"cpu": "1", "example.com/fpga": "99999"}}, 5000},
		{"pods that fit nowhere may be worth anything", market(join(pods("p", 2, core), pods("q", 1, st.Requests(st.Cores(3)))), nil, st.OnDemand("a", 2000)), worths{"p-1": "1000", "q-1": "123456"}, none, 125456},
		{"a node holds whole pods for nothing", market(pods("p", 3, core), func(p *scheduling.Problem) { p.Nodes = []*corev1.Node{node} }, st.OnDemand("a", 2000)),
			worths{"p-1": "1000"}, none, 2000},
		{"a node counts by the vector that is best for it", market(join(pods("p", 2, core), pods("q", 2, half)), func(p *scheduling.Problem) { p.Nodes = []*corev1.Node{node} }, st.OnDemand("a", 2000)),
			worths{"p-1": "1000", "q-1": "500"}, vectors{{"memory": "9"}, {"cpu": "1"}}, 3000 - 1500},
		{"nodes without vectors hold what has places", scheduling.Problem{Pods: pods("p", 3, core), Nodes: []*corev1.Node{node}}, worths{"p-1": "1000"}, nil, 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := assigning(tc.p, tc.worths, tc.by)
			if tc.proven < 0 {
				assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1))
				return
			}
			assert.Empty(t, boundCodes(t, f, tc.proven))
			assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, tc.proven+1))
		})
	}
}

// onEveryAddress replaces the empty host IP, which means every address, by 0.0.0.0, which means the same.
func onEveryAddress(p *corev1.Pod) *corev1.Pod {
	for i := range p.Spec.Containers {
		for k := range p.Spec.Containers[i].Ports {
			p.Spec.Containers[i].Ports[k].HostIP = "0.0.0.0"
		}
	}
	return p
}

func TestMalformedWorths(t *testing.T) {
	p := scheduling.Problem{Pods: st.Pods(2, "p", st.Requests(st.Cores(1))), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 2000)))}
	for name, change := range map[string]func(c *certificate.Certificate){
		"a pod that there is not":       func(c *certificate.Certificate) { c.Values["default/none"] = "1" },
		"a pod without its namespace":   func(c *certificate.Certificate) { c.Values["p-1"] = "1" },
		"a negative worth":              func(c *certificate.Certificate) { c.Values["default/p-1"] = "-1" },
		"a fraction":                    func(c *certificate.Certificate) { c.Values["default/p-1"] = "0.5" },
		"no number":                     func(c *certificate.Certificate) { c.Values["default/p-1"] = "" },
		"a negative value in a vector":  func(c *certificate.Certificate) { c.Vectors[0]["cpu"] = "-1" },
		"a word in a vector":            func(c *certificate.Certificate) { c.Vectors[0]["cpu"] = "much" },
		"a negative scale":              func(c *certificate.Certificate) { c.Scale = -1 },
		"a scale without end":           func(c *certificate.Certificate) { c.Scale = 1 << 40 },
		"another kind":                  func(c *certificate.Certificate) { c.Kind = "Assignment" },
		"vectors beside resource kind":  func(c *certificate.Certificate) { c.Kind, c.Values = "resource", map[string]string{"cpu": "1"} },
		"a refused fraction of a worth": func(c *certificate.Certificate) { c.Values["default/p-2"] = "1e3" },
	} {
		t.Run(name, func(t *testing.T) {
			f := assigning(p, worths{"p-1": "1000"}, vectors{{"cpu": "1"}})
			require.Empty(t, boundCodes(t, f, 2000))
			change(f.plan.Summary.Certificate)
			for _, code := range boundCodes(t, f, 1) {
				assert.Equal(t, verify.CodeCertificateMalformed, code)
			}
			assert.NotEmpty(t, boundCodes(t, f, 1))
		})
	}
}

// TestWorthsOfTooMuch: a certificate for pods that request more than an int64 of a resource is malformed.
func TestWorthsOfTooMuch(t *testing.T) {
	p := scheduling.Problem{Pods: st.Pods(3, "p", st.Requests(st.GiB(1<<32)))}
	assert.Equal(t, broken(verify.CodeCertificateMalformed), boundCodes(t, assigning(p, worths{"p-1": "1"}, vectors{{}}), 1))
}

// TestScaleOfWorths: the scale is the unit of duals and vectors alike.
func TestScaleOfWorths(t *testing.T) {
	p := scheduling.Problem{Pods: st.Pods(5, "p", st.Requests(st.Cores(1))), NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(8)), st.OnDemand("a", 1001)))}
	f := assigning(p, worths{"p-1": "1001"}, vectors{{"cpu": "1"}})
	f.plan.Summary.Certificate.Scale = 1
	assert.Empty(t, boundCodes(t, f, 2503), "five times 500.5, rounded up")
	assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, 2504))
	f.plan.Summary.Certificate.Scale = 0
	assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1))
}
