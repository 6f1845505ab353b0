package steps

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
)

// waveCheck judges the waves in which the pods of a step leave their nodes.
type waveCheck struct {
	cluster *clusterState
	report  *rule.Report
	going   []*clusterNode
	moves   []move
	// left is as in stepCheck.
	left map[string][]*binding.Group
}

// waves checks for a step of several waves that the pods of each wave can bind while the pods of later waves are still on
// their old nodes.
func (c *waveCheck) waves() {
	waves, last := make(map[int][]move), 0
	for _, m := range c.moves {
		waves[m.Wave] = append(waves[m.Wave], m)
		last = max(last, m.Wave)
	}
	if last < 2 || !c.cluster.anyTerms {
		return
	}
	order := slices.Sorted(maps.Keys(waves))
	ends := make(map[string]int) // the wave in which the last pod leaves, by node
	for _, wave := range order {
		for _, m := range waves[wave] {
			ends[m.From] = wave
		}
	}
	c.restore(ends)
	var undo []func() // functions that take the pods off their new nodes again
	for _, wave := range order {
		for _, m := range waves[wave] {
			c.cluster.topology.Add(m.was, c.cluster.topology.Named[m.From], -1)
		}
		for _, s := range c.going {
			if end, ok := ends[s.node.Name]; ok && end == wave {
				c.removeDrained(s)
			}
		}
		if wave > 0 {
			c.wave(wave, waves[wave])
		}
		for _, m := range waves[wave] {
			h := c.cluster.topology.Named[m.To]
			c.cluster.topology.Add(m.will, h, 1)
			undo = append(undo, func() { c.cluster.topology.Add(m.will, h, -1) })
		}
	}
	for _, takeOff := range undo {
		takeOff()
	}
}

// restore puts drained nodes and their pods back, as they are when the step begins. Drained nodes receive no pods. ends are
// the drained nodes that pods are evicted from.
func (c *waveCheck) restore(ends map[string]int) {
	for _, s := range c.going {
		if _, ok := ends[s.node.Name]; !ok {
			continue
		}
		n := *s.node
		n.Taints = append(slices.Clone(n.Taints), corev1.Taint{Key: scheduling.DisruptedTaint, Effect: corev1.TaintEffectNoSchedule})
		c.cluster.topology.AddNode(&n)
		for _, k := range c.left[s.node.Name] {
			c.cluster.topology.Add(k, c.cluster.topology.Named[s.node.Name], 1)
		}
	}
	for _, m := range c.moves {
		c.cluster.topology.Add(m.was, c.cluster.topology.Named[m.From], 1)
	}
}

// removeDrained removes a drained node, with the pods that go with it.
func (c *waveCheck) removeDrained(s *clusterNode) {
	h := c.cluster.topology.Named[s.node.Name]
	for _, k := range c.left[s.node.Name] {
		c.cluster.topology.Add(k, h, -1)
	}
	c.cluster.topology.RemoveNode(h)
}

// wave checks that the pods of one wave can bind.
func (c *waveCheck) wave(number int, moves []move) {
	var booked []binding.Pending
	for _, m := range moves {
		if h := c.cluster.topology.Named[m.To]; h != nil {
			booked = append(booked, binding.Pending{Pod: m.successor, Node: h})
		}
	}
	slices.SortFunc(booked, binding.ByBindingOrder)
	for _, u := range c.cluster.bindAll(booked, nil) {
		c.report.Add(rule.Wave, "pod/"+u.Pod.Name, "cannot be scheduled to %s in wave %d: %s", u.Node.Object, number, strings.TrimSpace(u.By.String()))
	}
}
