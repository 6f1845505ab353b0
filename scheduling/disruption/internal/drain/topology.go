package drain

import (
	"fmt"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/terms"
)

// Topology knows the topology terms of the pods of a cluster that have to hold, and which pods
// they are about. It does not change while steps are made.
type Topology struct {
	pods    map[string]*PodTopology // by name
	keys    map[int][]string        // by target, the labels of the terms about it, that of hosts aside
	members map[int][]string        // by target, the pods that have a node and are among it
	anti    map[int][]antiTerm      // by target, the anti-affinity terms about it
	holders map[antiTerm][]string   // the pods that have a node and hold a term
}

// PodTopology is what ties a pod to others.
type PodTopology struct {
	Terms *podspec.TopologyTerms
	Among []int32 // the targets of all terms that it is among
}

// antiTerm keeps the pods that hold it and those of a target apart, over the values of a label.
type antiTerm struct {
	target int
	key    string
}

// NewTopology reads the pods of a problem.
func NewTopology(p *scheduling.Problem) *Topology {
	x := &Topology{pods: map[string]*PodTopology{}, keys: map[int][]string{}, members: map[int][]string{}, anti: map[int][]antiTerm{}, holders: map[antiTerm][]string{}}
	pods := lo.Filter(slices.Concat(p.Running, p.Pods), func(pod *corev1.Pod, _ int) bool { return !podspec.Terminal(pod) })
	read, among := terms.Required(p, pods)
	for i, pod := range pods {
		name := podspec.PodName(pod)
		x.pods[name] = &PodTopology{Terms: read[i], Among: among[i]}
		for _, tie := range read[i].Ties {
			if key := requirements.NormalizeKey(tie.Key); key != corev1.LabelHostname && !slices.Contains(x.keys[tie.Target], key) {
				x.keys[tie.Target] = append(x.keys[tie.Target], key)
			}
		}
		if pod.Spec.NodeName == "" {
			continue
		}
		for _, target := range among[i] {
			x.members[int(target)] = append(x.members[int(target)], name)
		}
		for _, tie := range read[i].Ties {
			if t := (antiTerm{tie.Target, tie.Key}); tie.Kind == podspec.AntiTie {
				if x.holders[t] == nil {
					x.anti[t.target] = append(x.anti[t.target], t)
				}
				x.holders[t] = append(x.holders[t], name)
			}
		}
	}
	return x
}

// Of is what ties a pod to others, by its name.
func (x *Topology) Of(pod string) *PodTopology {
	if t := x.pods[pod]; t != nil {
		return t
	}
	return &PodTopology{Terms: &podspec.TopologyTerms{}}
}

// Keys are the labels of the terms that pods have or are counted by, that of hosts aside.
func (x *Topology) Keys(pods ...string) sets.Set[string] {
	out := sets.New[string]()
	for _, pod := range pods {
		t := x.Of(pod)
		for _, target := range t.Among {
			out.Insert(x.keys[int(target)]...)
		}
		for _, tie := range t.Terms.Ties {
			out.Insert(x.keys[tie.Target]...)
		}
	}
	return out
}

// Tied reports whether where a pod may land depends on where others are.
func (t *PodTopology) Tied() bool { return len(t.Terms.Ties) > 0 }

// Repels reports whether a pod keeps others away.
func (t *PodTopology) Repels() bool {
	return slices.ContainsFunc(t.Terms.Ties, func(tie podspec.Tie) bool { return tie.Kind == podspec.AntiTie })
}

// isAmong reports whether a pod is among a target.
func (t *PodTopology) isAmong(target int) bool {
	_, ok := slices.BinarySearch(t.Among, int32(target))
	return ok
}

// nodeFilter tells the nodes that a spread constraint looks at (kube-scheduler, podtopologyspread:
// those that have all its pod's hard keys, and pass the constraint's node policies).
type nodeFilter struct {
	keys                       []string
	honorAffinity, honorTaints bool
	pod                        *podspec.Constraint
	known                      map[string]bool // by node
}

// filterKey is the same for spread constraints that look at the same nodes.
func filterKey(pod *corev1.Pod, own *podspec.TopologyTerms, tie *podspec.Tie) string {
	return fmt.Sprint(tie.HonorAffinity, tie.HonorTaints, own.SpreadKeys(true), string(podspec.AppendSignature(nil, &pod.Spec, new([]string))))
}

func newNodeFilter(pod *corev1.Pod, own *podspec.TopologyTerms, tie *podspec.Tie) *nodeFilter {
	return &nodeFilter{
		keys: own.SpreadKeys(true), honorAffinity: tie.HonorAffinity, honorTaints: tie.HonorTaints,
		pod: podspec.NewConstraint(&pod.Spec), known: map[string]bool{},
	}
}

// passes reports whether a node counts; without a filter all do.
func (f *nodeFilter) passes(node *corev1.Node) bool {
	if f == nil {
		return true
	}
	ok, known := f.known[node.Name]
	if !known {
		ok = lo.EveryBy(f.keys, func(key string) bool { return lo.HasKey(node.Labels, key) }) &&
			(!f.honorAffinity || f.pod.OwnMatchesNode(node.Name, node.Labels)) && (!f.honorTaints || Tolerates(f.pod.Tolerations, node.Spec.Taints))
		f.known[node.Name] = ok
	}
	return ok
}

// Tolerates reports whether tolerations cover all taints that keep pods away.
func Tolerates(tolerations []corev1.Toleration, taints []corev1.Taint) bool {
	hard, _ := podspec.Untolerated(tolerations, taints)
	return hard == nil
}

// countKey says what is counted by domain: the pods of a target on nodes that pass a filter ("" for
// all nodes), or those that hold the anti-affinity term about it.
type countKey struct {
	antiTerm
	holders bool
	filter  string
}

// domainCounts counts pods by domain.
type domainCounts struct {
	countKey
	filter *nodeFilter
	pods   map[string]int
	total  int
}

// domainKey says which nodes are counted by domain.
type domainKey struct{ key, filter string }

// domainNodes counts the nodes that a spread constraint looks at by domain.
type domainNodes struct {
	domainKey
	filter *nodeFilter
	nodes  map[string]int
}

// count counts a node, or no longer.
func (d *domainNodes) count(node *corev1.Node, by int) {
	if value, ok := node.Labels[d.key]; ok && d.filter.passes(node) {
		d.nodes[value] += by
	}
}
