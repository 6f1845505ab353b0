package verify_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// ExampleSteps judges a consolidation plan, and the same plan after a change by hand.
func ExampleSteps() {
	kind := st.Type("m.large", st.Capacity(st.Cores(4), st.GiB(16)), st.OnDemand("a", st.Cents(20)))
	node := func(name string) *corev1.Node {
		return st.Node(name, st.OfPool("default"), st.OfType(kind, kind.Offerings[0]))
	}
	cluster := disruption.Cluster{Problem: scheduling.Problem{
		Now:       time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC),
		Catalog:   st.MustCatalog(kind),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
		Nodes:     []*corev1.Node{node("busy"), node("idle")},
		Running:   []*corev1.Pod{st.Pod("web", st.OnNode("busy"), st.Requests(st.Cores(3)))},
	}}
	plan, err := disruption.Planner{}.Plan(context.Background(), cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as planned:", verify.Steps(cluster, plan))

	plan.Steps[0].Drain[0] = "busy"
	err = verify.StepsChecker{}.Steps(cluster, plan)
	var first verify.Violation
	if errors.As(err, &first) {
		fmt.Println("changed:", first)
	}
	// Output:
	// as planned: <nil>
	// changed: steps[0]/node/busy: step-reason: is not empty: it has pod default/web
}
