package verify_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// corruption changes a plan of the solver at a random place, and reports whether the plan has such a place. One of the
// codes must be reported; other codes may be, too.
type corruption struct {
	name  string
	apply func(f *fixture, rng *rand.Rand) bool
	any   []verify.Code
}

func corruptions() []corruption {
	launch := func(f *fixture, rng *rand.Rand) *scheduling.Launch {
		if len(f.plan.Launches) == 0 {
			return nil
		}
		return &f.plan.Launches[rng.IntN(len(f.plan.Launches))]
	}
	onLaunch := func(change func(l *scheduling.Launch, rng *rand.Rand)) func(*fixture, *rand.Rand) bool {
		return func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil {
				return false
			}
			change(l, rng)
			f.sum()
			return true
		}
	}
	onTwo := func(change func(a, b *scheduling.Launch)) func(*fixture, *rand.Rand) bool {
		return func(f *fixture, rng *rand.Rand) bool {
			a, b := launch(f, rng), launch(f, rng)
			if a == nil || a.Name == b.Name {
				return false
			}
			change(a, b)
			f.sum()
			return true
		}
	}
	onOption := func(change func(o *scheduling.LaunchOption)) func(*fixture, *rand.Rand) bool {
		return onLaunch(func(l *scheduling.Launch, rng *rand.Rand) { change(&l.Options[rng.IntN(len(l.Options))]) })
	}
	return []corruption{
		{"pod dropped", onLaunch(func(l *scheduling.Launch, rng *rand.Rand) {
			i := rng.IntN(len(l.Pods))
			l.Pods = slices.Delete(l.Pods, i, i+1)
		}), broken(verify.CodePodMissing)},
		{"launch dropped", func(f *fixture, rng *rand.Rand) bool {
			if len(f.plan.Launches) == 0 {
				return false
			}
			i := rng.IntN(len(f.plan.Launches))
			f.plan.Launches = slices.Delete(f.plan.Launches, i, i+1)
			f.sum()
			return true
		}, broken(verify.CodePodMissing)},
		{"launch doubled", func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil {
				return false
			}
			f.plan.Launches = append(f.plan.Launches, *l)
			f.sum()
			return true
		}, broken(verify.CodePodDuplicated)},
		{"pods of one launch also on another", onTwo(func(a, b *scheduling.Launch) { b.Pods = slices.Concat(b.Pods, a.Pods) }), broken(verify.CodePodDuplicated)},
		{"pods of one launch moved to another", onTwo(func(a, b *scheduling.Launch) { a.Pods, b.Pods = nil, slices.Concat(b.Pods, a.Pods) }), broken(verify.CodeLaunchEmpty)},
		{"pod refused instead", func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil || len(l.Pods) < 2 {
				return false
			}
			f.plan.Unschedulable = append(f.plan.Unschedulable, scheduling.Unschedulable{
				Pod: l.Pods[0], Message: "no", Reasons: []scheduling.ReasonCount{{Code: scheduling.ReasonResources, Count: 1}}, Fixes: []string{"ask for less"},
			})
			l.Pods = l.Pods[1:]
			f.sum()
			return true
		}, broken(verify.CodeLaunchRequests)},
		{"cheaper", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) { l.Price-- }), broken(verify.CodeLaunchPrice)},
		{"cheaper option", onOption(func(o *scheduling.LaunchOption) { o.Price-- }), broken(verify.CodeOptionPrice)},
		{"unknown type", onOption(func(o *scheduling.LaunchOption) { o.InstanceType = "none" }), broken(verify.CodeTypeUnknown)},
		{"unknown zone", onOption(func(o *scheduling.LaunchOption) { o.Zone = "none" }), broken(verify.CodeOfferingUnknown)},
		{"calmer option", onOption(func(o *scheduling.LaunchOption) { o.InterruptionRate += 0.5 }), broken(verify.CodeOptionInterruption)},
		{"estimated option", onOption(func(o *scheduling.LaunchOption) { o.Estimated = append(o.Estimated, "price") }), broken(verify.CodeOptionEstimated)},
		{"unknown pool", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) { l.NodePool = "none" }), broken(verify.CodePoolUnknown)},
		{"no options", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) { l.Options = nil }), broken(verify.CodeNoOptions)},
		{"option twice", onLaunch(func(l *scheduling.Launch, rng *rand.Rand) {
			l.Options = append(l.Options, l.Options[rng.IntN(len(l.Options))])
		}), broken(verify.CodeOptionDuplicated)},
		{"smaller request", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) {
			l.Requests[corev1.ResourcePods] = quantity("0")
		}), broken(verify.CodeLaunchRequests)},
		{"strange label", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) {
			l.Labels = map[string]string{"example.com/strange": "x"}
		}), broken(verify.CodeLaunchLabels)},
		{"strange taint", onLaunch(func(l *scheduling.Launch, _ *rand.Rand) {
			l.Taints = append(l.Taints, corev1.Taint{Key: "strange", Effect: corev1.TaintEffectNoSchedule})
		}), broken(verify.CodeLaunchTaints)},
		{"a last option that is too small", func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil {
				return false
			}
			tiny := st.Type("tiny", st.Capacity(st.MilliCPU(1), st.MiB(1), st.Count(corev1.ResourcePods, 0)), st.OnDemand(l.Options[0].Zone, offerings.MaxPrice))
			f.p.Catalog = st.MustCatalog(append(slices.Collect(f.p.Catalog.All()), tiny)...)
			f.p.PoolCatalogs = nil
			l.Options = append(l.Options, scheduling.LaunchOption{
				InstanceType: "tiny", Zone: l.Options[0].Zone, CapacityType: offerings.OnDemand, Price: offerings.MaxPrice,
			})
			return true
		}, broken(verify.CodeResources)},
		{"a node's pods on another node", func(f *fixture, rng *rand.Rand) bool {
			if len(f.plan.Existing) == 0 {
				return false
			}
			f.p.Nodes = append(f.p.Nodes, st.Node("full", st.Allocatable(st.MilliCPU(0), st.GiB(0), st.Count(corev1.ResourcePods, 0))))
			f.plan.Existing[rng.IntN(len(f.plan.Existing))].Node = "full"
			return true
		}, broken(verify.CodeResources)},
		{"a node goes away", func(f *fixture, rng *rand.Rand) bool {
			if len(f.plan.Existing) == 0 {
				return false
			}
			name := f.plan.Existing[rng.IntN(len(f.plan.Existing))].Node
			f.p.Nodes = slices.Clone(f.p.Nodes)
			for i, n := range f.p.Nodes {
				if n.Name == name {
					f.p.Nodes[i] = n.DeepCopy()
					f.p.Nodes[i].Spec.Taints = append(f.p.Nodes[i].Spec.Taints, corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
				}
			}
			return true
		}, broken(verify.CodeNodeLeaving)},
		{"offerings run out", func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil {
				return false
			}
			o := l.Options[rng.IntN(len(l.Options))]
			f.p.Unavailable = &offerings.Unavailable{}
			f.p.Unavailable.Mark(offerings.Key{InstanceType: o.InstanceType, Zone: o.Zone}, f.p.Now, 0)
			return true
		}, broken(verify.CodeOfferingUnavailable)},
		{"limits shrink", func(f *fixture, rng *rand.Rand) bool {
			l := launch(f, rng)
			if l == nil {
				return false
			}
			f.p.NodePools = slices.Clone(f.p.NodePools)
			for i, np := range f.p.NodePools {
				if np.Name == l.NodePool {
					smaller := *np
					smaller.Spec.Limits = st.Resources(st.MilliCPU(1))
					f.p.NodePools[i] = &smaller
				}
			}
			return true
		}, broken(verify.CodeLimits)},
		{"placed", func(f *fixture, _ *rand.Rand) bool { f.plan.Summary.Placed++; return true }, broken(verify.CodeSummaryCounts)},
		{"price", func(f *fixture, _ *rand.Rand) bool { f.plan.Summary.PricePerHour++; return true }, broken(verify.CodeSummaryPrice)},
		{"status", func(f *fixture, _ *rand.Rand) bool { f.plan.Summary.Status = "good"; return true }, broken(verify.CodeSummaryStatus)},
		{"bound", func(f *fixture, _ *rand.Rand) bool { f.claim(f.plan.Summary.PricePerHour + 1); return true }, broken(verify.CodeBoundAbovePrice)},
	}
}

func TestCorruptedSolutions(t *testing.T) {
	t.Parallel()
	applied := make(map[string]int)
	sound, total := 0, 0
	for seed := range soak.Cases(60) {
		p := schedulable(t, seed)
		solver := scheduling.Policy{Effort: scheduling.EffortFast}
		plan, err := provisioning.Planner{Policy: solver}.Plan(t.Context(), p)
		require.NoError(t, err)
		total++
		if verify.Plan(p, plan) != nil {
			continue // the solver's tests say so, too
		}
		sound++
		for i, c := range corruptions() {
			f := &fixture{p: p, plan: clone(t, plan)}
			if !c.apply(f, rand.New(rand.NewPCG(seed, uint64(i)))) {
				continue
			}
			applied[c.name]++
			got := codes(f.violations(t))
			require.True(t, slices.ContainsFunc(got, func(code verify.Code) bool { return slices.Contains(c.any, code) }),
				"seed %d: %s: want one of %v, got %v", seed, c.name, c.any, got)
		}
	}
	assert.Greater(t, sound, total*9/10, "most plans of the solver are sound")
	for _, c := range corruptions() {
		assert.Greater(t, applied[c.name], race.Fewer(3, 0), "%s was hardly ever tried", c.name)
	}
}

// clone copies the plan through JSON, which is how plans are exchanged.
func clone(t *testing.T, plan *scheduling.Plan) *scheduling.Plan {
	text, err := json.Marshal(plan)
	require.NoError(t, err)
	var out scheduling.Plan
	require.NoError(t, json.Unmarshal(text, &out))
	return &out
}

// TestNothingIsChanged: judging changes neither problem nor plan, and finds the same twice.
func TestNothingIsChanged(t *testing.T) {
	for seed := range soak.Cases(10) {
		p := schedulable(t, seed)
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		if len(plan.Launches) > 0 {
			plan.Launches[0].Pods = nil
		}
		before := written(t, p, plan)
		first := verify.Plan(p, plan)
		assert.Equal(t, first, verify.Plan(p, plan))
		shuffled := verify.Plan(st.Shuffle(p, seed), plan)
		assert.Equal(t, first, shuffled, "the order of the problem shows")
		assert.Equal(t, before, written(t, p, plan))
	}
}

// written returns problem and plan as JSON.
func written(t *testing.T, p scheduling.Problem, plan *scheduling.Plan) string {
	text, err := json.Marshal([]any{p.Pods, p.Running, p.NodePools, p.Nodes, plan})
	require.NoError(t, err)
	return string(text)
}
