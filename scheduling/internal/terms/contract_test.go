package terms_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/internal/soak"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/terms"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// selects reports whether a selector with the key lists of a term selects a pod, as the API documents it: matchLabelKeys demand
// the value that the owner of the term has, mismatchLabelKeys another value.
func selects(t *testing.T, selector *metav1.LabelSelector, match, mismatch []string, owner, pod *corev1.Pod) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	require.NoError(t, err)
	if !s.Matches(labels.Set(pod.Labels)) {
		return false
	}
	for _, key := range match {
		if want, has := owner.Labels[key]; has && pod.Labels[key] != want {
			return false
		}
	}
	for _, key := range mismatch {
		if other, has := owner.Labels[key]; has && pod.Labels[key] == other {
			return false
		}
	}
	return true
}

// inNamespaces reports whether a pod is in the namespaces that an affinity term of the owner is about: the listed ones and those
// with matching labels, or, where it states neither, the owner's own.
func inNamespaces(t *testing.T, p *scheduling.Problem, term *corev1.PodAffinityTerm, owner, pod *corev1.Pod) bool {
	t.Helper()
	space := podspec.NamespaceOf(pod)
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return space == podspec.NamespaceOf(owner)
	}
	if slices.Contains(term.Namespaces, space) || term.NamespaceSelector == nil {
		return slices.Contains(term.Namespaces, space)
	}
	set := labels.Set{corev1.LabelMetadataName: space}
	for _, ns := range p.Namespaces {
		if ns.Name == space {
			set = labels.Merge(set, ns.Labels)
		}
	}
	s, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	require.NoError(t, err)
	return s.Matches(set)
}

// TestTargetsAreTheSelectedPods: the set of pods of a required term has exactly the pods that kube-scheduler selects by it. All
// required affinity terms of a pod share one set, of the pods that each of them selects.
func TestTargetsAreTheSelectedPods(t *testing.T) {
	checked := map[podspec.TopologyTermKind]int{}
	for seed := range soak.Cases(120) {
		p := st.Random(seed, st.Size{Pods: 20, Types: 2, Pools: 1, Nodes: 2, TopologyTerms: true})
		r := terms.NewReader(&p, &scheduling.Policy{Preferences: scheduling.PreferencesIgnore}, nil, nil)
		for _, pod := range p.Pods {
			r.Read(pod) // all of them before any is matched
		}
		for _, owner := range p.Pods {
			if len(p.DefaultSpread) > 0 {
				continue
			}
			number := map[podspec.TopologyTermKind]int{}
			for _, term := range r.List[r.Read(owner)].Terms {
				selected := selection(t, &p, owner, term.Kind, number[term.Kind])
				for _, pod := range p.Pods {
					among := r.Targets.Matched(podspec.NamespaceOf(pod), pod.Labels)
					require.Equal(t, selected(pod), r.Targets.Has(among, term.Target), "seed %d: a term of %s on %s", seed, owner.Name, pod.Name)
				}
				number[term.Kind]++
				checked[term.Kind]++
			}
		}
	}
	for _, kind := range []podspec.TopologyTermKind{podspec.SpreadTerm, podspec.AffinityTerm, podspec.AntiAffinityTerm} {
		assert.Greater(t, checked[kind], 50, "kind %v", kind)
	}
}

// selection returns whether the required term of a kind with a number selects a pod. Terms are numbered as the pod lists them.
func selection(t *testing.T, p *scheduling.Problem, owner *corev1.Pod, kind podspec.TopologyTermKind, number int) func(*corev1.Pod) bool {
	t.Helper()
	term := func(x *corev1.PodAffinityTerm, pod *corev1.Pod) bool {
		return inNamespaces(t, p, x, owner, pod) && selects(t, x.LabelSelector, x.MatchLabelKeys, x.MismatchLabelKeys, owner, pod)
	}
	switch kind {
	case podspec.SpreadTerm:
		required := slices.DeleteFunc(slices.Clone(owner.Spec.TopologySpreadConstraints), func(c corev1.TopologySpreadConstraint) bool {
			return c.WhenUnsatisfiable == corev1.ScheduleAnyway
		})
		c := &required[number]
		return func(pod *corev1.Pod) bool {
			return podspec.NamespaceOf(pod) == podspec.NamespaceOf(owner) && selects(t, c.LabelSelector, c.MatchLabelKeys, nil, owner, pod)
		}
	case podspec.AffinityTerm:
		required := owner.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
		return func(pod *corev1.Pod) bool {
			return !slices.ContainsFunc(required, func(x corev1.PodAffinityTerm) bool { return !term(&x, pod) })
		}
	default:
		x := &owner.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[number]
		return func(pod *corev1.Pod) bool { return term(x, pod) }
	}
}

// TestEqualTermsHaveOneNumber: pods that differ in name alone have the same number, a pod without terms has 0, and after Sort the
// terms and their numbers do not depend on the order in which pods were read.
func TestEqualTermsHaveOneNumber(t *testing.T) {
	for seed := range soak.Cases(60) {
		p := st.Random(seed, st.Size{Pods: 20, Types: 2, Pools: 1, Nodes: 2, TopologyTerms: true})
		read := func(pods []*corev1.Pod) map[string]string {
			r := terms.NewReader(&p, &scheduling.Policy{}, nil, nil)
			numbers := map[string]int{}
			for _, pod := range pods {
				twin := pod.DeepCopy()
				twin.Name += "-twin"
				n := r.Read(pod)
				require.Equal(t, n, r.Read(twin), "seed %d: pod %s", seed, pod.Name)
				if a := pod.Spec.Affinity; a == nil && len(pod.Spec.TopologySpreadConstraints)+len(p.DefaultSpread) == 0 {
					require.Zero(t, n)
				}
				numbers[pod.Name] = n
			}
			moved, _ := r.Sort()
			names := map[string]string{}
			for pod, n := range numbers {
				names[pod] = r.List[moved[n]].Name
			}
			require.True(t, slices.IsSortedFunc(r.List, func(a, b *podspec.TopologyTerms) int {
				if a.Name < b.Name {
					return -1
				}
				return 1
			}))
			return names
		}
		want := read(p.Pods)
		other := slices.Clone(p.Pods)
		rand.New(rand.NewPCG(seed, 9)).Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		require.Equal(t, want, read(other), "seed %d", seed)
	}
}

// TestRequiredTermsHaveNoWeight: a term that has to hold has weight 0, a preferred one more, and preferred ones are left out where
// the policy ignores preferences.
func TestRequiredTermsHaveNoWeight(t *testing.T) {
	web := st.Label("app", "web")
	pod := st.Pod("p", web, st.Apart(corev1.LabelHostname), st.Spread(corev1.LabelTopologyZone, st.Skew(2)))
	soft := pod.DeepCopy()
	soft.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.ScheduleAnyway
	p := scheduling.Problem{Pods: []*corev1.Pod{pod, soft}}
	weights := func(policy scheduling.Policy, pod *corev1.Pod) (out []bool) {
		r := terms.NewReader(&p, &policy, nil, nil)
		for _, term := range r.List[r.Read(pod)].Terms {
			out = append(out, term.Weight > 0)
		}
		return out
	}
	assert.Equal(t, []bool{false, false}, weights(scheduling.Policy{}, pod))
	assert.Equal(t, []bool{true, false}, weights(scheduling.Policy{}, soft))
	assert.Equal(t, []bool{false}, weights(scheduling.Policy{Preferences: scheduling.PreferencesIgnore}, soft))
}

// TestRequiredAffinityIsOneTarget: kube-scheduler counts a pod for required affinity only if all terms select it, so that two terms
// over two keys share one set of pods.
func TestRequiredAffinityIsOneTarget(t *testing.T) {
	pod := st.Pod("p", st.Near(corev1.LabelTopologyZone, st.Of("app", "db")), st.Near(corev1.LabelHostname, st.Of("tier", "fast")))
	p := scheduling.Problem{Pods: []*corev1.Pod{
		pod, st.Pod("both", st.Label("app", "db"), st.Label("tier", "fast")), st.Pod("one", st.Label("app", "db")), st.Pod("other", st.Label("tier", "fast")),
	}}
	read, among := required(&p)
	require.Len(t, read[0].Terms, 2)
	assert.Equal(t, read[0].Terms[0].Target, read[0].Terms[1].Target)
	for i, want := range []bool{false, true, false, false} {
		assert.Equal(t, want, slices.Contains(among[i], int32(read[0].Terms[0].Target)), "%s", p.Pods[i].Name)
	}
}

// required returns the required topology terms of the pods, and by pod the sorted numbers of the targets that select it.
func required(p *scheduling.Problem) (list []*podspec.TopologyTerms, among [][]int32) {
	r := terms.NewReader(p, &scheduling.Policy{Preferences: scheduling.PreferencesIgnore}, nil, nil)
	for _, pod := range p.Pods {
		list = append(list, r.List[r.Read(pod)])
	}
	for _, pod := range p.Pods {
		among = append(among, r.Targets.Sets[r.Targets.Matched(podspec.NamespaceOf(pod), pod.Labels)])
	}
	return list, among
}
