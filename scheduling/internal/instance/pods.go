package instance

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/hosts"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// ExistingAntiAffinity is a required anti-affinity term of a running pod: pods that its Term selects must not be on nodes
// that have the same value of the topology key as Node. Pod is its namespace/name.
type ExistingAntiAffinity struct {
	Term podspec.TopologyTerm
	Node string
	Pod  string
}

// readPods groups the pending pods into classes. All topology terms must be read first, because a label of a pod matters
// only if a term selects by it.
func readPods(c *Instance) {
	r := c.Facts.Readings
	numbers := make([]int, len(r.PodSpecKeys))
	singles := map[*corev1.Pod]int{}
	for i, m := range r.PodSpecKeys {
		if m != nil && !m.Single {
			numbers[i] = c.TopologyTerms.Read(m.Pod)
		}
	}
	for i, n := range r.Of {
		if n >= 0 && r.PodSpecKeys[n].Single {
			singles[c.Facts.Problem.Pods[i]] = c.TopologyTerms.Read(c.Facts.Problem.Pods[i])
		}
	}
	readGuards(c)
	moved, renamed := c.TopologyTerms.Sort()
	for i := range c.ExistingAntiAffinity {
		c.ExistingAntiAffinity[i].Term.Target = renamed[c.ExistingAntiAffinity[i].Term.Target]
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
		pod, m := c.Facts.Problem.Pods[i], r.PodSpecKeys[n]
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
				class.Pods = make([]*corev1.Pod, 0, counts[n]) // because all pods of a spec are usually one class
			}
		}
		class.Pods = append(class.Pods, pod)
	}
}

// runningAmong is the set of targets that select a running pod.
func runningAmong(c *Instance, pod *corev1.Pod) []int32 {
	t := c.TopologyTerms.Targets
	return t.Sets[t.Matched(podspec.NamespaceOf(pod), c.TopologyTerms.LabelsOf(pod))]
}

// setClass is the class of the pods of one spec that are selected by one set of targets.
type setClass struct {
	among int
	class *podspec.PodClass
}

// classAmong is the class with a set of targets; nil if there is none yet.
func classAmong(classes []setClass, among int) *podspec.PodClass {
	for i := range classes {
		if classes[i].among == among {
			return classes[i].class
		}
	}
	return nil
}

// readGuards fills ExistingAntiAffinity, in the order of topology key, target, node and pod, and adds its targets to
// those of pending pods.
func readGuards(c *Instance) {
	c.ExistingAntiAffinity = make([]ExistingAntiAffinity, len(c.Facts.Cluster.Guards))
	for i := range c.Facts.Cluster.Guards {
		g := &c.Facts.Cluster.Guards[i]
		var term podspec.TopologyTerm
		if i > 0 && g.Target == c.Facts.Cluster.Guards[i-1].Target && g.Key == c.Facts.Cluster.Guards[i-1].Key {
			term = c.ExistingAntiAffinity[i-1].Term
		} else {
			term = c.TopologyTerms.Anti(g.By, g.Term, 0)
		}
		c.ExistingAntiAffinity[i] = ExistingAntiAffinity{Term: term, Node: g.Node, Pod: g.Pod}
	}
}

// selectorIndex lists, by host, the running pods that a topology term selects. It is kept in memory, because it is read
// several times for a plan, and most hosts do not change between plans.
type selectorIndex struct {
	targets      *podspec.Targets // targets of the instance that used it last
	key          string           // key of the targets, see [keyTargets]; "" where selection does not depend on labels alone
	hosts        []*hosts.Host
	selectedPods [][]selectedPod // by host
}

// selectedPod is a running pod with the targets that select it, at least one.
type selectedPod struct {
	pod   *corev1.Pod
	among []int32
}

// selectorIndexOf returns the index for the instance's targets. Lists of hosts that have not changed are taken from
// memory if the targets are equal.
func selectorIndexOf(c *Instance) *selectorIndex {
	old, targets := c.Facts.Memory.selectorIndex, c.TopologyTerms.Targets
	if old != nil && old.targets == targets {
		return old
	}
	book := &selectorIndex{targets: targets, hosts: c.Facts.Cluster.Hosts, selectedPods: make([][]selectedPod, len(c.Facts.Cluster.Hosts))}
	if c.TopologyTerms.Workloads == nil { // because with workloads, selection depends on more than labels
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
			book.selectedPods[i] = old.selectedPods[before]
			continue
		}
		for _, pod := range h.Pods {
			if among := runningAmong(c, pod); len(among) > 0 {
				book.selectedPods[i] = append(book.selectedPods[i], selectedPod{pod, among})
			}
		}
	}
	c.Facts.Memory.selectorIndex = book
	return book
}

// keyTargets is a key for the selectors and namespaces of targets. Targets with equal keys have equal numbers.
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
