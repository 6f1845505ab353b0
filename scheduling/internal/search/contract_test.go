package search_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/search"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// searched is a trial for a problem, with the least work.
func searched(t *testing.T, p scheduling.Problem) *search.Trial {
	t.Helper()
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	c, params := facts.Compile(true), pack.Params{Snug: true}
	if !c.HasTopologyTerms() {
		return search.NewTrial(c, params)
	}
	return search.NewSitePlanner(c, nil).Solve(params)
}

// aboutPlaces are the rules of launches and of pods on nodes. The summary, certificate and reasons are made by other packages, and
// provisioning takes away the options at which launches would together exceed limits and reservations.
func aboutPlaces() []verify.Code {
	return []verify.Code{
		verify.CodePodDuplicated, verify.CodeLaunchRequests, verify.CodeLaunchLabels, verify.CodeLaunchTaints, verify.CodeLaunchRequirements,
		verify.CodeNoOptions, verify.CodeMinValues, verify.CodeOptionOrder, verify.CodeOptionPrice,
		verify.CodeOfferingUnavailable, verify.CodePoolRequirements, verify.CodeNodeAffinity, verify.CodeTaints, verify.CodeHostPorts, verify.CodeResources,
		verify.CodeNodeLeaving, verify.CodeVolume, verify.CodeAttachLimit, verify.CodeTopologySpread, verify.CodePodAffinity,
		verify.CodePodAntiAffinity, verify.CodeOptionTopology,
	}
}

// TestDecodedPlansKeepTheRules: of a solution that the search finds, every launch holds its pods at each of its options, its
// NodePool may launch these, and all pods bind in the order of kube-scheduler's queue. Pods that would not bind are left out.
func TestDecodedPlansKeepTheRules(t *testing.T) {
	t.Parallel()
	placed := 0
	for seed := range soak.Cases(120) {
		// Volumes that pods share are the business of package volumes.
		p := st.Random(seed, st.Size{Pods: 20, Types: 5, Pools: 3, Nodes: 3, TopologyTerms: seed%3 > 0})
		p.Claims, p.Volumes, p.StorageClasses, p.CSINodes = nil, nil, nil, nil
		for _, pod := range slices.Concat(p.Pods, p.Running) {
			pod.Spec.Volumes = nil
		}
		trial := searched(t, p)
		plan, ok := search.Decode(trial)
		require.True(t, ok, "seed %d: with caution every launch has its minValues", seed)
		listed := map[string]bool{}
		for pod := range plan.Placements() {
			listed[pod.String()] = true
		}
		placed += len(listed)
		for _, pod := range p.Pods {
			if podspec.Pending(pod) && !listed[podspec.PodName(pod)] {
				plan.Unschedulable = append(plan.Unschedulable, scheduling.Unschedulable{Pod: podspec.PodName(pod)})
			}
		}
		var report *verify.Report
		if errors.As(verify.Checker{SkipRefusals: true}.Plan(p, plan), &report) {
			for _, v := range report.Violations {
				require.NotContains(t, aboutPlaces(), v.Code, "seed %d: %v", seed, v)
			}
		}
	}
	assert.Greater(t, placed, 500)
}

// TestDecodingIsRepeatable: a trial is decoded into the same plan each time, and the order in which the problem lists its objects
// does not show.
func TestDecodingIsRepeatable(t *testing.T) {
	for seed := range soak.Cases(25) {
		p := st.Random(seed, st.Size{Pods: 15, Types: 4, Pools: 2, Nodes: 2, TopologyTerms: true})
		trial := searched(t, p)
		plan, _ := search.Decode(trial)
		again, _ := search.Decode(trial)
		require.Equal(t, plan, again, "seed %d", seed)
		shuffled, _ := search.Decode(searched(t, st.Shuffle(p, seed)))
		require.Equal(t, plan, shuffled, "seed %d", seed)
	}
}

// TestDomainsComeBeforeMachines: pods that are spread over zones go to the zones first and to machines then, so that six pods of
// three zones use one node in each, although one zone is the cheapest.
func TestDomainsComeBeforeMachines(t *testing.T) {
	p := scheduling.Problem{
		Pods:      st.Pods(6, "web", st.Label("app", "web"), st.Requests(st.Cores(1)), st.Spread(corev1.LabelTopologyZone)),
		NodePools: []*scheduling.NodePool{st.NodePool("pool")},
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", 100), st.OnDemand("b", 300), st.OnDemand("c", 300))),
	}
	plan, ok := search.Decode(searched(t, p))
	require.True(t, ok)
	pods := map[string]int{}
	for _, l := range plan.Launches {
		pods[l.Options[0].Zone] += len(l.Pods)
	}
	assert.Equal(t, map[string]int{"a": 2, "b": 2, "c": 2}, pods)
}

// TestUrgentPodsComeFirst: where not all pods can be placed, a pod of a high priority has its place before any number of others.
func TestUrgentPodsComeFirst(t *testing.T) {
	urgent := st.Pod("urgent", st.Requests(st.Cores(2)))
	high := int32(1000)
	urgent.Spec.Priority = &high
	plan, ok := search.Decode(searched(t, scheduling.Problem{
		Pods:      append(st.Pods(2, "small", st.Requests(st.Cores(1))), urgent),
		NodePools: []*scheduling.NodePool{st.NodePool("pool", st.MaxNodes(1))},
		Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(32)), st.OnDemand("a", 100))),
	}))
	require.True(t, ok)
	require.Len(t, plan.Launches, 1)
	assert.Equal(t, []string{"default/urgent"}, plan.Launches[0].Pods)
}

// TestQueueOrderDecidesWhoBinds: of pods that could all be on one node, the search leaves out the pods that do not bind there in
// the order of kube-scheduler's queue. A pod that spreads over zones, but may use zone b only, binds there before pods that its
// spread counts, and not after them: zone a has a node and would have no pod, and zone b four.
func TestQueueOrderDecidesWhoBinds(t *testing.T) {
	for counted, want := range map[string][]string{
		"a": {"default/a-1", "default/a-2", "default/a-3"},
		"z": {"default/spread", "default/z-1", "default/z-2", "default/z-3"},
	} {
		back, inB := st.Label("tier", "back"), st.Select(corev1.LabelTopologyZone, "b")
		spread := st.Pod("spread", back, inB, st.Requests(st.Cores(3)), st.Spread(corev1.LabelTopologyZone))
		spread.Spec.TopologySpreadConstraints[0].NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
		plan, ok := search.Decode(searched(t, scheduling.Problem{
			Pods:      append(st.Pods(3, counted, back, inB, st.Requests(st.Cores(2))), spread),
			NodePools: []*scheduling.NodePool{st.NodePool("pool")},
			Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(16), st.GiB(32)), st.OnDemand("b", 100))),
			Nodes:     []*corev1.Node{st.Node("small", st.Allocatable(st.Cores(1), st.GiB(1)), st.Label(corev1.LabelTopologyZone, "a"))},
		}))
		require.True(t, ok)
		require.Len(t, plan.Launches, 1)
		assert.Equal(t, want, plan.Launches[0].Pods)
	}
}

// TestFollowersNeedAPodToFollow: a pod that must share a node with pods like itself may begin on a node of its own only while
// none of these is anywhere. Here follower-2, of higher priority, binds beside first, where follower-1 has no room, so that
// follower-1 has no place. Without it, follower-1 has a node of its own.
func TestFollowersNeedAPodToFollow(t *testing.T) {
	for others, want := range map[bool][][]string{
		true:  {{"default/first-1", "default/follower-2"}},
		false: {{"default/first-1"}, {"default/follower-1"}},
	} {
		beside, followers := st.Near(corev1.LabelHostname, st.OfAll()), st.Label("app", "follower")
		pods := append(st.Pods(1, "first", st.Priority(2), st.Requests(st.MilliCPU(700))),
			st.Pod("follower-1", followers, st.Requests(st.MilliCPU(3400)), st.Near(corev1.LabelHostname)))
		if others {
			pods = append(pods, st.Pod("follower-2", followers, st.Priority(1), st.Requests(st.Cores(3)), beside))
		}
		plan, ok := search.Decode(searched(t, scheduling.Problem{
			Pods: pods, NodePools: []*scheduling.NodePool{st.NodePool("pool")},
			Catalog: st.MustCatalog(st.Type("m", st.Capacity(st.Cores(4), st.GiB(8)), st.OnDemand("a", 100))),
		}))
		require.True(t, ok)
		var got [][]string
		for _, l := range plan.Launches {
			got = append(got, l.Pods)
		}
		assert.ElementsMatch(t, want, got)
	}
}

// TestOptionsOpenNoDomainOfOthers: a launch has no option in a zone that is in use by nothing else, because that zone would be
// one more domain of a spread, without a pod, and pods of the spread that may not go there would not bind any more. It has one
// where the NodePool asks for more zones by minValues.
func TestOptionsOpenNoDomainOfOthers(t *testing.T) {
	in := func(pool *scheduling.NodePool, least int, zones ...string) *scheduling.NodePool {
		pool.Spec.Template.Spec.Requirements = []requirements.Selector{{Key: corev1.LabelTopologyZone, Operator: requirements.In, Values: zones, MinValues: &least}}
		return pool
	}
	for least, want := range map[int][]string{1: {"a"}, 2: {"a", "c"}} {
		plan, ok := search.Decode(searched(t, scheduling.Problem{
			Pods: append(st.Pods(4, "web", st.Label("app", "web"), st.Requests(st.Cores(2)), st.Spread(corev1.LabelTopologyZone)),
				st.Pod("job", st.Select(scheduling.NodePoolLabel, "batch"), st.TolerateAll(), st.Requests(st.Cores(8)))),
			NodePools: []*scheduling.NodePool{in(st.NodePool("batch", st.Taint("batch", "", corev1.TaintEffectNoSchedule)), least, "a", "c"), in(st.NodePool("web"), 1, "a", "b")},
			Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(8), st.GiB(32)), st.OnDemand("a", 100), st.OnDemand("b", 100), st.OnDemand("c", 100))),
		}))
		require.True(t, ok)
		require.Len(t, plan.Launches, 3)
		var zones []string
		for _, o := range plan.Launches[0].Options {
			zones = append(zones, o.Zone)
		}
		assert.Equal(t, []string{"default/job"}, plan.Launches[0].Pods)
		assert.Equal(t, want, zones)
	}
}

// TestScores: of two trials the one that places more pods is better, at any price; with equal pods the cheaper one is.
func TestScores(t *testing.T) {
	trial := func(nodes, price int64) *search.Score {
		return searched(t, scheduling.Problem{
			Pods:      st.Pods(4, "web", st.Requests(st.Cores(2))),
			NodePools: []*scheduling.NodePool{st.NodePool("pool", st.MaxNodes(nodes))},
			Catalog:   st.MustCatalog(st.Type("m", st.Capacity(st.Cores(2), st.GiB(32)), st.OnDemand("a", st.Cents(price)))),
		}).Score()
	}
	for _, pair := range [][2]*search.Score{{trial(3, 9), trial(2, 1)}, {trial(3, 1), trial(3, 9)}} {
		assert.True(t, pair[0].Better(pair[1]))
		assert.False(t, pair[1].Better(pair[0]))
	}
}
