package requirements_test

import (
	"errors"
	"fmt"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// A NodePool, narrowed by a pod.
func Example() {
	pool, err := requirements.FromSelectors([]requirements.Selector{
		{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"spot", "on-demand"}},
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: requirements.Gt, Values: []string{"3"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := requirements.FromLabels(map[string]string{
		"karpenter.sh/capacity-type": "spot",
		"kubernetes.io/arch":         "arm64",
	})
	if err := pool.Compatible(pod, requirements.WellKnown()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(pool.Intersect(pod))
	// Output:
	// karpenter.k8s.aws/instance-cpu Exists >=4, karpenter.sh/capacity-type In [spot], kubernetes.io/arch In [arm64]
}

func ExampleRequirement_Intersect() {
	large := requirements.MustNew("example.com/cores", requirements.Gte, "8")
	odd := requirements.MustNew("example.com/cores", requirements.NotIn, "4", "12")
	fmt.Println(large.Intersect(odd))
	// Output: example.com/cores NotIn [12] >=8
}

// A missing label satisfies some requirements and not others.
func ExampleSet_Matches() {
	for _, r := range []requirements.Requirement{
		requirements.MustNew("gpu", requirements.NotIn, "none"), requirements.MustNew("gpu", requirements.DoesNotExist),
		requirements.MustNew("gpu", requirements.Exists), requirements.MustNew("gpu", requirements.Gt, "0"),
	} {
		fmt.Println(r, requirements.NewSet(r).Matches(map[string]string{"kubernetes.io/os": "linux"}))
	}
	// Output:
	// gpu NotIn [none] true
	// gpu DoesNotExist true
	// gpu Exists false
	// gpu Exists >=1 false
}

func ExampleSet_Compatible() {
	pool := requirements.FromLabels(map[string]string{"example.com/team": "shop"})
	pod := requirements.FromLabels(map[string]string{"example.com/team": "search", "zone": "eu-west-1a"})
	err := pool.Compatible(pod, requirements.WellKnown())
	fmt.Println(err)

	var conflict *requirements.Conflict
	fmt.Println(errors.As(err, &conflict), conflict.Key)
	// Output:
	// label "example.com/team": In [shop] does not overlap In [search]
	// label "zone" is required (In [eu-west-1a]) but not defined; did you mean "topology.kubernetes.io/zone"?
	// true example.com/team
}

func ExampleValidateSelectors() {
	floor := 2
	fmt.Println(requirements.ValidateSelectors([]requirements.Selector{
		{Key: "karpenter.sh/capacity-type", Operator: requirements.In, Values: []string{"Spot"}},
		{Key: "karpenter.k8s.aws/instance-cpu", Operator: requirements.Gt, Values: []string{"-1"}, MinValues: &floor},
	}))
	// Output:
	// [0].values of "karpenter.sh/capacity-type": needs at least 1 of the values on-demand, reserved, spot: "Spot"
	// [1].values[0] of "karpenter.k8s.aws/instance-cpu": operator Gt needs an integer that is not negative: "-1"
}
