package provisioning_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// related solves p and a problem that follows from it, for many p.
func related(t *testing.T, follow func(scheduling.Problem) scheduling.Problem, compare func(t *testing.T, seed uint64, p, q *scheduling.Plan)) {
	t.Helper()
	for i := range soak.Cases(10) {
		seed := 400_000 + i
		p := schedulingtest.Random(seed, schedulingtest.Size{})
		solver := scheduling.Policy{Effort: 20}
		first, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		require.NoError(t, err, "seed %d", seed)
		second, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), follow(p))
		require.NoError(t, err, "seed %d", seed)
		compare(t, seed, first, second)
	}
}

// Prices in another currency lead to the same launches. The factor is a power of two, so that not even the rounding of
// ranks differs.
func TestScalingPrices(t *testing.T) {
	t.Parallel()
	fourfold := func(p scheduling.Problem) scheduling.Problem {
		return withTypes(p, func(types []*instancetypes.InstanceType) []*instancetypes.InstanceType {
			for _, ty := range types {
				for i := range ty.Offerings {
					ty.Offerings[i].Price *= 4
				}
			}
			return types
		})
	}
	related(t, fourfold, func(t *testing.T, seed uint64, p, q *scheduling.Plan) {
		assert.Equal(t, 4*p.Summary.PricePerHour, q.Summary.PricePerHour, "seed %d", seed)
		assert.Equal(t, contents(p), contents(q), "seed %d: the same launches", seed)
	})
}

// Names decide ties only: other names in the same order change nothing else.
func TestRenaming(t *testing.T) {
	t.Parallel()
	rename := func(p scheduling.Problem) scheduling.Problem {
		pods := make([]*corev1.Pod, len(p.Pods))
		for i, pod := range p.Pods {
			pods[i] = pod.DeepCopy()
			pods[i].Name = "renamed-" + pod.Name
			pods[i].UID += "-renamed"
			pods[i].Labels["app"] = "renamed"
		}
		p.Pods = pods
		return p
	}
	related(t, rename, func(t *testing.T, seed uint64, p, q *scheduling.Plan) {
		text, err := json.Marshal(q)
		require.NoError(t, err)
		want, err := json.Marshal(p)
		require.NoError(t, err)
		assert.Equal(t, string(want), strings.ReplaceAll(string(text), "/renamed-", "/"), "seed %d", seed)
	})
}

// A twin of an offered type that costs more everywhere is never worth buying.
func TestAddingADearerType(t *testing.T) {
	t.Parallel()
	add := func(p scheduling.Problem) scheduling.Problem {
		return withTypes(p, func(types []*instancetypes.InstanceType) []*instancetypes.InstanceType {
			dear := types[0].DeepCopy()
			dear.Name = "zz-dear"
			delete(dear.Labels, corev1.LabelInstanceTypeStable)
			dear.Offerings = slices.DeleteFunc(dear.Offerings, func(o offerings.Offering) bool { return o.CapacityType == offerings.Reserved })
			for i := range dear.Offerings {
				dear.Offerings[i].Price += 1_000_000_000
			}
			return append(types, dear)
		})
	}
	related(t, add, func(t *testing.T, seed uint64, p, q *scheduling.Plan) {
		if q.Summary.Placed == p.Summary.Placed {
			assert.LessOrEqual(t, q.Summary.PricePerHour, p.Summary.PricePerHour, "seed %d", seed)
		}
	})
}

// A plan for all pods is, without some of them, a plan for the rest. So the price of the whole is at least the lower
// bound of the rest.
func TestRemovingPods(t *testing.T) {
	t.Parallel()
	half := func(p scheduling.Problem) scheduling.Problem {
		p.Pods = p.Pods[:(len(p.Pods)+1)/2]
		return p
	}
	related(t, half, func(t *testing.T, seed uint64, p, q *scheduling.Plan) {
		if len(p.Unschedulable) == 0 {
			assert.Empty(t, q.Unschedulable, "seed %d: what fits with others fits alone", seed)
			assert.LessOrEqual(t, q.Summary.LowerBoundPerHour, p.Summary.PricePerHour, "seed %d", seed)
		}
	})
}

// A further pool whose taint no pod tolerates changes nothing but reasons that name it.
func TestAddingAPoolThatNobodyTolerates(t *testing.T) {
	t.Parallel()
	add := func(p scheduling.Problem) scheduling.Problem {
		p.NodePools = append(slices.Clone(p.NodePools), schedulingtest.NodePool("zz-private",
			schedulingtest.Taint("private", "", corev1.TaintEffectNoSchedule)))
		for i, pod := range p.Pods {
			for _, tol := range pod.Spec.Tolerations {
				if tol.Key == "" {
					p.Pods = slices.Clone(p.Pods)
					p.Pods[i] = pod.DeepCopy()
					p.Pods[i].Spec.Tolerations = nil
				}
			}
		}
		return p
	}
	alone := func(p scheduling.Problem) scheduling.Problem {
		p = add(p)
		p.NodePools = p.NodePools[:len(p.NodePools)-1]
		return p
	}
	for i := range soak.Cases(10) {
		seed := 500_000 + i
		p, solver := schedulingtest.Random(seed, schedulingtest.Size{}), provisioning.Planner{Policy: scheduling.Policy{Effort: 20}}
		without, err := solver.Plan(t.Context(), alone(p))
		require.NoError(t, err, "seed %d", seed)
		with, err := solver.Plan(t.Context(), add(p))
		require.NoError(t, err, "seed %d", seed)
		assert.Equal(t, without.Summary.PricePerHour, with.Summary.PricePerHour, "seed %d", seed)
		assert.Equal(t, contents(without), contents(with), "seed %d", seed)
	}
}

// withTypes is p with another catalog, made of copies of the types.
func withTypes(p scheduling.Problem, change func([]*instancetypes.InstanceType) []*instancetypes.InstanceType) scheduling.Problem {
	rebuild := func(c *instancetypes.Catalog) *instancetypes.Catalog {
		var types []*instancetypes.InstanceType
		for ty := range c.All() {
			types = append(types, ty.DeepCopy())
		}
		return schedulingtest.MustCatalog(change(types)...)
	}
	p.Catalog = rebuild(p.Catalog)
	pools := map[string]*instancetypes.Catalog{}
	for name, c := range p.PoolCatalogs {
		pools[name] = rebuild(c)
	}
	p.PoolCatalogs = pools
	return p
}

// contents is which pods are together on which machine.
func contents(plan *scheduling.Plan) []string {
	var list []string
	for _, l := range plan.Launches {
		o := l.Options[0]
		list = append(list, fmt.Sprintf("%s %s %s %s %s: %v", l.NodePool, o.InstanceType, o.Zone, o.CapacityType, o.ReservationID, l.Pods))
	}
	for _, a := range plan.Existing {
		list = append(list, fmt.Sprintf("%s: %v", a.Node, a.Pods))
	}
	return list
}
