package podspec

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TieKind is the kind of a topology term.
type TieKind uint8

// The kinds of ties.
const (
	SpreadTie   TieKind = iota // pods of the target are spread over the values of a label
	AffinityTie                // a pod of the target has to be where the label has the same value
	AntiTie                    // no pod of the target may be there
)

// Tie is one constraint that makes a pod's place depend on the places of others.
type Tie struct {
	Kind       TieKind
	Key        string // the label of nodes, as the pod wrote it
	Target     int
	Weight     int64 // what a wish weighs; 0 where the constraint has to hold
	MaxSkew    int64
	MinDomains int64
	// honorAffinity and honorTaints say which nodes a spread looks at: those only that
	// the pod's own node constraints, and its tolerations, allow.
	HonorAffinity, HonorTaints bool
	// share says that it is no constraint of the pod's but the bound on the share of a
	// workload that one machine may hold.
	Share bool
}

// PerHost reports whether the domains of the tie are single nodes.
func (t *Tie) PerHost() bool { return t.Key == corev1.LabelHostname }

// NodeWish is a preferred term of node affinity.
type NodeWish struct {
	Weight int64
	Term   Term
}

// TopologyTerms are what ties a pod to others, and what it would like of its node.
type TopologyTerms struct {
	Ties   []Tie
	Wishes []NodeWish
	Name   string // of equal topology terms
}

// SpreadKeys are the labels that a node must have to be looked at by the pod's
// spread constraints of one sort.
func (b *TopologyTerms) SpreadKeys(hard bool) []string {
	var keys []string
	for i := range b.Ties {
		if t := &b.Ties[i]; t.Kind == SpreadTie && !t.Share && (t.Weight == 0) == hard {
			keys = append(keys, t.Key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// UnsatisfiedWeight is what keeping a ScheduleAnyway constraint weighs.
const UnsatisfiedWeight = 100

// SpreadSelector is the selector of a spread constraint. One that is empty counts no
// pod (kube-scheduler, podtopologyspread: countPodsMatchSelector).
func SpreadSelector(c *corev1.TopologySpreadConstraint, own map[string]string) labels.Selector {
	s := LabelSelector(c.LabelSelector, c.MatchLabelKeys, nil, own)
	if s.Empty() {
		return labels.Nothing()
	}
	return s
}

// AppendTargetName appends what identifies the pods that all terms select.
func AppendTargetName(b []byte, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []byte {
	b = append(b, 't')
	for i := range terms {
		b = appendTerm(b, &terms[i], NamespaceOf(pod), pod.Labels)
	}
	return b
}

// appendTerm appends whom a term selects.
func appendTerm(b []byte, term *corev1.PodAffinityTerm, own string, podLabels map[string]string) []byte {
	b = append(b, '(')
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		b = AppendText(append(b, 'n'), own)
	}
	for _, name := range term.Namespaces {
		b = AppendText(append(b, 'n'), name)
	}
	b = AppendSelector(append(b, 'N'), term.NamespaceSelector, nil, nil, nil)
	return append(AppendSelector(b, term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, podLabels), ')')
}

// AppendTopologyTerms appends what identifies a pod's topology terms, its wishes among them where they
// count.
func AppendTopologyTerms(b []byte, pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *Deduced, wishes bool) []byte {
	own := NamespaceOf(pod)
	if selector != nil {
		b = AppendText(append(b, 'd'), own)
		b = AppendText(b, selector.Name)
	} else {
		for i := range spread {
			b = appendSpread(b, &spread[i], own, pod.Labels)
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return b
	}
	terms := func(mark byte, terms []corev1.PodAffinityTerm) {
		for i := range terms {
			b = AppendText(append(b, mark), terms[i].TopologyKey)
			b = appendTerm(b, &terms[i], own, pod.Labels)
		}
	}
	weighted := func(mark byte, terms []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			if !wishes {
				return
			}
			b = strconv.AppendInt(append(b, mark), int64(terms[i].Weight), 10)
			b = AppendText(append(b, ' '), terms[i].PodAffinityTerm.TopologyKey)
			b = appendTerm(b, &terms[i].PodAffinityTerm, own, pod.Labels)
		}
	}
	if p := a.PodAffinity; p != nil {
		terms('a', p.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted('A', p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		terms('x', p.RequiredDuringSchedulingIgnoredDuringExecution)
		weighted('X', p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if n := a.NodeAffinity; n != nil && wishes {
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			b = strconv.AppendInt(append(b, 'w'), int64(w.Weight), 10)
			b = appendExpressions(append(b, ' '), w.Preference.MatchExpressions)
			b = appendExpressions(append(b, 'f'), w.Preference.MatchFields)
		}
	}
	return b
}

// appendSpread appends a spread constraint.
func appendSpread(b []byte, c *corev1.TopologySpreadConstraint, own string, podLabels map[string]string) []byte {
	b = AppendText(append(b, 's'), own)
	b = AppendText(b, c.TopologyKey)
	b = strconv.AppendInt(append(b, ' '), int64(c.MaxSkew), 10)
	b = AppendText(b, string(c.WhenUnsatisfiable))
	if c.MinDomains != nil {
		b = strconv.AppendInt(append(b, 'm'), int64(*c.MinDomains), 10)
	}
	for _, policy := range []*corev1.NodeInclusionPolicy{c.NodeAffinityPolicy, c.NodeTaintsPolicy} {
		b = append(b, ' ')
		if policy != nil {
			b = append(b, *policy...)
		}
	}
	return AppendSelector(b, c.LabelSelector, c.MatchLabelKeys, nil, podLabels)
}

// Deduced is a selector that stands in for those that default constraints lack.
type Deduced struct {
	Labels labels.Selector
	Name   string
}
