package verify_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

func exampleProblem() scheduling.Problem {
	return scheduling.Problem{
		Pods:      schedulingtest.Pods(3, "web", schedulingtest.Requests(schedulingtest.MilliCPU(900))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(
			schedulingtest.Type("m7i.large",
				schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
				schedulingtest.Spot("a", offerings.MustPrice("0.04")),
				schedulingtest.OnDemand("a", offerings.MustPrice("0.1"))),
			schedulingtest.Type("m7i.xlarge",
				schedulingtest.Capacity(schedulingtest.Cores(4), schedulingtest.GiB(16)),
				schedulingtest.Spot("a", offerings.MustPrice("0.08")))),
	}
}

// ExamplePlan judges a plan of the solver, which breaks no rule.
func ExamplePlan() {
	problem := exampleProblem()
	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(verify.Plan(problem, plan))
	// Output: <nil>
}

// ExampleReport judges a plan that was changed by hand: the price of an option, and the number of pods.
func ExampleReport() {
	problem := exampleProblem()
	plan, err := provisioning.Planner{}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range plan.Launches {
		plan.Launches[i].Options[0].Price = 0
	}
	plan.Summary.Placed = 4

	var report *verify.Report
	if errors.As(verify.Plan(problem, plan), &report) {
		for _, code := range []verify.Code{verify.CodeOptionPrice, verify.CodeSummaryCounts, verify.CodeResources} {
			fmt.Println(code, report.Has(code))
		}
	}
	// Output:
	// option-price true
	// summary-counts true
	// resources false
}

// ExampleChecker judges a plan by the settings that it was made with.
func ExampleChecker() {
	problem := exampleProblem()
	solver := scheduling.Policy{MaxOptions: 2, Weights: scheduling.WeightIgnore}
	plan, err := provisioning.Planner{Policy: solver}.Plan(context.Background(), problem)
	if err != nil {
		fmt.Println(err)
		return
	}
	problem.Pods = append(problem.Pods, schedulingtest.Pod("late", schedulingtest.Requests(
		schedulingtest.Count(corev1.ResourceCPU, 1))))
	fmt.Println(verify.Checker{Policy: solver}.Plan(problem, plan))
	// Output:
	// plan breaks 2 rules
	//   pod/default/late: pod-missing: is not in the plan
	//   summary: summary-counts: pods is 3, want 4
}
