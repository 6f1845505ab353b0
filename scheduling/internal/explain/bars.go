package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

type barKind uint8

// The reasons why topology terms keep a pod off a place that has room for it.
const (
	NoBar          barKind = iota
	lacksKey               // the node has no value of the label
	tooMany                // the spread would be too uneven
	nobody                 // no pod that it has to be with is anywhere
	elsewhere              // pods that it has to be with are in other domains
	alone                  // a new machine has no pod on it that it has to be with
	conflictsThere         // a pod that it must not be with is there
	turnedAway             // a pod is there that must not be with it
)

// Bar is a tie that keeps a pod away from a place.
type Bar struct {
	Kind barKind
	Tie  podspec.Tie
	rule int   // -1 where the domains are single nodes
	at   int32 // domain; for single nodes -1
}

// foreignAntiAffinity is an anti-affinity of others that the pods of a class are subject to.
type foreignAntiAffinity struct {
	tie  podspec.Tie
	rule int
}

// ties reports whether a class that was left out is tied to others.
func (t *tied) ties(id int) bool { return t != nil && t.left[id] }

// offerBars lists the topology terms that keep a class off a machine that could be launched.
func (e *Explainer) offerBars(id, ti, o int) []Bar {
	if !e.Tied.ties(id) {
		return nil
	}
	if spot := e.Tied.book.Locations.Spot(ti, o); spot >= 0 {
		return e.Tied.barsAt(id, spot)
	}
	// Nothing that waits may use the offer as things are, so it is no spot.
	return e.Tied.bars(id, func(rule int) int32 { return e.Tied.labelled(rule, ti, o) }, -1)
}

// siteBars caches the bars of a class by site: all places with the same domains of its terms share them.
type siteBars struct {
	id    int
	part  *instance.Partition
	known []bool
	bars  [][]Bar
}

// barsAt lists the topology terms that keep a class off new machines at a location.
func (t *tied) barsAt(id, spot int) []Bar {
	m := &t.memo
	if m.part == nil || m.id != id {
		var axes []int
		for _, d := range t.holds[id] {
			if d.rule >= 0 {
				axes = append(axes, t.book.Rules[d.rule].Axis)
			}
		}
		for _, s := range t.foreignAntiAffinityOf(id) {
			if s.rule >= 0 {
				axes = append(axes, t.book.Rules[s.rule].Axis)
			}
		}
		part := t.book.Locations.Partition(axes)
		*m = siteBars{id: id, part: part, known: make([]bool, part.Sites), bars: make([][]Bar, part.Sites)}
	}
	site := m.part.At[spot]
	if !m.known[site] {
		m.known[site], m.bars[site] = true, t.bars(id, t.at(spot), -1)
	}
	return m.bars[site]
}

// newDomain stands for a value of a label that no spot has.
const newDomain int32 = -2

// at tells the domains of a spot, by rule.
func (t *tied) at(spot int) func(rule int) int32 {
	return func(rule int) int32 { return t.book.Locations.Axes[t.book.Rules[rule].Axis].At[spot] }
}

// labelled is the domain of a machine bought at an offer.
func (t *tied) labelled(rule, ti, o int) int32 {
	value, ok := t.in.Offers.LabelOf(t.in.Templates[ti], o, requirements.NormalizeKey(t.book.Rules[rule].Tie.Key))
	if !ok {
		return -1
	}
	if at, found := slices.BinarySearch(t.book.Locations.Axes[t.book.Rules[rule].Axis].Values, value); found {
		return int32(at)
	}
	return newDomain
}

// NodeBars lists the topology terms that keep a class off a node.
func (t *tied) NodeBars(id, bin int) []Bar {
	if !t.ties(id) {
		return nil
	}
	node := t.nodeOf[bin]
	return t.bars(id, t.at(t.book.Locations.OnSale+node), node)
}

// bars lists the topology terms that keep one more pod of a class off a place, given by its domains. The node is -1 for a
// new machine.
func (t *tied) bars(id int, at func(rule int) int32, node int) []Bar {
	var out []Bar
	among := t.in.Planned[id].Among
	first := t.first(id)
	for _, b := range t.holds[id] {
		own := t.book.Locations.In.TopologyTerms.Targets.Has(among, b.tie.Target)
		var kind barKind
		domain := int32(-1)
		if b.rule < 0 {
			kind = t.hostBar(b, node, own, first)
		} else {
			domain = at(b.rule)
			kind = t.bar(b, domain, own, first)
		}
		if kind != NoBar {
			out = append(out, Bar{Kind: kind, Tie: b.tie, rule: b.rule, at: domain})
		}
	}
	for _, s := range t.foreignAntiAffinityOf(id) {
		if s.rule >= 0 {
			if d := at(s.rule); d >= 0 && t.book.Rules[s.rule].Domains[d].Holders > 0 && !barsRule(out, s.rule) {
				out = append(out, Bar{Kind: turnedAway, Tie: s.tie, rule: s.rule, at: d})
			}
		} else if node >= 0 && t.hosts[s.tie.Target].existingAntiAffinity[node] {
			out = append(out, Bar{Kind: turnedAway, Tie: s.tie, rule: -1, at: -1})
		}
	}
	return out
}

// barsRule reports whether a rule is among those that keep a pod away.
func barsRule(bars []Bar, rule int) bool {
	return slices.ContainsFunc(bars, func(b Bar) bool { return b.rule == rule })
}

// first reports whether a pod of a class may go anywhere because there is nobody yet
// that its affinity is about, itself included.
func (t *tied) first(id int) bool {
	for _, b := range t.holds[id] {
		if b.tie.Kind != podspec.AffinityTie {
			continue
		}
		if t.somewhere(b) || !t.book.Locations.In.TopologyTerms.Targets.Has(t.in.Planned[id].Among, b.tie.Target) {
			return false
		}
	}
	return true
}

// somewhere reports whether any pod is there that a constraint is about.
func (t *tied) somewhere(b duty) bool {
	if b.rule >= 0 {
		return t.book.Rules[b.rule].Total > 0
	}
	return t.hosts[b.tie.Target].named > 0
}

// Bar judges one constraint in a domain.
func (t *tied) bar(b duty, at int32, own, first bool) barKind {
	r := &t.book.Rules[b.rule]
	switch b.tie.Kind {
	case podspec.SpreadTie:
		if at == -1 {
			return lacksKey
		}
		if at >= 0 && t.over(b, at, own) > 0 {
			return tooMany
		}
	case podspec.AffinityTie:
		switch {
		case at == -1:
			return lacksKey
		case first || at >= 0 && r.Domains[at].Count > 0:
		case r.Total == 0:
			return nobody
		default:
			return elsewhere
		}
	case podspec.AntiTie:
		if at >= 0 && r.Domains[at].Count > 0 {
			return conflictsThere
		}
	}
	return NoBar
}

// over is by how much one more pod in a domain would exceed the skew of a spread.
func (t *tied) over(b duty, at int32, own bool) int64 {
	d := &t.book.Rules[b.rule].Domains[at]
	least := int64(0) // a machine in a new domain makes that the emptiest
	if d.Eligible {
		least = t.minimum(b.rule).count
	}
	n := d.Count - least
	if own {
		n++
	}
	return n - b.tie.MaxSkew
}

// hostBar judges a constraint whose domains are single nodes. A plan keeps spreads per
// node to the skew itself, since new nodes are empty.
func (t *tied) hostBar(b duty, node int, own, first bool) barKind {
	c := t.hosts[b.tie.Target]
	if node < 0 {
		switch {
		case b.tie.Kind != podspec.AffinityTie || first:
			return NoBar
		case c.named == 0:
			return nobody
		default:
			return alone
		}
	}
	named := node >= len(t.book.Locations.Places) // a machine of the plan will have a host name
	if !named {
		_, named = t.book.Locations.Places[node].Labels[corev1.LabelHostname]
	}
	there := c.nodes[node]
	switch b.tie.Kind {
	case podspec.SpreadTie:
		if own {
			there++
		}
		if !named && !b.tie.Share {
			return lacksKey
		}
		if there > b.tie.MaxSkew {
			return tooMany
		}
	case podspec.AffinityTie:
		switch {
		case !named:
			return lacksKey
		case first || there > 0:
		case c.named == 0:
			return nobody
		default:
			return elsewhere
		}
	case podspec.AntiTie:
		if named && there > 0 {
			return conflictsThere
		}
	}
	return NoBar
}

// foreignAntiAffinityOf lists the anti-affinity of others that is about the pods of a class.
func (t *tied) foreignAntiAffinityOf(id int) []foreignAntiAffinity {
	if s, ok := t.seen[id]; ok {
		return s
	}
	out := []foreignAntiAffinity{}
	for _, target := range t.book.Locations.In.TopologyTerms.Targets.Sets[t.in.Planned[id].Among] {
		for _, r := range t.book.ByTarget[int(target)] {
			if x := &t.book.Rules[r]; x.Tie.Kind == podspec.AntiTie {
				out = append(out, foreignAntiAffinity{tie: x.Tie, rule: r})
			}
		}
		if t.hosts[int(target)] != nil {
			out = append(out, foreignAntiAffinity{tie: podspec.Tie{Kind: podspec.AntiTie, Key: corev1.LabelHostname, Target: int(target)}, rule: -1})
		}
	}
	t.seen[id] = out
	return out
}
