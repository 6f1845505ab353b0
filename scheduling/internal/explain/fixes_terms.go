package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/cluster"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// nearTerms are the topology terms that alone keep pods off places.
type nearTerms struct {
	single map[int][]cluster.Violation // by the one term that does
	order  []int                       // the keys of single, as they were found
	fewest []cluster.Violation         // of a place that several terms keep the pods off
	seen   map[*cluster.Violation]bool // places with the same domains share a slice
}

// note adds a place that only topology terms keep the pods off, at least one.
func (n *nearTerms) note(violations []cluster.Violation) {
	if n.seen[&violations[0]] {
		return
	}
	if n.seen == nil {
		n.single, n.seen = map[int][]cluster.Violation{}, map[*cluster.Violation]bool{}
	}
	n.seen[&violations[0]] = true
	if len(violations) > 1 {
		if n.fewest == nil || len(violations) < len(n.fewest) {
			n.fewest = violations
		}
		return
	}
	term := violations[0].Term
	if n.single[term] == nil {
		n.order = append(n.order, term)
	}
	if !slices.Contains(n.single[term], violations[0]) {
		n.single[term] = append(n.single[term], violations[0])
	}
}

// termFixes proposes how the topology terms could be relaxed that alone keep a class off places.
func termFixes(s *subject, n *nearTerms, out *ChangeList) {
	for _, term := range n.order {
		relaxed := s.explainer.after().relax(s.id, n.single[term])
		out.Add(relaxed[0])
		blockers(s, n.single[term][0], out)
		for _, c := range relaxed[1:] {
			out.Add(c)
		}
	}
	if len(n.order) == 0 && n.fewest != nil {
		var changes ChangeList
		for _, v := range n.fewest {
			changes.Add(s.explainer.after().lift(s.id, v))
		}
		out.Add(offers.Joined(changes, ", and "))
	}
}

// mostBlockers is how many domains are looked at that hold pods back.
const mostBlockers = 3

// blockers says why the domains that pods of a class need cannot take them: the emptiest domains of a spread, or for an
// affinity the domains of the pods that it selects.
func blockers(s *subject, v cluster.Violation, out *ChangeList) {
	term := s.explainer.after().term(s.id, v)
	if term.Foreign || term.Spec.PerHost() {
		return
	}
	told := 0
	tell := func(domain, text string) {
		if told == mostBlockers {
			return
		}
		told++
		text = fmt.Sprintf("make room in %q, %s: %s", domain, text, wrongWith(s, term.Spec.Key, domain))
		out.Add(scheduling.Change{Kind: scheduling.ChangeDomain, Key: term.Spec.Key, Values: []string{domain}, Text: text})
	}
	counts := s.explainer.after().state.Counts(term)
	switch v.Refusal {
	case cluster.TooSkewed:
		if domains, least := emptiest(counts); int64(domains) >= term.Spec.MinDomains {
			for _, x := range least {
				tell(x.Value, fmt.Sprintf("which blocks the other domains as long as it has %d pods", x.Pods))
			}
		}
	case cluster.NotFollowed:
		for _, x := range counts {
			tell(x.Value, "where such pods are")
		}
	}
}

// relax says how one topology term could give way that keeps a class off places, the smallest change first. There is at
// least one. All violations are of that term.
func (t *termState) relax(id int, violations []cluster.Violation) []scheduling.Change {
	term := t.term(id, violations[0])
	x := term.Spec
	if term.Foreign {
		return []scheduling.Change{t.relaxForeign(id, violations[0])}
	}
	if !slices.ContainsFunc(violations, func(v cluster.Violation) bool { return v.Refusal != cluster.LacksLabel }) {
		c := scheduling.Change{Kind: scheduling.ChangePodAffinity, Key: x.Key}
		if x.Kind == podspec.SpreadTerm {
			c.Kind = scheduling.ChangeScheduleAnyway
		}
		c.Text = fmt.Sprintf("prefer the %s instead of requiring it, or give nodes the label %s", termText(x), x.Key)
		return []scheduling.Change{c}
	}
	switch x.Kind {
	case podspec.SpreadTerm:
		if x.Share {
			return []scheduling.Change{{Kind: scheduling.ChangeWorkloadShare, Object: "Policy", Text: "allow a larger share of a workload on one node"}}
		}
		return t.relaxSpread(id, violations)
	case podspec.AffinityTerm:
		return t.relaxAffinity(id, violations[0])
	default:
		return []scheduling.Change{t.relaxAnti(id, violations)}
	}
}

// lift says how the pod itself could do without one topology term.
func (t *termState) lift(id int, v cluster.Violation) scheduling.Change {
	all := t.relax(id, []cluster.Violation{v})
	if t.term(id, v).Spec.Kind == podspec.AffinityTerm {
		return all[len(all)-1]
	}
	return all[0]
}

// relaxAffinity names the pod that is missing, or proposes to prefer the affinity.
func (t *termState) relaxAffinity(id int, v cluster.Violation) []scheduling.Change {
	x := t.term(id, v).Spec
	selected := selectedPods(t.in.TopologyTerms.Targets, x.Target, podspec.NamespaceOf(t.in.Planned[id].Pods[0]))
	where := "where " + x.Key + " is the same"
	if x.PerHost() {
		where = "on the same node"
	}
	wish := scheduling.Change{Kind: scheduling.ChangePodAffinity, Key: x.Key, Text: fmt.Sprintf("prefer the pod affinity over %s instead of requiring it", x.Key)}
	if v.Refusal != cluster.NoneToFollow {
		return []scheduling.Change{wish}
	}
	if selectsNone(t.in.TopologyTerms.Targets, x.Target) {
		wish.Text = fmt.Sprintf("give the pod affinity over %s a selector: without one it matches no pod", x.Key)
		return []scheduling.Change{wish}
	}
	c := scheduling.Change{Kind: scheduling.ChangePods, Key: x.Key, Text: fmt.Sprintf("needs a pod that matches %s %s; none runs or is planned", selected, where)}
	if other := t.unplaced(x.Target, id); other != "" {
		c.Object = "Pod/" + other
		c.Text = fmt.Sprintf("place pod %s first, which has no place either: needs a pod that matches %s %s", other, selected, where)
	}
	return []scheduling.Change{c, wish}
}

// unplaced is the first pod of a target, by class, that has no place, pods of one class aside; "" for none.
func (t *termState) unplaced(target, except int) string {
	for id, class := range t.in.Planned {
		if id == except || !t.in.TopologyTerms.Targets.Has(class.Among, target) {
			continue
		}
		if pods := t.plan.Unplaced(id); len(pods) > 0 {
			return podspec.PodName(pods[0])
		}
	}
	for _, class := range t.in.Classes.Classes {
		if class.Refused != "" && t.in.TopologyTerms.Targets.Has(class.Among, target) {
			return podspec.PodName(class.Pods[0])
		}
	}
	return ""
}

// relaxAnti proposes to prefer an anti-affinity of a class instead of requiring it.
func (t *termState) relaxAnti(id int, violations []cluster.Violation) scheduling.Change {
	x := t.term(id, violations[0]).Spec
	selected := selectedPods(t.in.TopologyTerms.Targets, x.Target, podspec.NamespaceOf(t.in.Planned[id].Pods[0]))
	c := scheduling.Change{Kind: scheduling.ChangePodAntiAffinity, Key: x.Key}
	if x.PerHost() {
		c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: every node with room has a pod that matches %s", x.Key, selected)
		return c
	}
	var domains []string
	for _, v := range violations {
		if name := t.where(id, v); !slices.Contains(domains, name) {
			domains = append(domains, name)
		}
	}
	slices.Sort(domains)
	has := fmt.Sprintf("all %d values with room have", len(domains))
	switch len(domains) {
	case 1:
		has = domains[0] + " has"
	case 2:
		has = domains[0] + " and " + domains[1] + " have"
	}
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s instead of requiring it: %s a pod that matches %s already", x.Key, has, selected)
	return c
}

// relaxForeign names a pod whose anti-affinity keeps a class away.
func (t *termState) relaxForeign(id int, v cluster.Violation) scheduling.Change {
	x := t.term(id, v).Spec
	selected := selectedPods(t.in.TopologyTerms.Targets, x.Target, podspec.NamespaceOf(t.in.Planned[id].Pods[0]))
	c := scheduling.Change{Kind: scheduling.ChangePodAntiAffinity, Key: x.Key}
	whose := "of the pods that keep it away"
	if pod := t.holder(t.term(id, v), v.Domain); pod != "" {
		c.Object, whose = "Pod/"+pod, "of pod "+pod
	}
	c.Text = fmt.Sprintf("prefer the pod anti-affinity over %s %s instead of requiring it: it is about pods that match %s", x.Key, whose, selected)
	return c
}

// holder is the first pod by name in a domain that states an anti-affinity, "" for none. The domain is -1 for any node.
func (t *termState) holder(term *cluster.Term, domain int32) string {
	states := func(x *podspec.TopologyTerm) bool {
		return x.Kind == podspec.AntiAffinityTerm && x.Weight == 0 && x.Key == term.Spec.Key && x.Target == term.Spec.Target
	}
	there := func(node int32) bool { return domain < 0 || t.state.Domain(term.Axis, node) == domain }
	var names []string
	for i := range t.in.ExistingAntiAffinity {
		k := &t.in.ExistingAntiAffinity[i]
		if node, ok := t.state.Model.Node(k.Node); ok && states(&k.Term) && there(node) {
			names = append(names, k.Pod)
		}
	}
	for pod, node := range t.at {
		terms := t.in.TopologyTerms.List[t.in.Planned[t.plan.ClassOf[pod]].TopologyTerms].Terms
		if there(node) && slices.ContainsFunc(terms, func(x podspec.TopologyTerm) bool { return states(&x) }) {
			names = append(names, pod)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return slices.Min(names)
}

// applyPodAffinity drops the pod's affinity over a key.
func applyPodAffinity(t *Trial, c *scheduling.Change) bool {
	a := t.Pod.Spec.Affinity
	return a != nil && a.PodAffinity != nil && dropTerms(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key)
}

// applyAntiAffinity drops the anti-affinity over a key of a pod, and of running pods of its namespace
// that have the same, as those of one workload do.
func applyAntiAffinity(t *Trial, c *scheduling.Change) bool {
	holder := t.Pod
	if kind, name, _ := strings.Cut(c.Object, "/"); kind == "Pod" {
		holder = t.runningPod(name)
	}
	if holder == nil || holder.Spec.Affinity == nil || holder.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	var d scheduling.Delta
	same := holder.Spec.Affinity.PodAntiAffinity.DeepCopy()
	for pod, node := range t.Running {
		if podspec.NamespaceOf(pod) != podspec.NamespaceOf(holder) || pod.Spec.Affinity == nil || !equality.Semantic.DeepEqual(pod.Spec.Affinity.PodAntiAffinity, same) {
			continue
		}
		changed := podspec.OnNode(pod, node).DeepCopy()
		if dropTerms(&changed.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key) {
			d.Pods = append(d.Pods, changed)
		}
	}
	found := holder == t.Pod && dropTerms(&t.Pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, c.Key)
	return (found || len(d.Pods) > 0) && t.Update(d) == nil
}

// applyPods lets a pod wait that the pod's affinity over a key is about.
func applyPods(t *Trial, c *scheduling.Change) bool {
	if len(t.AffinePods) > 0 || t.Pod.Spec.Affinity == nil || t.Pod.Spec.Affinity.PodAffinity == nil {
		return false
	}
	own, spec := t.Pod, &t.Pod.Spec
	mate := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: podspec.NamespaceOf(own), Name: "company/" + strconv.Itoa(len(t.AffinePods)), Labels: map[string]string{}},
		Spec: corev1.PodSpec{
			NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations, Priority: spec.Priority,
			Affinity: &corev1.Affinity{NodeAffinity: spec.Affinity.NodeAffinity}, Containers: []corev1.Container{{Name: "all"}},
		},
	}
	found := false
	for i := range spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		x := &spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i]
		found = found || x.TopologyKey == c.Key
		if len(x.Namespaces) > 0 && !slices.Contains(x.Namespaces, mate.Namespace) {
			mate.Namespace = x.Namespaces[0]
		}
		asked, _ := podspec.LabelSelector(x.LabelSelector, x.MatchLabelKeys, x.MismatchLabelKeys, own.Labels).Requirements()
		for j := range asked {
			switch r := &asked[j]; {
			case podspec.DemandsValue(r):
				mate.Labels[r.Key()] = slices.Min(r.ValuesUnsorted())
			case r.Operator() == "exists":
				mate.Labels[r.Key()] = ""
			}
		}
	}
	t.AffinePods = append(slices.Clone(t.AffinePods), mate)
	return found
}
