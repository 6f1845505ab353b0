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
	targets       *podspec.Targets // of those who read it last
	key           string           // of what they are; "" where that does not tell
	hosts         []*Host
	selectorIndex [][]guest // by host
	booked        []int     // hosts with guests
}

// guest is a running pod with the targets that it is among, at least one.
type guest struct {
	pod   *corev1.Pod
	among []int32
}

// selectorIndex returns the index of those who run, looking at hosts only that have changed.
func (c *Compiler) selectorIndex() *selectorIndex {
	old, targets := c.Memory.selectorIndex, c.TopologyTerms.Targets
	if old != nil && old.targets == targets {
		return old
	}
	book := &selectorIndex{targets: targets, hosts: c.Cluster.Hosts}
	if c.TopologyTerms.workloads == nil { // else what a pod is among hangs on more than its labels
		book.key = keyTargets(targets)
	}
	if old != nil && (old.key == "" || old.key != book.key) {
		old = nil
	}
	book.read(c, old)
	c.Memory.selectorIndex = book
	return book
}

// read asks all pods whom they are among, but for those on hosts of an older book.
func (g *selectorIndex) read(c *Compiler, old *selectorIndex) {
	g.selectorIndex = make([][]guest, len(g.hosts))
	before := 0
	for i, h := range g.hosts {
		for old != nil && before < len(old.hosts) && old.hosts[before].Name < h.Name {
			before++
		}
		if old != nil && before < len(old.hosts) && old.hosts[before] == h {
			g.selectorIndex[i] = old.selectorIndex[before]
		} else {
			for _, pod := range h.Pods {
				if among := c.runningAmong(pod); len(among) > 0 {
					g.selectorIndex[i] = append(g.selectorIndex[i], guest{pod, among})
				}
			}
		}
		if len(g.selectorIndex[i]) > 0 {
			g.booked = append(g.booked, i)
		}
	}
}

// keyTargets identifies targets: what they select, and in which namespaces. Those with the same
// key have the same numbers.
func keyTargets(t *podspec.Targets) string {
	var b []byte
	for n, signature := range slices.Sorted(maps.Keys(t.Index)) {
		b = appendTargetKey(b, signature, &t.List[n])
	}
	return string(b)
}

// appendTargetKey appends what identifies a target.
func appendTargetKey(b []byte, signature string, t *podspec.Target) []byte {
	b = podspec.AppendText(append(b, 't'), signature)
	for i := range t.Selectors {
		s := &t.Selectors[i]
		if s.Every {
			b = append(b, '*')
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.Namespaces)) {
			b = podspec.AppendText(append(b, 'n'), name)
		}
	}
	return b
}
