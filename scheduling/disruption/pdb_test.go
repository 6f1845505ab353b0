package disruption

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// webs are so many pods with the label app=web, of which some are not ready.
func webs(n, unready int) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		p := pod(fmt.Sprintf("web-%02d", i), "n", "100m", labelled("app", "web"))
		if i < unready {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		}
		out = append(out, p)
	}
	return out
}

// A budget that lets d of n pods go makes ceil(n/d) waves, and no wave takes more.
func TestWaves(t *testing.T) {
	for _, tc := range []struct{ pods, allowed, waves int }{{5, 1, 5}, {5, 2, 3}, {5, 5, 1}, {5, 9, 1}, {6, 2, 3}, {3, 0, 3}, {1, 0, 1}} {
		c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.xlarge", od)}, append(webs(tc.pods, 0), pod("free-1", "n", "1"), pod("z-free", "n", "1"))...)
		b := guarding(tc.allowed)
		b.Status.ObservedGeneration, b.Status.DisruptionsAllowed = 1, int32(tc.allowed)
		c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{b}
		f := simulated(t, newState(Planner{Now: noon()}, &c))
		var evictions []Eviction
		for _, p := range f.byName["n"].reschedulable {
			evictions = append(evictions, Eviction{Pod: podspec.PodName(p), From: "n", To: "m"})
		}
		uses, evictions, ok := assigned(f, Underutilized, evictions)
		require.True(t, ok)
		count := map[int]int{}
		last := 0
		for _, e := range evictions {
			require.GreaterOrEqual(t, e.Wave, last, "in the order of waves")
			last = e.Wave
			if f.pods[e.Pod].Labels != nil {
				count[e.Wave]++
			} else {
				assert.Equal(t, 1, e.Wave, "%s waits for nobody", e.Pod)
			}
		}
		assert.Len(t, count, tc.waves, tc)
		for _, n := range count {
			assert.LessOrEqual(t, n, max(1, tc.allowed))
		}
		assert.Equal(t, []BudgetUse{{Budget: "shop/web", Pods: min(tc.pods, max(1, tc.allowed)), Allowed: tc.allowed}}, uses)
	}
}

// assigned are the evictions of a step in waves, and the use of budgets.
func assigned(f *state, reason Reason, evictions []Eviction) (uses []BudgetUse, sorted []Eviction, ok bool) {
	step := &Step{Reason: reason, Evictions: evictions}
	uses, ok = assignWaves(f, step, nil)
	return uses, step.Evictions, ok
}

// Pods under two budgets, as steps that have to be may meet them, keep to both.
func TestWavesOfTwoBudgets(t *testing.T) {
	c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.xlarge", od)}, webs(4, 0)...)
	one, two := guarding(1), guarding(2)
	two.Name = "second"
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{two, one}
	f := simulated(t, newState(Planner{Now: noon()}, &c))
	var evictions []Eviction
	for _, p := range f.byName["n"].reschedulable {
		evictions = append(evictions, Eviction{Pod: podspec.PodName(p)})
	}
	uses, evictions, _ := assigned(f, Underutilized, evictions)
	assert.Equal(t, []BudgetUse{{Budget: "shop/second", Pods: 1, Allowed: 2}, {Budget: "shop/web", Pods: 1, Allowed: 1}}, uses)
	assert.Equal(t, 4, evictions[3].Wave)
}

// Who may only land where others are, or are not, moves when they have.
func TestTiedPodsMoveLast(t *testing.T) {
	terms := []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}
	follows := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	avoids := func(p *corev1.Pod) {
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: terms}}
	}
	spreads := func(p *corev1.Pod) {
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule}}
	}
	wave := func(reason Reason, pods ...*corev1.Pod) map[string]int {
		c := world(t, pool(), []*corev1.Node{machine(t, "n", "m.xlarge", od)}, append(webs(3, 0), pods...)...)
		c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{guarding(1)}
		f := simulated(t, newState(Planner{Now: noon()}, &c))
		var evictions []Eviction
		for _, p := range f.byName["n"].reschedulable {
			evictions = append(evictions, Eviction{Pod: podspec.PodName(p)})
		}
		_, evictions, _ = assigned(f, reason, evictions)
		out := map[string]int{}
		for _, e := range evictions {
			out[e.Pod] = e.Wave
		}
		return out
	}
	got := wave(Expired, pod("follows", "n", "1", follows), pod("spreads", "n", "1", spreads), pod("free", "n", "1"))
	assert.Equal(t, map[string]int{"shop/web-00": 1, "shop/web-01": 2, "shop/web-02": 3, "shop/follows": 3, "shop/spreads": 3, "shop/free": 1}, got)
	assert.Equal(t, 3, wave(Expired, pod("avoids", "n", "1", avoids), pod("free", "n", "1"))["shop/free"], "it may be avoided until the other has gone")
	tied := wave(Expired, pod("web-", "n", "1", labelled("app", "web"), spreads))
	assert.Equal(t, 4, tied["shop/web-"], "last in its budget")
	for _, n := range wave(Interrupted, pod("avoids", "n", "1", avoids)) {
		assert.Equal(t, 1, n, "who is taken away does not wait")
	}
}

// FuzzScaled holds that no amount makes reading panic, that what is refused is refused by
// validation, and that the number of pods that may go lies between none and all.
func FuzzScaled(f *testing.F) {
	for _, s := range []string{"1", "50%", "0%", "100%", "-1", "%", "x", "101%", "+5%", "99999999999%"} {
		f.Add(s, true, 7, 2)
	}
	f.Fuzz(func(t *testing.T, s string, isMax bool, pods, unready int) {
		pods = min(max(pods, 0), 50)
		unready = min(max(unready, 0), pods)
		b := guarding(1)
		v := intstr.Parse(s)
		b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, &v
		if !isMax {
			b.Spec.MinAvailable, b.Spec.MaxUnavailable = &v, nil
		}
		allowed := eviction.NewBudgets([]*policyv1.PodDisruptionBudget{b}, webs(pods, unready)).Charges(webs(1, 0)[0])[0].Allowed
		assert.GreaterOrEqual(t, allowed, 0)
		assert.LessOrEqual(t, allowed, pods-unready)
		found := &faults.Collector{}
		eviction.CheckBudgets(found, []*policyv1.PodDisruptionBudget{b})
		if _, ok := eviction.Scaled(&v, pods); !ok {
			assert.Error(t, found.Err())
			assert.Zero(t, allowed)
		}
	})
}
