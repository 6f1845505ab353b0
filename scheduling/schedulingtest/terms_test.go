package schedulingtest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// onePod is the pod of a line of the language.
func onePod(t *testing.T, line string) *corev1.Pod {
	t.Helper()
	p := read(t, "pods\n"+line+"\n----\n")
	require.Len(t, p.Pods, 1, line)
	return p.Pods[0]
}

func spreadOf(t *testing.T, word string) corev1.TopologySpreadConstraint {
	t.Helper()
	constraints := onePod(t, "web label=(app=web tier=front) spread="+word).Spec.TopologySpreadConstraints
	require.Len(t, constraints, 1, word)
	return constraints[0]
}

func TestParseSpread(t *testing.T) {
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web", "tier": "front"}}
	two, three := int32(2), int32(3)
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	base := corev1.TopologySpreadConstraint{
		MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: own,
	}
	with := func(change func(*corev1.TopologySpreadConstraint)) corev1.TopologySpreadConstraint {
		c := *base.DeepCopy()
		change(&c)
		return c
	}
	tests := map[string]corev1.TopologySpreadConstraint{
		"(zone)":        base,
		"(host skew=2)": with(func(c *corev1.TopologySpreadConstraint) { c.TopologyKey, c.MaxSkew = corev1.LabelHostname, two }),
		"(zone min=3 soft)": with(func(c *corev1.TopologySpreadConstraint) {
			c.MinDomains, c.WhenUnsatisfiable = &three, corev1.ScheduleAnyway
		}),
		"(zone affinity=ignore)":       with(func(c *corev1.TopologySpreadConstraint) { c.NodeAffinityPolicy = &ignore }),
		"(zone taints=honor)":          with(func(c *corev1.TopologySpreadConstraint) { c.NodeTaintsPolicy = &honor }),
		"(zone same=version same=x/y)": with(func(c *corev1.TopologySpreadConstraint) { c.MatchLabelKeys = []string{"version", "x/y"} }),
		"(zone of=none)":               with(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = nil }),
		"(zone of=())":                 with(func(c *corev1.TopologySpreadConstraint) { c.LabelSelector = &metav1.LabelSelector{} }),
		"(zone of=(app=db))": with(func(c *corev1.TopologySpreadConstraint) {
			c.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
		}),
		"(zone of=(app=db x=y, tier in a b, zone exists, z absent, q not in r))": with(func(c *corev1.TopologySpreadConstraint) {
			c.LabelSelector = &metav1.LabelSelector{
				MatchLabels: map[string]string{"app": "db", "x": "y"},
				MatchExpressions: []metav1.LabelSelectorRequirement{
					{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"a", "b"}},
					{Key: "zone", Operator: metav1.LabelSelectorOpExists},
					{Key: "z", Operator: metav1.LabelSelectorOpDoesNotExist},
					{Key: "q", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"r"}},
				},
			}
		}),
	}
	for word, want := range tests {
		assert.Equal(t, want, spreadOf(t, word), word)
	}
}

func TestParseAffinity(t *testing.T) {
	a := onePod(t, "web near=(zone of=(app=db)) near=(zone of=(app=cache) weight=50) apart=(host) "+
		"apart=(rack ns=(shop blog) ns-of=(team=red) same=version other=tenant) label=(app=web)").Spec.Affinity
	of := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	assert.Equal(t, &corev1.PodAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: corev1.LabelTopologyZone, LabelSelector: of("db")}},
		PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{
			Weight: 50, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: of("cache")},
		}},
	}, a.PodAffinity)
	assert.Equal(t, &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: of("web")},
			{
				TopologyKey: "rack", LabelSelector: of("web"), Namespaces: []string{"shop", "blog"},
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "red"}},
				MatchLabelKeys:    []string{"version"}, MismatchLabelKeys: []string{"tenant"},
			},
		},
	}, a.PodAntiAffinity)
}

// A term without a selector selects pods with the labels of its own pod, in whatever order the options stand.
func TestTermsFollowLabels(t *testing.T) {
	a := Pod("web", Spread("zone"), Label("app", "web"))
	b := Pod("web", Label("app", "web"), Spread("zone", Of("app", "web")))
	assert.Equal(t, b, a)
	assert.Nil(t, Pod("web", Spread("zone", ofNone())).Spec.TopologySpreadConstraints[0].LabelSelector)
	all := Pod("web", Near("zone", OfAll())).Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
	assert.Equal(t, &metav1.LabelSelector{}, all.LabelSelector)
	some := Pod("web", Apart("zone", OfAll(In("app", "a", "b"), Exists("x")), InNamespacesOf(), InNamespaces("shop"), Weight(3)))
	term := some.Spec.Affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0]
	assert.Equal(t, int32(3), term.Weight)
	assert.Len(t, term.PodAffinityTerm.LabelSelector.MatchExpressions, 2)
	assert.Equal(t, &metav1.LabelSelector{}, term.PodAffinityTerm.NamespaceSelector)
}

func TestTermsOfPodsShareNoMemory(t *testing.T) {
	pods := Pods(2, "web", Label("app", "web"), Spread("zone", MinDomains(2), Of("a", "b")), Near("zone", OfAll(In("c", "d"))))
	want := pods[1].DeepCopy()
	c := &pods[0].Spec.TopologySpreadConstraints[0]
	*c.MinDomains = 9
	c.LabelSelector.MatchLabels["a"] = "changed"
	pods[0].Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions[0].Values[0] = "changed"
	assert.Equal(t, want, pods[1])
}
