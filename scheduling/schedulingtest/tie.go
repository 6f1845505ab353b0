package schedulingtest

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// TieOption says one thing about a tie between pods: a topology spread constraint
// ([Spread]), or a term of pod affinity ([Near]) or anti-affinity ([Apart]).
type TieOption interface{ applyTie(*tie) }

// tie is what the three kinds have in common, and what each has of its own.
type tie struct {
	key      string
	selector *metav1.LabelSelector
	chosen   bool // the selector was stated, perhaps as none
	same     []string

	// Of spread.
	skew       int32
	minDomains *int32
	soft       bool
	affinity   *corev1.NodeInclusionPolicy
	taints     *corev1.NodeInclusionPolicy

	// Of affinity.
	weight     int32 // 0: required
	namespaces []string
	everywhere *metav1.LabelSelector
	other      []string
}

type tieFunc func(*tie)

func (f tieFunc) applyTie(t *tie) { f(t) }

// tiePod is a tie on its way into a pod. It goes in when everything else is known:
// without a selector, it is about pods that have the labels of this one.
type tiePod struct {
	key  string
	opts []TieOption
	add  func(*corev1.Pod, *tie)
}

func (t tiePod) applyPod(p *corev1.Pod) {
	made := &tie{key: t.key, skew: 1}
	for _, o := range t.opts {
		o.applyTie(made)
	}
	if !made.chosen {
		made.selector = &metav1.LabelSelector{MatchLabels: maps.Clone(p.Labels)}
	}
	t.add(p, made)
}

// Spread spreads pods evenly over the values of a node label: by at most one pod
// more in one place than in another, and as a hard constraint. It counts the pods
// with the labels of this pod unless [Of], [OfAll] or [OfNone] say otherwise.
func Spread(key string, opts ...TieOption) PodOption {
	return tiePod{key, opts, func(p *corev1.Pod, t *tie) {
		p.Spec.TopologySpreadConstraints = append(p.Spec.TopologySpreadConstraints, t.constraint())
	}}
}

// Near asks for a place, a value of a node label, with another of these pods in it,
// or with [Weight] prefers one. The pods are those with the labels of this pod unless
// [Of], [OfAll] or [OfNone] say otherwise.
func Near(key string, opts ...TieOption) PodOption {
	return tiePod{key, opts, func(p *corev1.Pod, t *tie) {
		a := podAffinity(p)
		if a.PodAffinity == nil {
			a.PodAffinity = &corev1.PodAffinity{}
		}
		into := a.PodAffinity
		t.addTo(&into.RequiredDuringSchedulingIgnoredDuringExecution, &into.PreferredDuringSchedulingIgnoredDuringExecution)
	}}
}

// Apart asks for a place, a value of a node label, without any other of these pods in
// it, or with [Weight] prefers one. The pods are those with the labels of this pod
// unless [Of], [OfAll] or [OfNone] say otherwise.
func Apart(key string, opts ...TieOption) PodOption {
	return tiePod{key, opts, func(p *corev1.Pod, t *tie) {
		a := podAffinity(p)
		if a.PodAntiAffinity == nil {
			a.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		into := a.PodAntiAffinity
		t.addTo(&into.RequiredDuringSchedulingIgnoredDuringExecution, &into.PreferredDuringSchedulingIgnoredDuringExecution)
	}}
}

// DefaultSpread is a constraint for [scheduling.Problem.DefaultSpread], which has no
// selector.
func DefaultSpread(key string, opts ...TieOption) corev1.TopologySpreadConstraint {
	t := &tie{key: key, skew: 1}
	for _, o := range opts {
		o.applyTie(t)
	}
	return t.constraint()
}

// constraint is the tie as a topology spread constraint.
func (t *tie) constraint() corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		TopologyKey: t.key, MaxSkew: t.skew, MinDomains: t.minDomains, LabelSelector: t.selector,
		WhenUnsatisfiable: corev1.DoNotSchedule, MatchLabelKeys: t.same,
		NodeAffinityPolicy: t.affinity, NodeTaintsPolicy: t.taints,
	}
	if t.soft {
		c.WhenUnsatisfiable = corev1.ScheduleAnyway
	}
	return c
}

// addTo adds the tie as a term to one of the lists.
func (t *tie) addTo(required *[]corev1.PodAffinityTerm, preferred *[]corev1.WeightedPodAffinityTerm) {
	term := corev1.PodAffinityTerm{
		TopologyKey: t.key, LabelSelector: t.selector, Namespaces: t.namespaces, NamespaceSelector: t.everywhere,
		MatchLabelKeys: t.same, MismatchLabelKeys: t.other,
	}
	if t.weight == 0 {
		*required = append(*required, term)
		return
	}
	*preferred = append(*preferred, corev1.WeightedPodAffinityTerm{Weight: t.weight, PodAffinityTerm: term})
}

func podAffinity(p *corev1.Pod) *corev1.Affinity {
	if p.Spec.Affinity == nil {
		p.Spec.Affinity = &corev1.Affinity{}
	}
	return p.Spec.Affinity
}

// WeightOption is the weight of a NodePool, or of a preferred tie between pods.
type WeightOption struct{ weight int32 }

// Weight ranks a NodePool: pods go to the pool of the highest weight. It makes a tie
// between pods a preferred one.
func Weight(n int32) WeightOption { return WeightOption{n} }

func (w WeightOption) applyNodePool(p *scheduling.NodePool) { p.Spec.Weight = &w.weight }

func (w WeightOption) applyTie(t *tie) { t.weight = w.weight }
