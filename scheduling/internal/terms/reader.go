package terms

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Reader reads the topology terms of pods. Equal ones get the same number; 0 is none.
type Reader struct {
	// Targets are the pods that terms are about.
	Targets *podspec.Targets
	// List are the terms by number.
	List []*podspec.TopologyTerms
	// Workloads counts the pods of each workload; nil where their shares are not bounded.
	Workloads   *podspec.Workloads
	namespaces  *namespaces
	defaults    *podspec.DefaultSpread
	preferences bool // preferences count
	index       map[string]int
	buffer      []byte
}

// NewReader returns a reader of the terms of a problem's pods. Spaces counts the pods that run by
// namespace; where it is nil, they are those of the problem.
func NewReader(p *scheduling.Problem, s *scheduling.Policy, running *hosts.Cluster, spaces map[string]int) *Reader {
	r := &Reader{
		Targets: podspec.NewTargets(), namespaces: &namespaces{problem: p, spaces: spaces},
		preferences: s.Preferences != scheduling.PreferencesIgnore, List: []*podspec.TopologyTerms{{}}, index: map[string]int{"": 0},
	}
	if len(p.DefaultSpread) > 0 {
		r.defaults = podspec.NewDefaultSpread(p)
	}
	if s.WorkloadShare > 0 && s.WorkloadShare < 100 {
		r.Workloads = newWorkloads(p, s.WorkloadShare, running)
	}
	return r
}

// Read returns the number of a pod's topology terms.
func (r *Reader) Read(pod *corev1.Pod) int {
	spread, selector := r.spread(pod)
	a := pod.Spec.Affinity
	share, workload, shared := r.shareTerm(pod)
	if !shared && len(spread) == 0 && (a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil && (a.NodeAffinity == nil || !r.preferences)) {
		return 0
	}
	r.buffer = podspec.AppendTopologyTerms(r.buffer[:0], pod, spread, selector, r.preferences)
	if shared {
		r.buffer = podspec.AppendText(append(r.buffer, 'W'), workload)
	}
	if n, ok := r.index[string(r.buffer)]; ok {
		return n
	}
	n := len(r.List)
	name := string(r.buffer)
	b := r.readTerms(pod, spread, selector)
	if shared {
		b.Terms = append(b.Terms, share)
	}
	if len(b.Terms) == 0 && len(b.Preferences) == 0 {
		n = 0
	} else {
		b.Name = name
		r.List = append(r.List, b)
	}
	r.index[name] = n
	return n
}

// spread returns the spread constraints that hold for a pod, and the selector that
// the cluster's default ones have.
func (r *Reader) spread(pod *corev1.Pod) ([]corev1.TopologySpreadConstraint, *podspec.Deduced) {
	if len(pod.Spec.TopologySpreadConstraints) > 0 || r.defaults == nil {
		return pod.Spec.TopologySpreadConstraints, nil
	}
	d := r.defaults.Deduce(pod)
	if d == nil {
		return nil, nil
	}
	return r.defaults.Constraints, d
}

// readTerms reads what is new.
func (r *Reader) readTerms(pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *podspec.Deduced) *podspec.TopologyTerms {
	b := &podspec.TopologyTerms{}
	for i := range spread {
		if c := &spread[i]; r.preferences || c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			b.Terms = append(b.Terms, r.spreadTerm(pod, c, selector))
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return b
	}
	if p := a.PodAffinity; p != nil {
		b.Terms = append(b.Terms, r.required(pod, p.RequiredDuringSchedulingIgnoredDuringExecution)...)
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.preferences && w.Weight > 0 {
				n := r.target(pod, []corev1.PodAffinityTerm{w.PodAffinityTerm})
				b.Terms = append(b.Terms, podspec.TopologyTerm{Kind: podspec.AffinityTerm, Key: w.PodAffinityTerm.TopologyKey, Target: n, Weight: int64(w.Weight)})
			}
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			b.Terms = append(b.Terms, r.Anti(pod, &p.RequiredDuringSchedulingIgnoredDuringExecution[i], 0))
		}
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.preferences && w.Weight > 0 {
				b.Terms = append(b.Terms, r.Anti(pod, &w.PodAffinityTerm, int64(w.Weight)))
			}
		}
	}
	if n := a.NodeAffinity; n != nil && r.preferences {
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			if w.Weight > 0 && len(w.Preference.MatchExpressions)+len(w.Preference.MatchFields) > 0 {
				b.Preferences = append(b.Preferences, podspec.NodePreference{Weight: int64(w.Weight), Term: podspec.NewTerm(&w.Preference)})
			}
		}
	}
	return b
}

// spreadTerm reads a spread constraint.
func (r *Reader) spreadTerm(pod *corev1.Pod, c *corev1.TopologySpreadConstraint, selector *podspec.Deduced) podspec.TopologyTerm {
	t := podspec.TopologyTerm{Kind: podspec.SpreadTerm, Key: c.TopologyKey, MaxSkew: int64(c.MaxSkew), HonorAffinity: true}
	if c.MinDomains != nil {
		t.MinDomains = int64(*c.MinDomains)
	}
	if c.NodeAffinityPolicy != nil {
		t.HonorAffinity = *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.NodeTaintsPolicy != nil {
		t.HonorTaints = *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	}
	if c.WhenUnsatisfiable == corev1.ScheduleAnyway {
		t.Weight, t.MinDomains = podspec.UnsatisfiedWeight, 0
	}
	own := podspec.NamespaceOf(pod)
	b := podspec.AppendText([]byte{'s'}, own)
	if selector != nil {
		t.Target = r.Targets.Add(string(podspec.AppendText(append(b, 'd'), selector.Name)), func() podspec.Target {
			return podspec.Target{Selectors: []podspec.PodSelector{{Namespaces: map[string]bool{own: true}, Labels: selector.Labels}}}
		})
		return t
	}
	b = podspec.AppendSelector(b, c.LabelSelector, c.MatchLabelKeys, nil, pod.Labels)
	t.Target = r.Targets.Add(string(b), func() podspec.Target {
		return podspec.Target{Selectors: []podspec.PodSelector{{
			Namespaces: map[string]bool{own: true},
			Labels:     podspec.SpreadSelector(c, pod.Labels),
		}}}
	})
	return t
}

// required reads the required terms of pod affinity. A pod counts for them only if
// all of them select it (kube-scheduler, interpodaffinity: podMatchesAllAffinityTerms).
func (r *Reader) required(pod *corev1.Pod, terms []corev1.PodAffinityTerm) []podspec.TopologyTerm {
	if len(terms) == 0 {
		return nil
	}
	n := r.target(pod, terms)
	out := make([]podspec.TopologyTerm, 0, len(terms))
	for i := range terms {
		t := podspec.TopologyTerm{Kind: podspec.AffinityTerm, Key: terms[i].TopologyKey, Target: n}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// Anti reads a term of anti-affinity.
func (r *Reader) Anti(pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) podspec.TopologyTerm {
	return podspec.TopologyTerm{Kind: podspec.AntiAffinityTerm, Key: term.TopologyKey, Weight: weight, Target: r.target(pod, []corev1.PodAffinityTerm{*term})}
}

// target numbers the pods that all terms select.
func (r *Reader) target(pod *corev1.Pod, terms []corev1.PodAffinityTerm) int {
	return r.Targets.Add(string(podspec.AppendTargetName(nil, pod, terms)), func() podspec.Target {
		made := podspec.Target{}
		for i := range terms {
			made.Selectors = append(made.Selectors, r.Selector(pod, &terms[i]))
		}
		return made
	})
}

// Selector selects the pods that a pod's term is about.
func (r *Reader) Selector(pod *corev1.Pod, term *corev1.PodAffinityTerm) podspec.PodSelector {
	s := r.namespaces.of(term, podspec.NamespaceOf(pod))
	s.Labels = podspec.LabelSelector(term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, pod.Labels)
	return s
}

// namespaces knows the labels of the namespaces: those that a problem lists, and those
// that its pods are in.
type namespaces struct {
	problem *scheduling.Problem
	spaces  map[string]int
	labels  map[string]labels.Set // filled when first asked
}

// all returns the labels of all namespaces.
func (n *namespaces) all() map[string]labels.Set {
	if n.labels != nil {
		return n.labels
	}
	n.labels = map[string]labels.Set{}
	p := n.problem
	for _, ns := range p.Namespaces {
		set := labels.Set{corev1.LabelMetadataName: ns.Name}
		maps.Copy(set, ns.Labels)
		n.labels[ns.Name] = set
	}
	note := func(name string) {
		if n.labels[name] == nil {
			n.labels[name] = labels.Set{corev1.LabelMetadataName: name}
		}
	}
	for name := range n.spaces {
		note(name)
	}
	for _, pods := range [][]*corev1.Pod{p.Pods, p.Running} {
		for _, pod := range pods {
			note(podspec.NamespaceOf(pod))
		}
	}
	return n.labels
}

// of returns a selector over the namespaces that a term of (anti-)affinity means.
func (n *namespaces) of(term *corev1.PodAffinityTerm, own string) podspec.PodSelector {
	if len(term.Namespaces) == 0 && term.NamespaceSelector == nil {
		return podspec.PodSelector{Namespaces: map[string]bool{own: true}}
	}
	s := podspec.PodSelector{Namespaces: map[string]bool{}}
	for _, name := range term.Namespaces {
		s.Namespaces[name] = true
	}
	if term.NamespaceSelector == nil {
		return s
	}
	selector, err := metav1.LabelSelectorAsSelector(term.NamespaceSelector)
	if err != nil {
		return s
	}
	if selector.Empty() {
		return podspec.PodSelector{Every: true}
	}
	for name, set := range n.all() {
		if selector.Matches(set) {
			s.Namespaces[name] = true
		}
	}
	return s
}

// newWorkloads counts the pods of every workload: those to be placed and those that run
// and are not being deleted.
func newWorkloads(p *scheduling.Problem, share int, running *hosts.Cluster) *podspec.Workloads {
	w := podspec.NewWorkloads(p, share)
	for _, pod := range p.Pods {
		if podspec.Pending(pod) {
			w.Count(pod)
		}
	}
	for _, h := range running.Hosts {
		for _, pod := range h.Pods {
			if pod.DeletionTimestamp == nil {
				w.Count(pod)
			}
		}
	}
	return w
}

// shareTerm bounds how many pods of a pod's workload may be on one machine; ok is false where
// that is no bound.
func (r *Reader) shareTerm(pod *corev1.Pod) (t podspec.TopologyTerm, name string, ok bool) {
	if r.Workloads == nil {
		return podspec.TopologyTerm{}, "", false
	}
	name = r.Workloads.Of(pod)
	if name == "" || r.Workloads.Most(name) >= r.Workloads.Pods[name] {
		return podspec.TopologyTerm{}, "", false
	}
	own := podspec.NamespaceOf(pod)
	t = podspec.TopologyTerm{Kind: podspec.SpreadTerm, Key: corev1.LabelHostname, MaxSkew: r.Workloads.Most(name), HonorAffinity: true, Share: true}
	t.Target = r.Targets.Add(string(podspec.AppendText([]byte{'w'}, name)), func() podspec.Target {
		return podspec.Target{Selectors: []podspec.PodSelector{{
			Namespaces: map[string]bool{own: true}, Labels: labels.SelectorFromValidatedSet(labels.Set{podspec.WorkloadKey: name}),
		}}}
	})
	return t, name, true
}

// LabelsOf are a pod's labels, and its workload where that matters.
func (r *Reader) LabelsOf(pod *corev1.Pod) map[string]string {
	if r.Workloads == nil {
		return pod.Labels
	}
	name := r.Workloads.Of(pod)
	if name == "" {
		return pod.Labels
	}
	out := make(map[string]string, len(pod.Labels)+1)
	maps.Copy(out, pod.Labels)
	out[podspec.WorkloadKey] = name
	return out
}

// Sort numbers topology terms and targets so that the order of the input does not show, and
// returns the new numbers of both.
func (r *Reader) Sort() (podTerms, targets []int) {
	targets = sortTargets(r.Targets)
	order := make([]int, len(r.List))
	for i := range order {
		order[i] = i
		for k := range r.List[i].Terms {
			r.List[i].Terms[k].Target = targets[r.List[i].Terms[k].Target]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.List[a].Name, r.List[b].Name) })
	sorted := r.List[:0:0]
	podTerms = make([]int, len(order))
	for to, from := range order {
		podTerms[from] = to
		sorted = append(sorted, r.List[from])
	}
	r.List = sorted
	return podTerms, targets
}

// sortTargets numbers the targets in the order of their signatures.
func sortTargets(t *podspec.Targets) []int {
	moved := make([]int, len(t.List))
	sorted := make([]podspec.Target, len(t.List))
	for to, signature := range slices.Sorted(maps.Keys(t.Index)) {
		from := t.Index[signature]
		moved[from], sorted[to] = to, t.List[from]
	}
	t.List = sorted
	for _, list := range t.Exact {
		for i := range list {
			list[i] = moved[list[i]]
		}
	}
	for i := range t.Others {
		t.Others[i] = moved[t.Others[i]]
	}
	return moved
}
