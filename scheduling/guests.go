package scheduling

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// guestBook tells which running pods some tie is about. It is read several times for a
// plan, and most of it stays as it is from one plan to the next.
type guestBook struct {
	targets *targets // of those who read it last
	key     string   // of what they are; "" where that does not tell
	hosts   []*host
	guests  [][]guest // by host
	booked  []int     // hosts with guests
}

// guest is a running pod with the targets that it is among, at least one.
type guest struct {
	pod   *corev1.Pod
	among []int32
}

// guests returns the book of those who run, looking at hosts only that have changed.
func (c *compiler) guests() *guestBook {
	old, targets := c.memory.guests, c.bonds.targets
	if old != nil && old.targets == targets {
		return old
	}
	book := &guestBook{targets: targets, hosts: c.cluster.hosts}
	if c.bonds.workloads == nil { // else what a pod is among hangs on more than its labels
		book.key = targets.key()
	}
	others := old != nil && (old.key == "" || old.key != book.key)
	switch {
	case others && book.key != "":
		book.gather(c)
	case others || old == nil:
		book.read(c, nil)
	case slices.Equal(old.hosts, book.hosts):
		book.guests, book.booked = old.guests, old.booked
	default:
		book.read(c, old)
	}
	c.memory.guests = book
	return book
}

// read asks all pods whom they are among, but for those on hosts of an older book.
func (g *guestBook) read(c *compiler, old *guestBook) {
	g.guests = make([][]guest, len(g.hosts))
	before := 0
	for i, h := range g.hosts {
		for old != nil && before < len(old.hosts) && old.hosts[before].name < h.name {
			before++
		}
		if old != nil && before < len(old.hosts) && old.hosts[before] == h {
			g.guests[i] = old.guests[before]
		} else {
			for _, pod := range h.pods {
				if among := c.runningAmong(pod); len(among) > 0 {
					g.guests[i] = append(g.guests[i], guest{pod, among})
				}
			}
		}
		if len(g.guests[i]) > 0 {
			g.booked = append(g.booked, i)
		}
	}
}

// key identifies targets: what they select, and in which namespaces. Those with the same
// key have the same numbers.
func (t *targets) key() string {
	var b []byte
	for n, signature := range slices.Sorted(maps.Keys(t.index)) {
		b = appendTargetKey(b, signature, &t.list[n])
	}
	return string(b)
}

// appendTargetKey appends what identifies a target.
func appendTargetKey(b []byte, signature string, t *target) []byte {
	b = appendText(append(b, 't'), signature)
	for i := range t.selectors {
		s := &t.selectors[i]
		if s.every {
			b = append(b, '*')
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(s.namespaces)) {
			b = appendText(append(b, 'n'), name)
		}
	}
	return b
}
