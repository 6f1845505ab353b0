package verify_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ExampleChecker_Prove prints the amounts that add up to a lower bound. The three pods request 2,700 millicores, of which
// a node sells 2,000 for $0.04.
func ExampleChecker_Prove() {
	problem := exampleProblem()
	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan.Summary.Certificate = &certificate.Certificate{Kind: certificate.ResourceKind, Values: map[string]string{"cpu": "20000"}} // nano-USD per millicore
	plan.Summary.LowerBoundPerHour = offerings.MustPrice("0.054")
	proof, _ := verify.Checker{}.Prove(problem, plan)
	for _, t := range proof.Terms {
		fmt.Println(t.Amount, t.Text)
	}
	fmt.Println(proof.Proven, "proven")
	// Output:
	// 0.054 price of the cheapest room for 2700 millicores of cpu
	// 0.054 proven
}

// TestTermsAddUp: the terms of a proof add up to the bound that it proves, which is at least the stated bound and at most
// the price, for each kind of certificate.
func TestTermsAddUp(t *testing.T) {
	t.Parallel()
	kinds := make(map[string]int)
	check := func(proof *verify.Proof, stated offerings.Price) {
		t.Helper()
		var sum offerings.Price
		for _, term := range proof.Terms {
			require.NotEmpty(t, term.Text)
			require.NotZero(t, term.Amount, term.Text)
			sum += term.Amount
		}
		require.Equal(t, proof.Proven, sum)
		require.GreaterOrEqual(t, proof.Proven, stated)
		kinds[proof.Kind]++
	}
	for seed := range soak.Cases(120) {
		p := schedulable(t, seed)
		plan, err := provisioning.Planner{}.Plan(t.Context(), p)
		require.NoError(t, err)
		if proof, err := (verify.Checker{SkipRefusals: true}).Prove(p, plan); err == nil {
			check(proof, plan.Summary.LowerBoundPerHour)
		}
	}
	for seed := range soak.Cases(10) {
		cluster := st.RandomCluster(seed)
		plan, err := disruption.Planner{}.Plan(t.Context(), cluster)
		require.NoError(t, err)
		if proof, err := (verify.StepsChecker{}).Prove(cluster, plan); err == nil {
			check(proof, plan.Summary.LowerBoundPerHour)
		}
	}
	for _, kind := range []string{certificate.AssignmentKind, certificate.PatternKind, certificate.CoverKind, certificate.BranchedKind} {
		assert.GreaterOrEqual(t, kinds[kind], race.Fewer(1, 0), "kind %s: %v", kind, kinds)
	}
}

// TestTermsOfExistingNodes: capacity that is paid for already is taken off the duals of the pods.
func TestTermsOfExistingNodes(t *testing.T) {
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(4)), st.OnDemand("a", 250))),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Pods:      st.Pods(3, "p", st.Requests(st.Cores(1))),
		Nodes:     []*corev1.Node{st.Node("n", st.Allocatable(st.Cores(1), st.GiB(4)))},
	}
	f := buying(p, buy{pool: "pool", pods: "p-1 p-2", options: []string{"m/a/on-demand"}}).onto("n", "p-3")
	f.plan.Summary.Certificate = &certificate.Certificate{Kind: certificate.ResourceKind, Values: map[string]string{"cpu": "1"}, Scale: 3}
	proof, _ := verify.Checker{}.Prove(p, f.plan)
	assert.Equal(t, []verify.ProofTerm{
		{Text: "price of the cheapest room for 3000 millicores of cpu", Amount: 375},
		{Text: "free capacity of existing nodes, at the duals of the pods that it could hold", Amount: -125},
	}, proof.Terms)
	assert.Equal(t, offerings.Price(250), proof.Proven)
	assert.Equal(t, 1, proof.Cases)
	none, err := verify.Checker{}.Prove(p, nil)
	assert.Nil(t, none)
	assert.Error(t, err)
}
