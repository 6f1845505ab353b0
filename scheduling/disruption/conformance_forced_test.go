package disruption

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
)

const od = offerings.OnDemand

func labelled(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
}

func annotated(key, value string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Annotations = map[string]string{key: value} }
}

func nodeAnnotated(key, value string) func(*corev1.Node) {
	return func(n *corev1.Node) { n.Annotations = map[string]string{key: value} }
}

func owned(apiVersion, kind string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "o"}}
	}
}

// guarding is a PodDisruptionBudget for the label app=web that lets so many pods go.
func guarding(maxUnavailable int) *policyv1.PodDisruptionBudget {
	n := intstr.FromInt(maxUnavailable)
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &n, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
	}
}

func onlyFor(reasons ...Reason) Planner { return Planner{Reasons: reasons} }

func TestExpired(t *testing.T) {
	hours := func(h int) *scheduling.NillableDuration {
		d := time.Duration(h) * time.Hour
		return &scheduling.NillableDuration{Duration: &d}
	}
	for name, tc := range map[string]struct {
		pool    *scheduling.NillableDuration
		machine *Machine
		age     time.Duration
		expired bool
	}{
		"D92 at the hour":                         {hours(48), nil, 48 * time.Hour, true},
		"D92 a moment before":                     {hours(48), nil, 48*time.Hour - time.Second, false},
		"D92 the default is 720h":                 {nil, nil, 720 * time.Hour, true},
		"D92 before the default":                  {nil, nil, 719 * time.Hour, false},
		"D92 never":                               {&scheduling.NillableDuration{}, nil, 9999 * time.Hour, false},
		"D92 the machine's own life counts":       {hours(48), &Machine{Node: "n", ExpireAfter: hours(96)}, 72 * time.Hour, false},
		"D92 the machine never expires":           {hours(48), &Machine{Node: "n", ExpireAfter: &scheduling.NillableDuration{}}, 72 * time.Hour, false},
		"D92 the machine was asked for earlier":   {hours(48), &Machine{Node: "n", Created: noon().Add(-49 * time.Hour)}, 47 * time.Hour, true},
		"D92 created in the future, by its clock": {hours(48), nil, -time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool(func(p *scheduling.NodePool) { p.Spec.Template.Spec.ExpireAfter = tc.pool })
			c := world(t, p, []*corev1.Node{machine(t, "n", "m.large", od, func(n *corev1.Node) { n.CreationTimestamp.Time = noon().Add(-tc.age) })}, pod("web", "n", "1500m"))
			if tc.machine != nil {
				c.Machines = []Machine{*tc.machine}
			}
			plan := planned(t, onlyFor(Expired), c)
			if !tc.expired {
				assert.Empty(t, plan.Steps)
				return
			}
			assert.Equal(t, []string{"expired n +m.large/spot web>default-1"}, steps(plan))
		})
	}
}

// D92: expiry asks neither budgets nor pods. Unlike Karpenter, what is needed is bought
// first.
func TestExpiryComesWhateverStandsInItsWay(t *testing.T) {
	c := world(t, pool(func(p *scheduling.NodePool) { p.Spec.Disruption.Budgets[0].Nodes = "0" }), []*corev1.Node{
		machine(t, "old", "m.large", od, nodeAnnotated(eviction.DoNotDisrupt, "true"), func(n *corev1.Node) { n.CreationTimestamp.Time = noon().Add(-721 * time.Hour) }),
		machine(t, "young", "m.large", od),
	},
		pod("a", "old", "500m", annotated(eviction.DoNotDisrupt, "true")), pod("b", "old", "500m", labelled("app", "web")), pod("c", "old", "500m", labelled("app", "web")),
		pod("d", "young", "1800m", annotated(eviction.DoNotDisrupt, "true")))
	c.PodDisruptionBudgets = []*policyv1.PodDisruptionBudget{guarding(0)}
	plan := planned(t, Planner{}, c)
	assert.Equal(t, []string{"expired old +m.large/spot a>default-1 b>default-1 c>default-1"}, steps(plan))
	step := plan.Steps[0]
	assert.Equal(t, []int{1, 1, 2}, []int{step.Evictions[0].Wave, step.Evictions[1].Wave, step.Evictions[2].Wave}, "pods of one budget go one by one")
	assert.Equal(t, []BudgetUse{{Budget: "shop/web", Pods: 1, Allowed: 0}}, step.PodDisruptionBudgets)
	assert.Empty(t, step.NodePools)
	assert.Equal(t, offerings.MustPrice("0.07"), step.SavingPerHour)
	assert.Equal(t, []CauseCode{CauseDoNotDisrupt}, causes(t, plan, "young")[:1])
}
