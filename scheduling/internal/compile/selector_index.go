package compile

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// selectorIndex tells which running pods some tie is about. It is read several times for a
// plan, and most of it stays as it is from one plan to the next.
type selectorIndex struct {
	targets *podspec.Targets // of those who read it last
	key     string           // of what they are; "" where that does not tell
	hosts   []*Host
	guests  [][]guest // by host
}

// guest is a running pod with the targets that it is among, at least one.
type guest struct {
	pod   *corev1.Pod
	among []int32
}

// selectorIndex returns the index of those who run. Of hosts that have not changed, what is known
// about the same targets is taken over.
func (c *Compiler) selectorIndex() *selectorIndex {
	old, targets := c.Memory.selectorIndex, c.TopologyTerms.Targets
	if old != nil && old.targets == targets {
		return old
	}
	book := &selectorIndex{targets: targets, hosts: c.Cluster.Hosts, guests: make([][]guest, len(c.Cluster.Hosts))}
	if c.TopologyTerms.workloads == nil { // else what a pod is among hangs on more than its labels
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
			if among := c.runningAmong(pod); len(among) > 0 {
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
