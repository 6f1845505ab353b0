package disruption

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

func TestPodDisruptionCost(t *testing.T) {
	pod := func(deletionCost string, priority int32) *corev1.Pod {
		p := &corev1.Pod{}
		if deletionCost != "" {
			p.Annotations = map[string]string{corev1.PodDeletionCost: deletionCost}
		}
		if priority != 0 {
			p.Spec.Priority = &priority
		}
		return p
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want float64
	}{
		"D15 a pod of no special worth":  {pod("", 0), 1},
		"D15 a dear one":                 {pod("134217728", 0), 2},
		"D15 a cheap one":                {pod("-134217728", 0), 0},
		"D15 at most ten":                {pod("2147483647", 0), 10},
		"D15 at least minus ten":         {pod("-2147483647", 0), -10},
		"D15 what is no number":          {pod("dear", 0), 1},
		"D15 what is not a number":       {pod("NaN", 0), 1},
		"D15 infinite":                   {pod("+Inf", 0), 10},
		"D15 of high priority":           {pod("", 1<<25), 2},
		"D15 of low priority":            {pod("", -1<<26), -1},
		"D15 of the highest priority":    {pod("", 2_000_000_000), 10},
		"D15 both count, clamped at end": {pod("2147483647", -1<<28), 9},
	} {
		t.Run(name, func(t *testing.T) { assert.InDelta(t, tc.want, PodDisruptionCost(tc.pod), 1e-6) })
	}
}

// D16: a node counts 1 and what its pods that live on count, none of them less than 0.
func TestRemoval(t *testing.T) {
	plain, cheap := &corev1.Pod{}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{corev1.PodDeletionCost: "-2147483647"}}}
	f := newState(Planner{Now: noon()}, &Cluster{})
	assert.InDelta(t, 1, f.rules.costs.Removal(nil), 0)
	assert.InDelta(t, 3, f.rules.costs.Removal([]*corev1.Pod{plain, plain}), 0)
	assert.InDelta(t, 2, f.rules.costs.Removal([]*corev1.Pod{plain, cheap}), 0)

	f = newState(Planner{Now: noon(), NodeCost: 5, PodCost: func(*corev1.Pod) float64 { return 2 }}, &Cluster{})
	assert.InDelta(t, 9, f.rules.costs.Removal([]*corev1.Pod{plain, plain}), 0)
	for _, odd := range []float64{-1, math.NaN(), math.Inf(-1)} {
		f.rules.costs.Pod = func(*corev1.Pod) float64 { return odd }
		assert.InDelta(t, 5, f.rules.costs.Removal([]*corev1.Pod{plain, plain}), 0)
	}
	f.rules.costs.Pod = func(*corev1.Pod) float64 { return math.Inf(1) }
	assert.False(t, math.IsInf(f.rules.costs.Removal([]*corev1.Pod{plain, plain}), 0))
}

// D16: daemons, mirror pods and what has ended count nothing.
func TestSubjectCost(t *testing.T) {
	pods := map[string]*corev1.Pod{}
	on := func(name string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "x"}, Spec: corev1.PodSpec{NodeName: "n"}}
		change(p)
		pods[name] = p
		return p
	}
	owner := func(apiVersion, kind string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "o"}}
		}
	}
	c := &Cluster{Problem: scheduling.Problem{Nodes: []*corev1.Node{testNode("n")}, Running: []*corev1.Pod{
		on("plain", func(*corev1.Pod) {}),
		on("owned", owner("apps/v1", "ReplicaSet")),
		on("daemon", owner("apps/v1", "DaemonSet")),
		on("mirror", owner("v1", "Node")),
		on("done", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		on("leaving", func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: noon()} }),
		on("leaving-set", func(p *corev1.Pod) {
			owner("apps/v1", "StatefulSet")(p)
			p.DeletionTimestamp = &metav1.Time{Time: noon()}
		}),
	}}}
	f := newState(Planner{Now: noon()}, c)
	assert.Equal(t, []*corev1.Pod{pods["leaving-set"], pods["owned"], pods["plain"]}, f.byName["n"].reschedulable)
	assert.InDelta(t, 4, f.byName["n"].cost, 0)
}
