package verify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// harmless returns changes that keep a valid plan valid. Each reports whether it has changed anything.
func harmless() map[string]func(f *fixture, rng *rand.Rand) bool {
	withoutCertificate := func(f *fixture) {
		f.plan.Summary.Certificate = nil
		f.claim(0)
		if f.plan.Summary.Status == scheduling.StatusOptimal {
			f.plan.Summary.Status = scheduling.StatusComplete
		}
	}
	without := func(f *fixture, pods []string) {
		f.p.Pods = slices.DeleteFunc(slices.Clone(f.p.Pods), func(p *corev1.Pod) bool {
			return slices.Contains(pods, "default/"+p.Name) || slices.Contains(pods, p.Namespace+"/"+p.Name)
		})
		silent := 0
		for _, p := range f.p.Pods {
			if asksForNothing(p) {
				silent++
			}
		}
		f.plan.Summary.PodsWithoutRequests = silent
		f.plan.Summary.Resources = nil
		withoutCertificate(f)
	}
	return map[string]func(*fixture, *rand.Rand) bool{
		"no bound": func(f *fixture, _ *rand.Rand) bool { withoutCertificate(f); return true },
		"a launch and its pods vanish": func(f *fixture, rng *rand.Rand) bool {
			if len(f.plan.Launches) == 0 || len(f.plan.Unschedulable) > 0 {
				return false // a refused pod may fit once there is more to spend
			}
			i := rng.IntN(len(f.plan.Launches))
			if f.weightMatters(f.plan.Launches[i].NodePool) {
				return false
			}
			gone := f.plan.Launches[i].Pods
			f.plan.Launches = slices.Delete(f.plan.Launches, i, i+1)
			without(f, gone)
			return true
		},
		"refused pods vanish": func(f *fixture, _ *rand.Rand) bool {
			var gone []string
			for _, u := range f.plan.Unschedulable {
				gone = append(gone, u.Pod)
			}
			f.plan.Unschedulable = nil
			without(f, gone)
			return len(gone) > 0
		},
		"the last options vanish": func(f *fixture, _ *rand.Rand) bool {
			changed := false
			if len(f.plan.Unschedulable) > 0 {
				return false // what the options might have taken is free now
			}
			for i := range f.plan.Launches {
				l := &f.plan.Launches[i]
				if !f.counted(l.NodePool) && len(l.Options) > 1 {
					l.Options, changed = l.Options[:1], true
				}
			}
			return changed
		},
		"pods that have ended": func(f *fixture, _ *rand.Rand) bool {
			f.p.Pods = append(slices.Clone(f.p.Pods), st.Pod("ended", st.PodPhase(corev1.PodSucceeded), st.Requests(st.Cores(1000))))
			return true
		},
		"a pool that may buy nothing": func(f *fixture, _ *rand.Rand) bool {
			f.p.NodePools = append(slices.Clone(f.p.NodePools), st.NodePool("zz-static", st.Replicas(3), st.Weight(100)))
			return true
		},
		"a full node": func(f *fixture, _ *rand.Rand) bool {
			f.p.Nodes = append(slices.Clone(f.p.Nodes), st.Node("zz-full", st.Allocatable(st.Cores(64), st.GiB(256), st.Count(corev1.ResourcePods, 0))))
			return f.plan.Summary.Certificate == nil // a certificate may count on fewer nodes
		},
		"a type that is sold out": func(f *fixture, _ *rand.Rand) bool {
			if len(f.p.PoolCatalogs) > 0 {
				return false
			}
			gone := st.Type("zz-gone", st.Capacity(st.Cores(64), st.GiB(256)), st.Offer(offerings.Offering{
				Zone: "zone-a", CapacityType: offerings.OnDemand, Price: 1, Unavailable: true,
			}))
			f.p.Catalog = st.MustCatalog(append(slices.Collect(f.p.Catalog.All()), gone)...)
			return true
		},
		"a failure long ago": func(f *fixture, rng *rand.Rand) bool {
			if len(f.plan.Launches) == 0 || f.p.Unavailable != nil {
				return false
			}
			f.p.Unavailable = &offerings.Unavailable{}
			f.p.Unavailable.Mark(offerings.Key{InstanceType: f.plan.Launches[rng.IntN(len(f.plan.Launches))].Options[0].InstanceType}, f.p.Now.Add(-offerings.DefaultUnavailableTTL), 0)
			return true
		},
		"another order": func(f *fixture, rng *rand.Rand) bool {
			f.p = st.Shuffle(f.p, rng.Uint64())
			return true
		},
	}
}

// counted reports whether the pool has minValues.
func (f *fixture) counted(pool string) bool {
	return slices.ContainsFunc(f.pool(pool).Spec.Template.Spec.Requirements, func(s requirements.Selector) bool { return s.MinValues != nil })
}

// weightMatters reports whether a change that frees limits or options of the pool could make room in it for pods of
// pools with a lower weight.
func (f *fixture) weightMatters(pool string) bool {
	return len(f.pool(pool).Spec.Limits) > 0 || f.counted(pool) ||
		slices.ContainsFunc(f.plan.Launches, func(l scheduling.Launch) bool {
			return slices.ContainsFunc(l.Options, func(o scheduling.LaunchOption) bool { return o.CapacityType == offerings.Reserved })
		})
}

func asksForNothing(p *corev1.Pod) bool {
	zero := func(c *corev1.Container) bool {
		for _, list := range []corev1.ResourceList{c.Resources.Requests, c.Resources.Limits} {
			if !list.Cpu().IsZero() || !list.Memory().IsZero() {
				return false
			}
		}
		return true
	}
	for i := range p.Spec.Containers {
		if !zero(&p.Spec.Containers[i]) {
			return false
		}
	}
	for i := range p.Spec.InitContainers {
		if !zero(&p.Spec.InitContainers[i]) {
			return false
		}
	}
	level := p.Spec.Resources
	return p.Spec.Overhead.Cpu().IsZero() && p.Spec.Overhead.Memory().IsZero() &&
		(level == nil || level.Requests.Cpu().IsZero() && level.Requests.Memory().IsZero() && level.Limits.Cpu().IsZero() && level.Limits.Memory().IsZero())
}

func TestHarmlessChanges(t *testing.T) {
	applied := make(map[string]int)
	for seed := range soak.Cases(80) {
		p := schedulable(t, seed)
		plan, err := provisioning.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}}.Plan(t.Context(), p)
		require.NoError(t, err)
		if verify.Plan(p, plan) != nil {
			continue
		}
		for name, change := range harmless() {
			f := &fixture{p: p, plan: clone(t, plan)}
			if change(f, rand.New(rand.NewPCG(seed, 6))) {
				applied[name]++
				require.Empty(t, f.violations(t), "seed %d: %s", seed, name)
			}
		}
	}
	for name := range harmless() {
		assert.Greater(t, applied[name], race.Fewer(3, 0), "%s was hardly ever tried", name)
	}
}
