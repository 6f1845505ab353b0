package units_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/units"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// bookOf is the units of a problem.
func bookOf(t *testing.T, p scheduling.Problem) *units.UnitBook {
	t.Helper()
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	b := units.NewUnitBook(facts.Compile(false).Locations(), nil, false)
	b.Build()
	return b
}

// market is nodes for sale in zones a and b.
func market(pods ...*corev1.Pod) scheduling.Problem {
	return scheduling.Problem{
		Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", 100), st.OnDemand("b", 100))),
	}
}

// TestEveryPodIsInOneUnit: the units have each pending pod once, and a unit with members of several classes has required affinity
// per host to thank for it.
func TestEveryPodIsInOneUnit(t *testing.T) {
	together := 0
	for seed := range soak.Cases(150) {
		b := bookOf(t, st.Random(seed, st.Size{Pods: 25, Types: 4, Pools: 2, Nodes: 4, TopologyTerms: true}))
		pods := make([]int64, len(b.Locations.In.Planned))
		for _, u := range b.Units {
			size := int64(0)
			for _, m := range u.Members {
				pods[m.Class] += m.N * u.Count
				size += m.N
			}
			require.Positive(t, u.Count)
			require.GreaterOrEqual(t, u.Signature, 0)
			if size > 1 {
				together++
				require.True(t, slices.ContainsFunc(u.Members, func(m instance.Member) bool { return len(b.HostTargets(m.Class)) > 0 }), "seed %d: %v", seed, u.Members)
			}
		}
		for i := range pods {
			require.Equal(t, b.Wanting(i), pods[i], "seed %d: class %d", seed, i)
		}
	}
	assert.Positive(t, together)
}

// TestFollowersShareANode: pods that must be with others on a host are in one unit with them, e.g. two caches with two of three
// web servers.
func TestFollowersShareANode(t *testing.T) {
	web := st.Pods(3, "web", st.Label("app", "web"), st.Requests(st.Cores(1)))
	cache := st.Pods(2, "cache", st.Label("app", "cache"), st.Requests(st.Cores(2)), st.Near(corev1.LabelHostname, st.Of("app", "web")))
	b := bookOf(t, market(slices.Concat(web, cache)...))
	var got []string
	for _, u := range b.Units {
		text := ""
		for range u.Count {
			for _, m := range u.Members {
				for range m.N {
					text += b.Locations.In.Planned[m.Class].Pods[0].Labels["app"] + " "
				}
			}
			got, text = append(got, text), ""
		}
	}
	slices.Sort(got)
	assert.Len(t, got, 3, "two units with a cache, and a web server by itself: %q", got)
	for _, u := range b.Units {
		assert.Equal(t, int64(len(u.Members)-1)*2000, b.Request(u.Members)[cpu(b)]-1000, "a unit requests the sum of its pods")
	}
}

func cpu(b *units.UnitBook) int {
	return slices.Index(b.Locations.In.Table.Names, corev1.ResourceCPU)
}

// TestRulesThatCannotBeBroken: a spread of no more pods than maxSkew, and anti-affinity of a single pod, leave only the condition
// that nodes have the topology key; with more pods they are rules.
func TestRulesThatCannotBeBroken(t *testing.T) {
	zone := corev1.LabelTopologyZone
	for name, tc := range map[string]struct {
		pods  int
		term  st.PodOption
		loose bool
	}{
		"spread of as many as maxSkew":   {3, st.Spread(zone, st.Skew(3)), true},
		"spread of more":                 {4, st.Spread(zone, st.Skew(3)), false},
		"anti-affinity of a single pod":  {1, st.Apart(zone), true},
		"anti-affinity of two":           {2, st.Apart(zone), false},
		"affinity of a pod to itself":    {1, st.Near(zone, st.Of("app", "web")), true},
		"affinity of pods to each other": {2, st.Near(zone, st.Of("app", "web")), false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bookOf(t, market(st.Pods(tc.pods, "web", st.Label("app", "web"), st.Requests(st.Cores(1)), tc.term)...))
			require.Len(t, b.Rules, 1)
			assert.Equal(t, tc.loose, b.Rules[0].Loose)
		})
	}
}

// TestUnplaceablePods: a pod is unplaceable if no offer or node takes it, and so are the pods with required affinity to it.
func TestUnplaceablePods(t *testing.T) {
	huge := st.Pod("huge", st.Label("app", "huge"), st.Requests(st.Cores(100)))
	follows := st.Pod("follows", st.Requests(st.Cores(1)), st.Near(corev1.LabelTopologyZone, st.Of("app", "huge")))
	free := st.Pod("free", st.Requests(st.Cores(1)))
	b := bookOf(t, market(huge, follows, free))
	unplaceable := map[string]bool{}
	for i, class := range b.Locations.In.Planned {
		for _, pod := range class.Pods {
			unplaceable[pod.Name] = b.Unplaceable[i]
		}
	}
	assert.Equal(t, map[string]bool{"huge": true, "follows": true, "free": false}, unplaceable)
}

// TestSignatures: units have equal signatures exactly where their pods have equal node constraints and topology terms and are
// selected alike, whatever they request.
func TestSignatures(t *testing.T) {
	zone := st.Spread(corev1.LabelTopologyZone, st.OfAll(st.In("app", "x", "y")))
	b := bookOf(t, market(
		st.Pod("x1", st.Label("app", "x"), st.Requests(st.Cores(1)), zone),
		st.Pod("x2", st.Label("app", "x"), st.Requests(st.Cores(2)), zone),
		st.Pod("plain", st.Requests(st.Cores(1))),
		st.Pod("selected", st.Label("app", "y"), st.Requests(st.Cores(1))),
		st.Pod("bound", st.Label("app", "x"), st.Requests(st.Cores(1)), zone, st.Select(corev1.LabelTopologyZone, "a")),
	))
	of := map[string]int{}
	for _, u := range b.Units {
		of[b.Locations.In.Planned[u.Members[0].Class].Pods[0].Name] = u.Signature
	}
	assert.Equal(t, of["x1"], of["x2"])
	distinct := map[int]bool{}
	for _, n := range of {
		distinct[n] = true
	}
	assert.Len(t, distinct, 4)
}

// TestTimesIn: the number of times is the largest that fits.
func TestTimesIn(t *testing.T) {
	assert.Equal(t, int64(2), units.TimesIn([]int64{7, 100}, []int64{3, 0}))
	assert.Equal(t, int64(0), units.TimesIn([]int64{-1, 100}, []int64{3, 1}))
	assert.Equal(t, int64(1)<<32, units.TimesIn([]int64{0}, []int64{0}))
}

// TestRedundantIsSafe: a redundant rule holds for every distribution of its pods over domains: with the pods counted one by one,
// the terms of all pods hold after each. All distributions of up to four pods over two zones are tried.
func TestRedundantIsSafe(t *testing.T) {
	redundant := 0
	for _, kind := range []podspec.TopologyTermKind{podspec.SpreadTerm, podspec.AntiAffinityTerm} {
		for held := range int64(3) {
			for others := range int64(3) { // selected pods without the term
				for skew := int64(1); skew <= 4; skew++ {
					r := units.Rule{Term: podspec.TopologyTerm{Kind: kind, MaxSkew: skew}}
					var h units.PodCounts
					h.Add(true, true, held)
					h.Add(false, true, others)
					if !r.Redundant(&h) {
						continue
					}
					redundant++
					for here := range held + 1 {
						for there := range others + 1 {
							// At worst all of these are in one domain, and the other is empty.
							count := here + there
							broken := kind == podspec.SpreadTerm && here > 0 && count > skew || kind == podspec.AntiAffinityTerm && here > 0 && count > 1
							require.False(t, broken, "kind %v: %d pods with the term, %d others, maxSkew %d", kind, held, others, skew)
						}
					}
				}
			}
		}
	}
	assert.Greater(t, redundant, 10)
}
