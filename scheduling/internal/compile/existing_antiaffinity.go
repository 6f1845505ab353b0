package compile

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingAntiAffinity is a running pod's required anti-affinity: it keeps its target away from
// nodes that share a label with its own.
type ExistingAntiAffinity struct {
	podspec.Tie
	Node string
	Pod  string
}

// readPods folds the pending pods into classes. What ties pods to each other has to
// be known of all of them before one can tell which of their labels matter.
func (c *Compiler) readPods() {
	r := c.Readings
	c.TopologyTerms.workloads = newWorkloads(c)
	numbers := make([]int, len(r.PodSpecKeys))
	singles := map[*corev1.Pod]int{}
	for i, m := range r.PodSpecKeys {
		if m != nil && !m.Single {
			numbers[i] = read(c.TopologyTerms, m.Pod)
		}
	}
	for i, n := range r.Of {
		if n >= 0 && r.PodSpecKeys[n].Single {
			singles[c.Problem.Pods[i]] = read(c.TopologyTerms, c.Problem.Pods[i])
		}
	}
	c.readGuards()
	moved, renamed := sort(c.TopologyTerms)
	for i := range c.ExistingAntiAffinity {
		c.ExistingAntiAffinity[i].Target = renamed[c.ExistingAntiAffinity[i].Target]
	}
	counts := make([]int, len(r.PodSpecKeys))
	for _, n := range r.Of {
		if n >= 0 {
			counts[n]++
		}
	}
	cast := make([][]setClass, len(r.PodSpecKeys))
	for i, n := range r.Of {
		if n < 0 {
			continue
		}
		pod, m := c.Problem.Pods[i], r.PodSpecKeys[n]
		among := c.TopologyTerms.Targets.Matched(podspec.NamespaceOf(pod), labelsOf(c.TopologyTerms, pod))
		if m.Single {
			class := c.Classes.Class(pod, m, moved[singles[pod]], among)
			class.Pods = append(class.Pods, pod)
			continue
		}
		class := classAmong(cast[n], among)
		if class == nil {
			class = c.Classes.Class(pod, m, moved[numbers[n]], among)
			if cast[n] = append(cast[n], setClass{among, class}); len(class.Pods) == 0 && len(cast[n]) == 1 {
				class.Pods = make([]*corev1.Pod, 0, counts[n]) // mostly all of them
			}
		}
		class.Pods = append(class.Pods, pod)
	}
}

// sort numbers topology terms and targets so that the order of the input does not show, and
// returns the new numbers of both.
func sort(r *termReader) (bonds, targets []int) {
	targets = sortTargets(r.Targets)
	order := make([]int, len(r.List))
	for i := range order {
		order[i] = i
		for k := range r.List[i].Ties {
			r.List[i].Ties[k].Target = targets[r.List[i].Ties[k].Target]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.List[a].Name, r.List[b].Name) })
	sorted := r.List[:0:0]
	bonds = make([]int, len(order))
	for to, from := range order {
		bonds[from] = to
		sorted = append(sorted, r.List[from])
	}
	r.List = sorted
	return bonds, targets
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

// runningAmong returns the set of targets that a running pod is among.
func (c *Compiler) runningAmong(pod *corev1.Pod) []int32 {
	t := c.TopologyTerms.Targets
	return t.Sets[t.Matched(podspec.NamespaceOf(pod), labelsOf(c.TopologyTerms, pod))]
}

// setClass is the class of a pod spec key's pods that are among a set of targets.
type setClass struct {
	among int
	class *podspec.PodClass
}

func classAmong(classes []setClass, among int) *podspec.PodClass {
	for i := range classes {
		if classes[i].among == among {
			return classes[i].class
		}
	}
	return nil
}
