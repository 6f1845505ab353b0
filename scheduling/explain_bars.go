package scheduling

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

type barKind uint8

// What keeps a pod away from a place that has room for it.
const (
	noBar      barKind = iota
	lacksKey           // the node has no value of the label
	tooMany            // the spread would be too uneven
	nobody             // no pod that it has to be with is anywhere
	elsewhere          // pods that it has to be with are in other domains
	alone              // a new machine has no pod on it that it has to be with
	inCompany          // a pod that it must not be with is there
	turnedAway         // a pod is there that must not be with it
)

// bar is a tie that keeps a pod away from a place.
type bar struct {
	kind barKind
	tie  tie
	rule int   // -1 where the domains are single nodes
	at   int32 // domain; for single nodes -1
}

// shun is an anti-affinity of others that the pods of a class are subject to.
type shun struct {
	tie  tie
	rule int
}

// ties reports whether a class that was left out is tied to others.
func (t *tied) ties(id int) bool { return t != nil && t.left[id] }

// offerBars lists what keeps a class from a machine that could be bought.
func (e *explainer) offerBars(id, ti, o int) []bar {
	if !e.tied.ties(id) {
		return nil
	}
	if spot := e.tied.land.spot(ti, o); spot >= 0 {
		return e.tied.barsAt(id, spot)
	}
	// Nothing that waits may use the offer as things are, so it is no spot.
	return e.tied.bars(id, func(rule int) int32 { return e.tied.labelled(rule, ti, o) }, -1)
}

// siteBars remembers what keeps a class from the sites that its rules tell apart.
type siteBars struct {
	id    int
	part  *partition
	known []bool
	bars  [][]bar
}

// barsAt lists what keeps a class from new machines at a spot.
func (t *tied) barsAt(id, spot int) []bar {
	m := &t.memo
	if m.part == nil || m.id != id {
		var axes []int
		for _, d := range t.holds[id] {
			if d.rule >= 0 {
				axes = append(axes, t.rules[d.rule].axis)
			}
		}
		for _, s := range t.shuns(id) {
			if s.rule >= 0 {
				axes = append(axes, t.rules[s.rule].axis)
			}
		}
		part := t.land.partition(axes)
		*m = siteBars{id: id, part: part, known: make([]bool, part.sites), bars: make([][]bar, part.sites)}
	}
	site := m.part.at[spot]
	if !m.known[site] {
		m.known[site], m.bars[site] = true, t.bars(id, t.at(spot), -1)
	}
	return m.bars[site]
}

// newDomain stands for a value of a label that no spot has.
const newDomain int32 = -2

// at tells the domains of a spot, by rule.
func (t *tied) at(spot int) func(rule int) int32 {
	return func(rule int) int32 { return t.land.axes[t.rules[rule].axis].at[spot] }
}

// labelled is the domain of a machine bought at an offer.
func (t *tied) labelled(rule, ti, o int) int32 {
	value, ok := t.scene.labelOf(ti, o, requirements.NormalizeKey(t.rules[rule].key))
	if !ok {
		return -1
	}
	if at, found := slices.BinarySearch(t.land.axes[t.rules[rule].axis].values, value); found {
		return int32(at)
	}
	return newDomain
}

// nodeBars lists what keeps a class from a node.
func (t *tied) nodeBars(id, bin int) []bar {
	if !t.ties(id) {
		return nil
	}
	node := t.nodeOf[bin]
	return t.bars(id, t.at(t.land.onSale+node), node)
}

// bars lists what keeps one more pod of a class from a place of which the domains are
// known; node is -1 for a new machine.
func (t *tied) bars(id int, at func(rule int) int32, node int) []bar {
	var out []bar
	among := t.scene.planned[id].among
	first := t.first(id)
	for _, b := range t.holds[id] {
		own := t.land.bonds.targets.has(among, b.target)
		var kind barKind
		domain := int32(-1)
		if b.rule < 0 {
			kind = t.hostBar(b, node, own, first)
		} else {
			domain = at(b.rule)
			kind = t.bar(b, domain, own, first)
		}
		if kind != noBar {
			out = append(out, bar{kind: kind, tie: b.tie, rule: b.rule, at: domain})
		}
	}
	for _, s := range t.shuns(id) {
		if s.rule >= 0 {
			if d := at(s.rule); d >= 0 && t.rules[s.rule].domains[d].Holders > 0 && !barred(out, s.rule) {
				out = append(out, bar{kind: turnedAway, tie: s.tie, rule: s.rule, at: d})
			}
		} else if node >= 0 && t.hosts[s.tie.target].keepers[node] {
			out = append(out, bar{kind: turnedAway, tie: s.tie, rule: -1, at: -1})
		}
	}
	return out
}

// barred reports whether a rule is among those that keep a pod away.
func barred(bars []bar, rule int) bool {
	return slices.ContainsFunc(bars, func(b bar) bool { return b.rule == rule })
}

// first reports whether a pod of a class may go anywhere because there is nobody yet
// that its affinity is about, itself included.
func (t *tied) first(id int) bool {
	for _, b := range t.holds[id] {
		if b.kind != affinityTie {
			continue
		}
		if t.somewhere(b) || !t.land.bonds.targets.has(t.scene.planned[id].among, b.target) {
			return false
		}
	}
	return true
}

// somewhere reports whether any pod is there that a constraint is about.
func (t *tied) somewhere(b duty) bool {
	if b.rule >= 0 {
		return t.rules[b.rule].total > 0
	}
	return t.hosts[b.target].named > 0
}

// bar judges one constraint in a domain.
func (t *tied) bar(b duty, at int32, own, first bool) barKind {
	r := &t.rules[b.rule]
	switch b.kind {
	case spreadTie:
		if at == -1 {
			return lacksKey
		}
		if at >= 0 && t.over(b, at, own) > 0 {
			return tooMany
		}
	case affinityTie:
		switch {
		case at == -1:
			return lacksKey
		case first || at >= 0 && r.domains[at].Count > 0:
		case r.total == 0:
			return nobody
		default:
			return elsewhere
		}
	case antiTie:
		if at >= 0 && r.domains[at].Count > 0 {
			return inCompany
		}
	}
	return noBar
}

// over is by how much one more pod in a domain would exceed the skew of a spread.
func (t *tied) over(b duty, at int32, own bool) int64 {
	d := &t.rules[b.rule].domains[at]
	least := int64(0) // a machine in a new domain makes that the emptiest
	if d.Eligible {
		least = t.minimum(b.rule).count
	}
	n := d.Count - least
	if own {
		n++
	}
	return n - b.maxSkew
}

// hostBar judges a constraint whose domains are single nodes. A plan keeps spreads per
// node to the skew itself, since new nodes are empty.
func (t *tied) hostBar(b duty, node int, own, first bool) barKind {
	c := t.hosts[b.target]
	if node < 0 {
		switch {
		case b.kind != affinityTie || first:
			return noBar
		case c.named == 0:
			return nobody
		default:
			return alone
		}
	}
	_, named := t.land.places[node].labels[corev1.LabelHostname]
	there := c.nodes[node]
	switch b.kind {
	case spreadTie:
		if own {
			there++
		}
		if !named && !b.share {
			return lacksKey
		}
		if there > b.maxSkew {
			return tooMany
		}
	case affinityTie:
		switch {
		case !named:
			return lacksKey
		case first || there > 0:
		case c.named == 0:
			return nobody
		default:
			return elsewhere
		}
	case antiTie:
		if named && there > 0 {
			return inCompany
		}
	}
	return noBar
}

// shuns lists the anti-affinity of others that is about the pods of a class.
func (t *tied) shuns(id int) []shun {
	if s, ok := t.seen[id]; ok {
		return s
	}
	out := []shun{}
	for _, target := range t.land.bonds.targets.sets[t.scene.planned[id].among] {
		for _, r := range t.byTarget[int(target)] {
			if x := &t.rules[r]; x.kind == antiTie {
				out = append(out, shun{tie: x.tie, rule: r})
			}
		}
		if t.hosts[int(target)] != nil {
			out = append(out, shun{tie: tie{kind: antiTie, key: corev1.LabelHostname, target: int(target)}, rule: -1})
		}
	}
	t.seen[id] = out
	return out
}
