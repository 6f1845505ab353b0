package disruption

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

// always is a list of all reasons that ask nodes whether they may go.
func always() []Reason { return []Reason{Drifted, Empty, Underutilized} }

// codes are the causes why the node n may not go for a reason; nil if it may.
func codes(f *state, reason Reason) []CauseCode {
	var out []CauseCode
	for _, c := range f.rules.blockers(f.byName["n"], reason) {
		out = append(out, c.Code)
	}
	return out
}

func TestBlockers(t *testing.T) {
	future, past := noon().Add(time.Second), noon().Add(-time.Second)
	label := func(key, value string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Labels[key] = value }
	}
	without := func(key string) func(*corev1.Node) { return func(n *corev1.Node) { delete(n.Labels, key) } }
	none := map[Reason][]CauseCode{}
	all := func(code CauseCode) map[Reason][]CauseCode {
		return map[Reason][]CauseCode{Drifted: {code}, Empty: {code}, Underutilized: {code}}
	}
	saving := func(code CauseCode) map[Reason][]CauseCode { return map[Reason][]CauseCode{Underutilized: {code}} }
	for name, tc := range map[string]struct {
		node    func(*corev1.Node)
		machine Machine
		pool    func(*scheduling.NodePool)
		none    bool // no NodePool of the name
		want    map[Reason][]CauseCode
	}{
		"D5 a node at work may go":                  {want: none},
		"D5 one that is not initialized":            {node: uninitialized, want: all(CauseNotReady)},
		"D5 one that is being deleted":              {node: deleting, want: all(CauseBeingRemoved)},
		"D5 one whose instance is being shut down":  {machine: Machine{Terminating: true}, want: all(CauseBeingRemoved)},
		"D4 one that is being disrupted":            {node: func(n *corev1.Node) { n.Spec.Taints = []corev1.Taint{{Key: scheduling.DisruptedTaint}} }, want: all(CauseBeingRemoved)},
		"D5 one where pods are expected":            {machine: Machine{NominatedUntil: future}, want: all(CauseNominated)},
		"D5 one where they are not expected longer": {machine: Machine{NominatedUntil: past}, want: none},
		"D5 one that is not ready now":              {node: notReady, want: none},
		"D6 one without a pool":                     {node: without(scheduling.NodePoolLabel), want: all(CauseNoNodePool)},
		"D6 one of a pool that is not there":        {node: label(scheduling.NodePoolLabel, "other"), want: all(CauseNoNodePool)},
		"D6 one of a pool that has nothing to sell": {none: true, want: all(CauseNoTypes)},
		"D7 a node that asks to be left alone":      {node: nodeAnnotated(eviction.DoNotDisrupt, "true"), want: all(CauseDoNotDisrupt)},
		"D7 a node that says false":                 {node: nodeAnnotated(eviction.DoNotDisrupt, "false"), want: none},
		"D7 nodes know no durations":                {node: nodeAnnotated(eviction.DoNotDisrupt, "24h"), want: none},
		"D7 nor capitals":                           {node: nodeAnnotated(eviction.DoNotDisrupt, "True"), want: none},
		"D8 no label for the capacity type":         {node: without(offerings.CapacityTypeLabel), want: saving(CauseUnknownPrice)},
		"D8 no label for the zone":                  {node: without(corev1.LabelTopologyZone), want: saving(CauseUnknownPrice)},
		"D8 no label for the type":                  {node: without(corev1.LabelInstanceTypeStable), want: saving(CauseUnknownPrice)},
		"D8 an unknown type":                        {node: label(corev1.LabelInstanceTypeStable, "m.huge"), want: saving(CauseUnknownPrice)},
		"D27 an unknown zone, to save":              {node: label(corev1.LabelTopologyZone, "z"), want: saving(CauseUnknownPrice)},
		"D22 the default policy":                    {pool: func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = "" }, want: none},
		"D22 WhenEmptyOrUnderutilized": {pool: func(p *scheduling.NodePool) {
			p.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmptyOrUnderutilized
		}, want: none},
		"D22 Balanced":                               {pool: func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = scheduling.Balanced }, want: none},
		"D22 WhenEmpty":                              {pool: func(p *scheduling.NodePool) { p.Spec.Disruption.ConsolidationPolicy = scheduling.WhenEmpty }, want: saving(CausePolicy)},
		"D23 consolidateAfter Never":                 {pool: consolidateAfter(-1), want: map[Reason][]CauseCode{Empty: {CausePolicy}, Underutilized: {CausePolicy}}},
		"D26 a static pool":                          {pool: func(p *scheduling.NodePool) { p.Spec.Replicas = new(int64(3)) }, want: all(CauseStatic)},
		"D24 long enough since the last pod":         {pool: consolidateAfter(time.Hour), machine: Machine{LastPodEvent: noon().Add(-2 * time.Hour)}, want: none},
		"D24 exactly long enough":                    {pool: consolidateAfter(time.Hour), machine: Machine{LastPodEvent: noon().Add(-time.Hour)}, want: none},
		"D24 a moment too short":                     {pool: consolidateAfter(time.Hour), machine: Machine{LastPodEvent: noon().Add(-time.Hour + 1)}, want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D24 the last pod counts, not the start":     {pool: consolidateAfter(time.Hour), machine: Machine{Initialized: noon().Add(-9 * time.Hour), LastPodEvent: past}, want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D24 without a pod the start":                {pool: consolidateAfter(time.Hour), machine: Machine{Initialized: past}, want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D24 without a start its creation":           {pool: consolidateAfter(time.Hour), machine: Machine{Created: past}, want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D24 without any that of the node":           {pool: consolidateAfter(49 * time.Hour), want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D24 nothing known":                          {pool: consolidateAfter(49 * time.Hour), node: func(n *corev1.Node) { n.CreationTimestamp = metav1.Time{} }, want: none},
		"D24 no waiting":                             {pool: consolidateAfter(0), machine: Machine{LastPodEvent: noon()}, want: none},
		"D24 a pod that came in the future":          {pool: consolidateAfter(0), machine: Machine{LastPodEvent: future}, want: map[Reason][]CauseCode{Empty: {CauseTooSoon}, Underutilized: {CauseTooSoon}}},
		"D26 causes add up, the most telling first":  {node: func(n *corev1.Node) { uninitialized(n); nodeAnnotated(eviction.DoNotDisrupt, "true")(n) }, want: map[Reason][]CauseCode{Drifted: {CauseNotReady, CauseDoNotDisrupt}, Empty: {CauseNotReady, CauseDoNotDisrupt}, Underutilized: {CauseNotReady, CauseDoNotDisrupt}}},
		"D26 an own machine that is not ready first": {node: func(n *corev1.Node) { n.Labels[scheduling.InitializedLabel] = "false" }, want: all(CauseNotReady)},
	} {
		t.Run(name, func(t *testing.T) {
			c := oneNode(t, tc.pool, tc.node, tc.machine)
			if tc.none {
				c.Catalog = nil
			}
			f := newState(Planner{Now: noon()}, &c)
			for _, reason := range always() {
				assert.Equal(t, tc.want[reason], codes(f, reason), reason)
			}
		})
	}
}

// consolidateAfter sets how long nodes have to be left alone; below 0 is Never.
func consolidateAfter(d time.Duration) func(*scheduling.NodePool) {
	return func(p *scheduling.NodePool) {
		p.Spec.Disruption.ConsolidateAfter = &scheduling.NillableDuration{}
		if d >= 0 {
			p.Spec.Disruption.ConsolidateAfter.Duration = &d
		}
	}
}

// A node may not be younger than the planner wants it to be.
func TestMinLifetime(t *testing.T) {
	for age, want := range map[time.Duration][]CauseCode{time.Hour: nil, time.Hour - 1: {CauseTooSoon}, -time.Hour: {CauseTooSoon}} {
		c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od)})
		c.Machines = []Machine{{Node: "n", Created: noon().Add(-age)}}
		f := newState(Planner{Now: noon(), MinLifetime: time.Hour}, &c)
		assert.Equal(t, want, codes(f, Underutilized), age)
		assert.Equal(t, want, codes(f, Empty), age)
		assert.Nil(t, codes(f, Drifted), age)
	}
}

func started(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: noon().Add(-ago)} }
}

func TestPodBlockers(t *testing.T) {
	all := func(change ...func(*corev1.Pod)) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			for _, c := range change {
				c(p)
			}
		}
	}
	phase := func(x corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = x } }
	web, asks := labelled("app", "web"), annotated(eviction.DoNotDisrupt, "true")
	elsewhere := func(p *corev1.Pod) { p.Namespace = "other" }
	unreadyPod := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	tolerant := func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: scheduling.DisruptedTaint, Operator: corev1.TolerationOpExists}}
	}
	alwaysAllow, ifHealthy := guarding(0), guarding(0)
	alwaysAllow.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow)
	ifHealthy.Spec.UnhealthyPodEvictionPolicy = new(policyv1.IfHealthyBudget)
	second := guarding(5)
	second.Name = "also-web"
	for name, tc := range map[string]struct {
		pod     func(*corev1.Pod)
		budgets []*policyv1.PodDisruptionBudget
		want    CauseCode
	}{
		"D14 a pod of nobody":                               {pod: func(*corev1.Pod) {}},
		"D9 a pod that asks to be left alone":               {pod: asks, want: CauseDoNotDisrupt},
		"D9 a daemon that does":                             {pod: all(asks, owned("apps/v1", "DaemonSet")), want: CauseDoNotDisrupt},
		"D9 a mirror pod that does":                         {pod: all(asks, owned("v1", "Node")), want: CauseDoNotDisrupt},
		"D9 one that has ended":                             {pod: all(asks, phase(corev1.PodSucceeded))},
		"D9 one that has failed":                            {pod: all(asks, phase(corev1.PodFailed))},
		"D9 one that is being deleted":                      {pod: all(asks, leavingPod)},
		"S12 for a while from its start":                    {pod: all(annotated(eviction.DoNotDisrupt, "1h"), started(time.Hour-1)), want: CauseDoNotDisrupt},
		"S12 no longer than that":                           {pod: all(annotated(eviction.DoNotDisrupt, "1h"), started(time.Hour))},
		"S12 without a start":                               {pod: all(annotated(eviction.DoNotDisrupt, "1h"), func(p *corev1.Pod) { p.Status.StartTime = nil }), want: CauseDoNotDisrupt},
		"S12 a start in the future":                         {pod: all(annotated(eviction.DoNotDisrupt, "1h"), started(-time.Hour)), want: CauseDoNotDisrupt},
		"S12 no duration at all":                            {pod: annotated(eviction.DoNotDisrupt, "0s")},
		"S12 less than none":                                {pod: annotated(eviction.DoNotDisrupt, "-1h")},
		"S12 not a duration":                                {pod: annotated(eviction.DoNotDisrupt, "yes")},
		"S12 false":                                         {pod: annotated(eviction.DoNotDisrupt, "false")},
		"S12 empty":                                         {pod: annotated(eviction.DoNotDisrupt, "")},
		"S12 by the annotation of v1alpha5":                 {pod: annotated("karpenter.sh/do-not-evict", "true"), want: CauseDoNotDisrupt},
		"S12 by that of Cluster Autoscaler":                 {pod: annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "false"), want: CauseDoNotDisrupt},
		"S12 safe to evict":                                 {pod: annotated("cluster-autoscaler.kubernetes.io/safe-to-evict", "true")},
		"D10 a budget that lets nothing go":                 {pod: web, budgets: []*policyv1.PodDisruptionBudget{guarding(0)}, want: CauseBudget},
		"D10 one that lets something go":                    {pod: web, budgets: []*policyv1.PodDisruptionBudget{guarding(1)}},
		"D10 a daemon under a budget":                       {pod: all(web, owned("apps/v1", "DaemonSet")), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}, want: CauseBudget},
		"D10 a mirror pod under a budget":                   {pod: all(web, owned("v1", "Node")), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
		"D10 one that has ended, under a budget":            {pod: all(web, phase(corev1.PodSucceeded)), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
		"D10 one that is being deleted, under a budget":     {pod: all(web, leavingPod), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
		"D10 a budget of another namespace":                 {pod: all(web, elsewhere), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
		"D10 two budgets, whatever they allow":              {pod: web, budgets: []*policyv1.PodDisruptionBudget{guarding(5), second}, want: CauseBudget},
		"D11 not ready, and such pods may always go":        {pod: all(web, unreadyPod), budgets: []*policyv1.PodDisruptionBudget{alwaysAllow}},
		"D11 ready, though such pods may always go":         {pod: web, budgets: []*policyv1.PodDisruptionBudget{alwaysAllow}, want: CauseBudget},
		"D11 not ready, by the default":                     {pod: all(web, unreadyPod), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}, want: CauseBudget},
		"D11 not ready, IfHealthyBudget":                    {pod: all(web, unreadyPod), budgets: []*policyv1.PodDisruptionBudget{ifHealthy}, want: CauseBudget},
		"D12 a pod that stays through disruption":           {pod: all(web, tolerant), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
		"D12 one that asks to be left alone is not evicted": {pod: all(web, asks), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}, want: CauseDoNotDisrupt},
		"S11 a pod that has ended is not evicted":           {pod: all(web, phase(corev1.PodFailed)), budgets: []*policyv1.PodDisruptionBudget{guarding(0)}},
	} {
		t.Run(name, func(t *testing.T) {
			c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od)}, pod("web", "n", "1", tc.pod))
			c.PodDisruptionBudgets = tc.budgets
			f := newState(Planner{Now: noon()}, &c)
			var want []CauseCode
			if tc.want != "" {
				want = []CauseCode{tc.want}
			}
			for _, reason := range always() {
				assert.Equal(t, want, codes(f, reason), reason)
			}
			assert.Nil(t, codes(f, Expired), "D92")
			assert.Nil(t, codes(f, Interrupted))

			// D2, D13: for drift, a node that ends after a while anyway asks its pods nothing.
			c.Machines = []Machine{{Node: "n", TerminationGracePeriod: &metav1.Duration{Duration: time.Hour}}}
			f = newState(Planner{Now: noon()}, &c)
			assert.Nil(t, codes(f, Drifted), "D13")
			assert.Equal(t, want, codes(f, Empty), "D13")
			assert.Equal(t, want, codes(f, Underutilized), "D13")
		})
	}
}

// D13: the pool's grace period counts where the machine does not say.
func TestGraceOfThePool(t *testing.T) {
	p := pool(func(p *scheduling.NodePool) {
		p.Spec.Template.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Hour}
	})
	c := world(t, p, []*corev1.Node{machine(t, "n", "m.large", od)}, pod("web", "n", "1", annotated(eviction.DoNotDisrupt, "true")))
	f := newState(Planner{Now: noon()}, &c)
	assert.Nil(t, codes(f, Drifted))
	assert.Equal(t, []CauseCode{CauseDoNotDisrupt}, codes(f, Empty))
}

// S13: of several durations the one that ends last decides.
func TestTheLongestDurationDecides(t *testing.T) {
	for ago, want := range map[time.Duration][]CauseCode{2*time.Hour - 1: {CauseDoNotDisrupt}, 2 * time.Hour: nil} {
		c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od)},
			pod("a", "n", "100m", annotated(eviction.DoNotDisrupt, "1h"), started(ago)), pod("b", "n", "100m", annotated(eviction.DoNotDisrupt, "2h"), started(ago)))
		assert.Equal(t, want, codes(newState(Planner{Now: noon()}, &c), Underutilized), ago)
	}
}

// D22, D23: who is a matter of which reason, and what planners may leave out.
func TestCandidates(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "busy", "m.large", od), machine(t, "idle", "m.large", od), machine(t, "taken", "m.large", offerings.Spot)},
		pod("web", "busy", "1"), pod("api", "taken", "1"))
	c.Machines = []Machine{{Node: "taken", Interruption: &Interruption{Kind: "spot"}}}
	names := func(f *state, reason Reason) []string {
		var out []string
		may, _ := candidatesFor(f, reason)
		for _, s := range may {
			out = append(out, s.name)
		}
		return out
	}
	f := newState(Planner{Now: noon()}, &c)
	assert.Equal(t, []string{"taken"}, names(f, Interrupted))
	assert.Equal(t, []string{"idle"}, names(f, Empty))
	assert.Equal(t, []string{"busy", "idle", "taken"}, names(f, Underutilized))
	assert.Empty(t, names(f, Expired))
	require.NoError(t, f.take(&Step{Drain: []string{"busy"}, Evictions: []Eviction{{Pod: "shop/web", From: "busy", To: "idle"}}}))
	assert.Empty(t, names(f, Empty), "pods have come to it")
	assert.Equal(t, []string{"idle", "taken"}, names(f, Underutilized))

	f = newState(Planner{Now: noon(), Reasons: []Reason{Empty}}, &c)
	assert.Equal(t, []string{"idle"}, names(f, Empty))
	may, not := candidatesFor(f, Underutilized)
	assert.Empty(t, may)
	require.Len(t, not, 3)
	assert.Equal(t, CauseReasonNotSelected, not["busy"].Code)
	assert.False(t, f.rules.enabled(Misplaced))
	f.rules.planner.Rebalance = true
	assert.True(t, f.rules.enabled(Misplaced))
}

// D28: what a step has bought is as young as it is, and asks for its time.
func TestLaunchesAreYoung(t *testing.T) {
	c := world(t, pool(consolidateAfter(time.Hour)), []*corev1.Node{machine(t, "n", "m.large", od)}, pod("web", "n", "1"))
	f := newState(Planner{Now: noon()}, &c)
	require.NoError(t, f.take(&Step{Drain: []string{"n"}, Evictions: []Eviction{{Pod: "shop/web", From: "n", To: "default-1"}}, Launches: []scheduling.Launch{{
		Name: "default-1", NodePool: "default", Options: []scheduling.LaunchOption{{InstanceType: "m.small", Zone: "a", CapacityType: offerings.Spot}},
	}}}))
	may, not := candidatesFor(f, Underutilized)
	assert.Empty(t, may)
	require.Len(t, not, 1)
	assert.Equal(t, CauseTooSoon, not["default-1"].Code)
	assert.Equal(t, "default-1", f.nodeNameOf(f.pods["shop/web"]))
}

// D28, S12: a pod that moves begins anew; where that counts, it is a copy that says so.
func TestPodsBeginAnew(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.large", od), machine(t, "to", "m.large", od)},
		pod("plain", "n", "1"), pod("guarded", "n", "1", annotated(eviction.DoNotDisrupt, "1h")), pod("deleted", "n", "1", func(p *corev1.Pod) {
			p.DeletionTimestamp = &metav1.Time{Time: noon()}
		}))
	f := newState(Planner{Now: noon()}, &c)
	before := maps.Clone(f.pods)
	step := Step{Drain: []string{"n"}}
	for _, name := range []string{"shop/plain", "shop/guarded", "shop/deleted"} {
		step.Evictions = append(step.Evictions, Eviction{Pod: name, From: "n", To: "to"})
	}
	require.NoError(t, f.take(&step))
	assert.Same(t, before["shop/plain"], f.pods["shop/plain"], "nothing but its node has changed")
	for _, name := range []string{"shop/guarded", "shop/deleted"} {
		assert.NotSame(t, before[name], f.pods[name], "what was given stays as it is")
		assert.Equal(t, noon(), f.pods[name].Status.StartTime.Time)
		assert.Nil(t, f.pods[name].DeletionTimestamp)
	}
	for _, pod := range f.byName["to"].pods {
		assert.Equal(t, "to", f.nodeNameOf(pod))
	}
	assert.Len(t, f.byName["to"].pods, 3)
}
