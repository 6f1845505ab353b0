package scheduling

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// keeper is a running pod's required anti-affinity: it keeps its target away from
// nodes that share a label with its own.
type keeper struct {
	tie
	node string
	pod  string
}

// readPods folds the pending pods into classes. What ties pods to each other has to
// be known of all of them before one can tell which of their labels matter.
func (c *compiler) readPods() {
	r := c.readings
	c.bonds.workloads = newWorkloads(c)
	numbers := make([]int, len(r.moulds))
	singles := map[*corev1.Pod]int{}
	for i, m := range r.moulds {
		if m != nil && !m.single {
			numbers[i] = c.bonds.read(m.pod)
		}
	}
	for i, n := range r.of {
		if n >= 0 && r.moulds[n].single {
			singles[c.problem.Pods[i]] = c.bonds.read(c.problem.Pods[i])
		}
	}
	guarded := c.readGuards()
	moved, renamed := c.bonds.sort()
	for i, target := range guarded {
		guarded[i] = renamed[target]
	}
	c.keepers = c.postKeepers(guarded)
	counts := make([]int, len(r.moulds))
	for _, n := range r.of {
		if n >= 0 {
			counts[n]++
		}
	}
	cast := make([][]setClass, len(r.moulds))
	for i, n := range r.of {
		if n < 0 {
			continue
		}
		pod, m := c.problem.Pods[i], r.moulds[n]
		among := c.bonds.targets.matched(namespaceOf(pod), c.bonds.labelsOf(pod))
		if m.single {
			class := c.classes.class(pod, m, moved[singles[pod]], among)
			class.pods = append(class.pods, pod)
			continue
		}
		class := classAmong(cast[n], among)
		if class == nil {
			class = c.classes.class(pod, m, moved[numbers[n]], among)
			if cast[n] = append(cast[n], setClass{among, class}); len(class.pods) == 0 && len(cast[n]) == 1 {
				class.pods = make([]*corev1.Pod, 0, counts[n]) // mostly all of them
			}
		}
		class.pods = append(class.pods, pod)
	}
}

// sort numbers bonds and targets so that the order of the input does not show, and
// returns the new numbers of both.
func (r *bondReader) sort() (bonds, targets []int) {
	targets = r.targets.sort()
	order := make([]int, len(r.list))
	for i := range order {
		order[i] = i
		for k := range r.list[i].ties {
			r.list[i].ties[k].target = targets[r.list[i].ties[k].target]
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(r.list[a].name, r.list[b].name) })
	sorted := r.list[:0:0]
	bonds = make([]int, len(order))
	for to, from := range order {
		bonds[from] = to
		sorted = append(sorted, r.list[from])
	}
	r.list = sorted
	return bonds, targets
}

// sort numbers the targets in the order of their signatures.
func (t *targets) sort() []int {
	moved := make([]int, len(t.list))
	sorted := make([]target, len(t.list))
	for to, signature := range slices.Sorted(maps.Keys(t.index)) {
		from := t.index[signature]
		moved[from], sorted[to] = to, t.list[from]
	}
	t.list = sorted
	for _, list := range t.exact {
		for i := range list {
			list[i] = moved[list[i]]
		}
	}
	for i := range t.others {
		t.others[i] = moved[t.others[i]]
	}
	return moved
}

// runningAmong returns the set of targets that a running pod is among.
func (c *compiler) runningAmong(pod *corev1.Pod) []int32 {
	t := c.bonds.targets
	return t.sets[t.matched(namespaceOf(pod), c.bonds.labelsOf(pod))]
}

// setClass is the class of a mould's pods that are among a set of targets.
type setClass struct {
	among int
	class *podClass
}

func classAmong(classes []setClass, among int) *podClass {
	for i := range classes {
		if classes[i].among == among {
			return classes[i].class
		}
	}
	return nil
}
