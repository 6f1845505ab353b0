package compile

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// termReader reads the topology terms of pods. Equal ones get the same number; 0 is none.
type termReader struct {
	Targets    *podspec.Targets
	namespaces *namespaces
	defaults   *podspec.DefaultSpread
	workloads  *podspec.Workloads
	wishes     bool // preferences count
	List       []*podspec.TopologyTerms
	index      map[string]int
	buffer     []byte
}

func newBondReader(f *Facts) *termReader {
	r := &termReader{
		Targets: podspec.NewTargets(), namespaces: &namespaces{facts: f},
		wishes: f.Solver.Preferences != scheduling.PreferencesIgnore, List: []*podspec.TopologyTerms{{}}, index: map[string]int{"": 0},
	}
	if len(f.Problem.DefaultSpread) > 0 {
		r.defaults = podspec.NewDefaultSpread(f.Problem)
	}
	return r
}

// read returns the number of a pod's topology terms.
func read(r *termReader, pod *corev1.Pod) int {
	spread, selector := spread(r, pod)
	a := pod.Spec.Affinity
	share, workload, shared := shareTie(r, pod)
	if !shared && len(spread) == 0 && (a == nil || a.PodAffinity == nil && a.PodAntiAffinity == nil && (a.NodeAffinity == nil || !r.wishes)) {
		return 0
	}
	r.buffer = podspec.AppendTopologyTerms(r.buffer[:0], pod, spread, selector, r.wishes)
	if shared {
		r.buffer = podspec.AppendText(append(r.buffer, 'W'), workload)
	}
	if n, ok := r.index[string(r.buffer)]; ok {
		return n
	}
	n := len(r.List)
	name := string(r.buffer)
	b := readTerms(r, pod, spread, selector)
	if shared {
		b.Ties = append(b.Ties, share)
	}
	if len(b.Ties) == 0 && len(b.Wishes) == 0 {
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
func spread(r *termReader, pod *corev1.Pod) ([]corev1.TopologySpreadConstraint, *podspec.Deduced) {
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
func readTerms(r *termReader, pod *corev1.Pod, spread []corev1.TopologySpreadConstraint, selector *podspec.Deduced) *podspec.TopologyTerms {
	b := &podspec.TopologyTerms{}
	for i := range spread {
		if c := &spread[i]; r.wishes || c.WhenUnsatisfiable != corev1.ScheduleAnyway {
			b.Ties = append(b.Ties, spreadTie(r, pod, c, selector))
		}
	}
	a := pod.Spec.Affinity
	if a == nil {
		return b
	}
	if p := a.PodAffinity; p != nil {
		b.Ties = append(b.Ties, required(r, pod, p.RequiredDuringSchedulingIgnoredDuringExecution)...)
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.wishes && w.Weight > 0 {
				n := target(r, pod, []corev1.PodAffinityTerm{w.PodAffinityTerm})
				b.Ties = append(b.Ties, podspec.Tie{Kind: podspec.AffinityTie, Key: w.PodAffinityTerm.TopologyKey, Target: n, Weight: int64(w.Weight)})
			}
		}
	}
	if p := a.PodAntiAffinity; p != nil {
		for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
			b.Ties = append(b.Ties, anti(r, pod, &p.RequiredDuringSchedulingIgnoredDuringExecution[i], 0))
		}
		for i := range p.PreferredDuringSchedulingIgnoredDuringExecution {
			if w := &p.PreferredDuringSchedulingIgnoredDuringExecution[i]; r.wishes && w.Weight > 0 {
				b.Ties = append(b.Ties, anti(r, pod, &w.PodAffinityTerm, int64(w.Weight)))
			}
		}
	}
	if n := a.NodeAffinity; n != nil && r.wishes {
		for i := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			w := &n.PreferredDuringSchedulingIgnoredDuringExecution[i]
			if w.Weight > 0 && len(w.Preference.MatchExpressions)+len(w.Preference.MatchFields) > 0 {
				b.Wishes = append(b.Wishes, podspec.NodeWish{Weight: int64(w.Weight), Term: podspec.NewTerm(&w.Preference)})
			}
		}
	}
	return b
}

// spreadTie reads a spread constraint.
func spreadTie(r *termReader, pod *corev1.Pod, c *corev1.TopologySpreadConstraint, selector *podspec.Deduced) podspec.Tie {
	t := podspec.Tie{Kind: podspec.SpreadTie, Key: c.TopologyKey, MaxSkew: int64(c.MaxSkew), HonorAffinity: true}
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
func required(r *termReader, pod *corev1.Pod, terms []corev1.PodAffinityTerm) []podspec.Tie {
	if len(terms) == 0 {
		return nil
	}
	n := target(r, pod, terms)
	out := make([]podspec.Tie, 0, len(terms))
	for i := range terms {
		t := podspec.Tie{Kind: podspec.AffinityTie, Key: terms[i].TopologyKey, Target: n}
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// anti reads a term of anti-affinity.
func anti(r *termReader, pod *corev1.Pod, term *corev1.PodAffinityTerm, weight int64) podspec.Tie {
	return podspec.Tie{Kind: podspec.AntiTie, Key: term.TopologyKey, Weight: weight, Target: target(r, pod, []corev1.PodAffinityTerm{*term})}
}

// target numbers the pods that all terms select.
func target(r *termReader, pod *corev1.Pod, terms []corev1.PodAffinityTerm) int {
	return r.Targets.Add(string(podspec.AppendTargetName(nil, pod, terms)), func() podspec.Target {
		made := podspec.Target{}
		for i := range terms {
			made.Selectors = append(made.Selectors, selector(r, pod, &terms[i]))
		}
		return made
	})
}

// selector selects the pods that a pod's term is about.
func selector(r *termReader, pod *corev1.Pod, term *corev1.PodAffinityTerm) podspec.PodSelector {
	s := of(r.namespaces, term, podspec.NamespaceOf(pod))
	s.Labels = podspec.LabelSelector(term.LabelSelector, term.MatchLabelKeys, term.MismatchLabelKeys, pod.Labels)
	return s
}

// Selector selects the pods that a term of (anti-)affinity of a pod, which may run, is about.
func (c *Compiler) Selector(pod *corev1.Pod, term *corev1.PodAffinityTerm) podspec.PodSelector {
	return selector(c.TopologyTerms, pod, term)
}

// namespaces knows the labels of the namespaces: those that a problem lists, and those
// that its pods are in.
type namespaces struct {
	facts  *Facts
	labels map[string]labels.Set // filled when first asked
}

// all returns the labels of all namespaces.
func all(n *namespaces) map[string]labels.Set {
	if n.labels != nil {
		return n.labels
	}
	n.labels = map[string]labels.Set{}
	p := n.facts.Problem
	for _, ns := range p.Namespaces {
		set := labels.Set{corev1.LabelMetadataName: ns.Name}
		for k, v := range ns.Labels {
			set[k] = v
		}
		n.labels[ns.Name] = set
	}
	note := func(name string) {
		if n.labels[name] == nil {
			n.labels[name] = labels.Set{corev1.LabelMetadataName: name}
		}
	}
	for name := range n.facts.Spaces {
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
func of(n *namespaces, term *corev1.PodAffinityTerm, own string) podspec.PodSelector {
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
	for name, set := range all(n) {
		if selector.Matches(set) {
			s.Namespaces[name] = true
		}
	}
	return s
}

// newWorkloads counts the pods of every workload: those to be placed and those that run
// and are not being deleted. It returns nil where shares are not bounded.
func newWorkloads(c *Compiler) *podspec.Workloads {
	if c.Solver.WorkloadShare <= 0 || c.Solver.WorkloadShare >= 100 {
		return nil
	}
	w := &podspec.Workloads{Percent: int64(c.Solver.WorkloadShare), Services: map[string][]*corev1.Service{}, Pods: map[string]int64{}}
	for _, s := range c.Problem.Services {
		if len(s.Spec.Selector) > 0 {
			ns := podspec.OrDefault(s.Namespace)
			w.Services[ns] = append(w.Services[ns], s)
		}
	}
	for _, pod := range c.Problem.Pods {
		if podspec.Pending(pod) {
			w.Count(pod)
		}
	}
	for _, h := range c.Cluster.Hosts {
		for _, pod := range h.Pods {
			if pod.DeletionTimestamp == nil {
				w.Count(pod)
			}
		}
	}
	return w
}

// tie bounds how many pods of a pod's workload may be on one machine; ok is false where
// that is no bound.
func shareTie(r *termReader, pod *corev1.Pod) (t podspec.Tie, name string, ok bool) {
	if r.workloads == nil {
		return podspec.Tie{}, "", false
	}
	name = r.workloads.Of(pod)
	if name == "" || r.workloads.Most(name) >= r.workloads.Pods[name] {
		return podspec.Tie{}, "", false
	}
	own := podspec.NamespaceOf(pod)
	t = podspec.Tie{Kind: podspec.SpreadTie, Key: corev1.LabelHostname, MaxSkew: r.workloads.Most(name), HonorAffinity: true, Share: true}
	t.Target = r.Targets.Add(string(podspec.AppendText([]byte{'w'}, name)), func() podspec.Target {
		return podspec.Target{Selectors: []podspec.PodSelector{{
			Namespaces: map[string]bool{own: true}, Labels: labels.SelectorFromValidatedSet(labels.Set{podspec.WorkloadKey: name}),
		}}}
	})
	return t, name, true
}

// labelsOf are a pod's labels, and its workload where that matters.
func labelsOf(r *termReader, pod *corev1.Pod) map[string]string {
	if r.workloads == nil {
		return pod.Labels
	}
	name := r.workloads.Of(pod)
	if name == "" {
		return pod.Labels
	}
	out := make(map[string]string, len(pod.Labels)+1)
	for k, v := range pod.Labels {
		out[k] = v
	}
	out[podspec.WorkloadKey] = name
	return out
}
