package instance

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingAntiAffinity is a running pod's required anti-affinity: it keeps its target away from
// nodes that share a label with its own.
type ExistingAntiAffinity struct {
	Tie  podspec.Tie
	Node string
	Pod  string
}

// readPods folds the pending pods into classes. What ties pods to each other has to
// be known of all of them before one can tell which of their labels matter.
func readPods(c *Instance) {
	r := c.Readings
	numbers := make([]int, len(r.PodSpecKeys))
	singles := map[*corev1.Pod]int{}
	for i, m := range r.PodSpecKeys {
		if m != nil && !m.Single {
			numbers[i] = c.TopologyTerms.Read(m.Pod)
		}
	}
	for i, n := range r.Of {
		if n >= 0 && r.PodSpecKeys[n].Single {
			singles[c.Problem.Pods[i]] = c.TopologyTerms.Read(c.Problem.Pods[i])
		}
	}
	readGuards(c)
	moved, renamed := c.TopologyTerms.Sort()
	for i := range c.ExistingAntiAffinity {
		c.ExistingAntiAffinity[i].Tie.Target = renamed[c.ExistingAntiAffinity[i].Tie.Target]
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
		among := c.TopologyTerms.Targets.Matched(podspec.NamespaceOf(pod), c.TopologyTerms.LabelsOf(pod))
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

// runningAmong returns the set of targets that a running pod is among.
func runningAmong(c *Instance, pod *corev1.Pod) []int32 {
	t := c.TopologyTerms.Targets
	return t.Sets[t.Matched(podspec.NamespaceOf(pod), c.TopologyTerms.LabelsOf(pod))]
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

// readGuards adds the targets of what running pods keep away. Once targets are numbered in the
// order of their names, that is in the order of [ExistingAntiAffinity]'s label, target, node and pod.
func readGuards(c *Instance) {
	c.ExistingAntiAffinity = make([]ExistingAntiAffinity, len(c.Cluster.Guards))
	for i := range c.Cluster.Guards {
		g := &c.Cluster.Guards[i]
		var tie podspec.Tie
		if i > 0 && g.Target == c.Cluster.Guards[i-1].Target && g.Key == c.Cluster.Guards[i-1].Key {
			tie = c.ExistingAntiAffinity[i-1].Tie
		} else {
			tie = c.TopologyTerms.Anti(g.By, g.Term, 0)
		}
		c.ExistingAntiAffinity[i] = ExistingAntiAffinity{Tie: tie, Node: g.Node, Pod: g.Pod}
	}
}

// selectorIndex tells which running pods some tie is about. It is read several times for a
// plan, and most of it stays as it is from one plan to the next.
type selectorIndex struct {
	targets *podspec.Targets // of those who read it last
	key     string           // of what they are; "" where that does not tell
	hosts   []*hosts.Host
	guests  [][]guest // by host
}

// guest is a running pod with the targets that it is among, at least one.
type guest struct {
	pod   *corev1.Pod
	among []int32
}

// selectorIndexOf returns the index of those who run. Of hosts that have not changed, what is known
// about the same targets is taken over.
func selectorIndexOf(c *Instance) *selectorIndex {
	old, targets := c.Memory.selectorIndex, c.TopologyTerms.Targets
	if old != nil && old.targets == targets {
		return old
	}
	book := &selectorIndex{targets: targets, hosts: c.Cluster.Hosts, guests: make([][]guest, len(c.Cluster.Hosts))}
	if c.TopologyTerms.Workloads == nil { // else what a pod is among hangs on more than its labels
		book.key = keyTargets(targets)
	}
	if old == nil || old.key == "" || old.key != book.key {
		old = &selectorIndex{}
	}
	before := 0
	for i, h := range book.hosts {
		for before < len(old.hosts) && old.hosts[before].Name < h.Name {
			before++
		}
		if before < len(old.hosts) && old.hosts[before] == h {
			book.guests[i] = old.guests[before]
			continue
		}
		for _, pod := range h.Pods {
			if among := runningAmong(c, pod); len(among) > 0 {
				book.guests[i] = append(book.guests[i], guest{pod, among})
			}
		}
	}
	c.Memory.selectorIndex = book
	return book
}

// keyTargets identifies targets: what they select, and in which namespaces. Those with the same
// key have the same numbers.
func keyTargets(t *podspec.Targets) string {
	var b []byte
	for n, signature := range slices.Sorted(maps.Keys(t.Index)) {
		b = podspec.AppendText(append(b, 't'), signature)
		for i := range t.List[n].Selectors {
			s := &t.List[n].Selectors[i]
			if s.Every {
				b = append(b, '*')
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(s.Namespaces)) {
				b = podspec.AppendText(append(b, 'n'), name)
			}
		}
	}
	return string(b)
}
