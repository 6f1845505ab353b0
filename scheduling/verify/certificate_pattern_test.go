package verify_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// TestWhatPatternsProve: a machine of two cores holds a pod of 1.2 cores and one of 0.7 cores, or two of 0.7. Patterns
// prove a bound by this, which no vector does.
func TestWhatPatternsProve(t *testing.T) {
	large, small := st.Requests(st.MilliCPU(1200)), st.Requests(st.MilliCPU(700))
	mixed := append(st.Pods(5, "p", large), st.Pods(5, "q", small)...)
	node := func(p *scheduling.Problem) {
		p.Nodes = []*corev1.Node{st.Node("n", st.Allocatable(st.MilliCPU(1500), st.GiB(4)))}
	}
	none, perCore := vectors{{}}, vectors{{"cpu": "1"}}
	both := worths{"p-1": "1000", "q-1": "600"}
	for _, tc := range []struct {
		name   string
		p      scheduling.Problem
		worths worths
		by     vectors
		proven offerings.Price // below 0: the certificate breaks a rule
	}{
		{"whole pods", market(mixed, nil, st.OnDemand("a", 1600)), both, none, 8000},
		{"a vector that helps", market(mixed, nil, st.OnDemand("a", 1600)), both, perCore, 8000},
		{"no vector at all", market(mixed, nil, st.OnDemand("a", 1600)), both, nil, 8000},
		{"one nano-USD too much", market(mixed, nil, st.OnDemand("a", 1599)), both, perCore, -1},
		{"the dearest of many fillings", market(mixed, nil, st.OnDemand("a", 1600)), worths{"p-1": "400", "q-1": "800"}, perCore, 6000},
		{"and too much there", market(mixed, nil, st.OnDemand("a", 1599)), worths{"p-1": "400", "q-1": "800"}, perCore, -1},
		{"no more pods than there are", market(append(st.Pods(5, "p", large), st.Pods(1, "q", small)...), nil, st.OnDemand("a", 1200)), worths{"p-1": "400", "q-1": "800"}, perCore, 2800},
		{"pods with one host port", market(append(st.Pods(5, "p", large), st.Pods(5, "q", small, st.HostPort(80))...), nil, st.OnDemand("a", 1200)), worths{"p-1": "400", "q-1": "800"}, perCore, 6000},
		{"daemons take their part", market(mixed, func(p *scheduling.Problem) {
			p.DaemonSets = []*appsv1.DaemonSet{st.DaemonSet("d", st.Requests(st.MilliCPU(200)))}
		}, st.OnDemand("a", 1200)), both, perCore, 8000},
		{"pods that may not be there", market(append(st.Pods(5, "p", large, st.Select(zoneOf, "b")), st.Pods(5, "q", small)...), nil, st.OnDemand("a", 1200), st.OnDemand("b", 1600)), both, perCore, 8000},
		{"pods that may", market(append(st.Pods(5, "p", large, st.Select(zoneOf, "a")), st.Pods(5, "q", small)...), nil, st.OnDemand("a", 1200), st.OnDemand("b", 1600)), both, perCore, -1},
		{"a reservation", market(mixed, nil, st.OnDemand("a", 1600), st.Reserved("a", 300, "cr", 2)), both, perCore, 8000 - 2*1300},
		{"a reservation that is no bargain", market(mixed, nil, st.OnDemand("a", 1600), st.Reserved("a", 1700, "cr", 2)), both, perCore, 8000},
		{"a node", market(mixed, node, st.OnDemand("a", 1600)), both, perCore, 8000 - 1200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := assigning(tc.p, tc.worths, tc.by)
			f.plan.Summary.Certificate.Kind = "pattern"
			if tc.proven < 0 {
				assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1))
				return
			}
			assert.Empty(t, boundCodes(t, f, tc.proven))
			assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, tc.proven+1))
			f.plan.Summary.Certificate.Kind = "assignment"
			assert.NotEmpty(t, boundCodes(t, f, tc.proven), "no vector knows that")
		})
	}
}

// TestReservedAmountsAreProven: two machines of two cores are left of a reservation; each holds 1,300 more than its price of 300. A
// certificate that states less is refused; one that states more proves less.
func TestReservedAmountsAreProven(t *testing.T) {
	mixed := append(st.Pods(5, "p", st.Requests(st.MilliCPU(1200))), st.Pods(5, "q", st.Requests(st.MilliCPU(700)))...)
	p := market(mixed, nil, st.OnDemand("a", 1600), st.Reserved("a", 300, "cr", 2))
	for stated, proven := range map[string]offerings.Price{"2600": 8000 - 2600, "3000": 8000 - 3000, "2599": -1, "0": -1} {
		f := assigning(p, worths{"p-1": "1000", "q-1": "600"}, vectors{{"cpu": "1"}})
		f.plan.Summary.Certificate.Kind = "pattern"
		f.plan.Summary.Certificate.Reserved = map[string]string{"cr": stated}
		if proven < 0 {
			assert.Equal(t, broken(verify.CodeCertificateOption), boundCodes(t, f, 1), stated)
			continue
		}
		assert.Empty(t, boundCodes(t, f, proven), stated)
		assert.Equal(t, broken(verify.CodeBoundUnproven), boundCodes(t, f, proven+1), stated)
		f.plan.Summary.Certificate.Reserved["cr"] = "-1"
		assert.Equal(t, broken(verify.CodeCertificateMalformed), boundCodes(t, f, 1))
	}
}
