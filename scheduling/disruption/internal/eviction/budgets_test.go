package eviction

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// guarding is a PodDisruptionBudget for the label app=web that lets so many pods go.
func guarding(maxUnavailable int) *policyv1.PodDisruptionBudget {
	n := intstr.FromInt(maxUnavailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
}

func web(p *corev1.Pod) { p.Labels = map[string]string{"app": "web"} }

// webs are so many pods with the label app=web, of which some are not ready.
func webs(n, unready int) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range n {
		p := pod(fmt.Sprintf("web-%02d", i), "n", web)
		if i < unready {
			p.Status.Conditions[0].Status = corev1.ConditionFalse
		}
		out = append(out, p)
	}
	return out
}

func TestAllowedDisruptions(t *testing.T) {
	atMost := func(s string) func(*policyv1.PodDisruptionBudget) {
		v := intstr.Parse(s)
		return func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable, b.Spec.MinAvailable = &v, nil }
	}
	atLeast := func(s string) func(*policyv1.PodDisruptionBudget) {
		v := intstr.Parse(s)
		return func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable, b.Spec.MaxUnavailable = &v, nil }
	}
	status := func(generation, observed int64, allowed int32) func(*policyv1.PodDisruptionBudget) {
		return func(b *policyv1.PodDisruptionBudget) {
			b.Generation, b.Status.ObservedGeneration, b.Status.DisruptionsAllowed = generation, observed, allowed
		}
	}
	for name, tc := range map[string]struct {
		change func(*policyv1.PodDisruptionBudget)
		pods   []*corev1.Pod
		want   int
	}{
		"D10 at most two away":                     {atMost("2"), webs(5, 0), 2},
		"D10 one is away already":                  {atMost("2"), webs(5, 1), 1},
		"D10 more are away than may be":            {atMost("2"), webs(5, 4), 0},
		"D10 a share is rounded up":                {atMost("30%"), webs(5, 0), 2},
		"D10 nothing":                              {atMost("0%"), webs(5, 0), 0},
		"D10 everything":                           {atMost("100%"), webs(5, 0), 5},
		"D10 more than there are":                  {atMost("9"), webs(5, 0), 5},
		"D10 at least two":                         {atLeast("2"), webs(5, 0), 3},
		"D10 at least more than there are":         {atLeast("9"), webs(5, 0), 0},
		"D10 a share that stays is rounded up":     {atLeast("50%"), webs(5, 0), 2},
		"D10 all of them":                          {atLeast("100%"), webs(5, 0), 0},
		"D10 no pods":                              {atMost("2"), nil, 0},
		"D10 neither":                              {func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = nil }, webs(5, 0), 0},
		"D10 the status counts":                    {status(3, 3, 4), webs(5, 5), 4},
		"D10 not one of an older version":          {status(3, 2, 4), webs(5, 0), 1},
		"D10 nor one that nobody wrote":            {status(0, 0, 0), webs(5, 0), 1},
		"D10 one that says none":                   {status(1, 1, 0), webs(5, 0), 0},
		"D10 one that says less than none":         {status(1, 1, -1), webs(5, 0), 0},
		"D10 pods of others do not count":          {atMost("50%"), append(webs(2, 0), pod("other", "n")), 1},
		"D10 pods that are leaving are not ready":  {atLeast("1"), append(webs(2, 0), pod("web-x", "n", web, leaving)), 1},
		"D10 ended ones are not expected":          {atMost("50%"), append(webs(2, 0), pod("web-x", "n", web, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })), 1},
		"D10 waiting ones are expected, not ready": {atMost("50%"), append(webs(2, 0), pod("web-x", "", web, func(p *corev1.Pod) { p.Status = corev1.PodStatus{Phase: corev1.PodPending} })), 1},
		"D10 no word on readiness is ready":        {atMost("1"), []*corev1.Pod{pod("web-x", "n", web, func(p *corev1.Pod) { p.Status.Conditions = nil })}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := guarding(1)
			tc.change(b)
			g := NewBudgets([]*policyv1.PodDisruptionBudget{b}, tc.pods)
			require.Len(t, g.list, 1)
			assert.Equal(t, tc.want, g.list[0].Allowed)
		})
	}
}

// D10: a selector of any kind finds its pods, in its namespace only.
func TestBudgetsOfPods(t *testing.T) {
	budget := func(name string, s *metav1.LabelSelector) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: s}}
	}
	g := NewBudgets([]*policyv1.PodDisruptionBudget{
		budget("nothing", nil),
		budget("everything", &metav1.LabelSelector{}),
		budget("both", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}),
		budget("app", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}),
		budget("expression", &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"web"}}}}),
		budget("mixed", &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}, MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpExists}}}),
	}, nil)
	names := func(namespace string, labels map[string]string) []string {
		var out []string
		for _, x := range g.of(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Labels: labels}}) {
			out = append(out, x.Name)
		}
		return out
	}
	assert.Equal(t, []string{"default/everything", "default/expression"}, names("", nil))
	assert.Equal(t, []string{"default/app", "default/everything"}, names("default", map[string]string{"app": "web"}))
	assert.Equal(t, []string{"default/app", "default/both", "default/everything", "default/mixed"}, names("default", map[string]string{"app": "web", "tier": "front"}))
	assert.Empty(t, names("shop", map[string]string{"app": "web", "tier": "front"}))
}
