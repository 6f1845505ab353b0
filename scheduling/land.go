package scheduling

import (
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// land is everywhere a pod could be, as a list of spots: every offer of every
// template, then every node.
type land struct {
	*compiler
	country *country
	places  []landNode
	nodeAt  map[string]int
	first   []int   // by template, its first spot
	onSale  int     // spots that are offers
	binOf   []int32 // by place, in the engine's list; -1 for none
	placeOf []int32 // by bin
	atlas   *atlas
	axes    []*axis
	axisOf  map[string]int
	ledger  *ledger
	polled  *census // nil until asked
	// targetNames are what targets are, whatever their numbers; filled with polled.
	targetNames []string
	buffer      []byte // for names
	// openRow and waryRow are for whoever needs rows of bins for a while.
	openRow, waryRow model.Bits
	roomy            *nearest       // what rooms nodes have; nil until asked
	reaches          map[string]int // numbers of sets of bins, see reach
	nearest          nearBook       // of parts that no crowd concerns
	// lodgings are by what there is of parts that some bin takes.
	lodgings map[string]*lodging
	// sorted are the strata while there are so many axes; nil until asked.
	sorted   *strata
	sortedBy int
}

// axis is one thing in which spots differ: the value of a label, whether a spread
// looks at them, whether a wish is granted there. -1 is no value.
type axis struct {
	id     int     // in the atlas
	at     []int32 // by spot
	values []string
	flat   bool // the same everywhere
}

// land is everywhere a pod could be.
func (c *compiler) land() *land {
	if c.ground == nil {
		c.ground = newLand(c)
	}
	return c.ground
}

func newLand(c *compiler) *land {
	k := c.country()
	l := &land{compiler: c, country: k, places: k.places, nodeAt: k.at, axisOf: map[string]int{}, nearest: nearBook{}, reaches: map[string]int{}, lodgings: map[string]*lodging{}, ledger: newLedger(c)}
	for ti := range c.offered {
		l.first = append(l.first, l.onSale)
		l.onSale += len(c.offered[ti].list)
	}
	l.settle()
	l.atlas = l.openAtlas()
	return l
}

// roomBook is what is known of the rooms that nodes have.
func (l *land) roomBook() *nearest {
	if l.roomy == nil {
		if l.roomy = l.nearestNodes(); l.roomy == nil {
			l.roomy = newNearest(l.compiler)
		}
	}
	return l.roomy
}

// reach numbers a set of bins, from 1.
func (l *land) reach(bins model.Bits) int {
	l.buffer = bins.Append(l.buffer[:0])
	n, known := l.reaches[string(l.buffer)]
	if !known {
		n = len(l.reaches) + 1
		l.reaches[string(l.buffer)] = n
	}
	return n
}

// spots is the number of spots.
func (l *land) spots() int { return l.onSale + len(l.places) }

// onOffer reports whether limits and reservations allow an offer of a template at all.
func (l *land) onOffer(template, offer int) bool {
	return l.ledger.affords(purchase{template: template, offer: offer})
}

// choiceAt tells at which sites of a kin a template has the choice that its pool's
// minValues ask for; nil where they ask for none.
func (l *land) choiceAt(k *kin, ti int) []bool {
	if len(floorKeys(l.templates[ti].set)) == 0 {
		return nil
	}
	rows := make([]model.Bits, k.part.sites)
	for i, o := range l.offered[ti].list {
		if !k.admits(l.columns.rows[o.column]) {
			continue
		}
		site := k.part.at[l.first[ti]+i]
		if rows[site] == nil {
			rows[site] = model.NewBits(len(l.offers.offers))
		}
		rows[site].Set(o.offer)
	}
	out := make([]bool, len(rows))
	for site, row := range rows {
		out[site] = l.choiceIn(l.templates[ti], row)
	}
	return out
}

// choiceAmong reports whether any offers of a template will do, and leave the choice that
// its pool's minValues ask for.
func (l *land) choiceAmong(ti int, do func(i int, o templateOffer) bool) bool {
	v := l.templates[ti]
	var row model.Bits
	if len(floorKeys(v.set)) > 0 {
		row = model.NewBits(len(l.offers.offers))
	}
	for i, o := range l.offered[ti].list {
		if !do(i, o) {
			continue
		}
		if row == nil {
			return true
		}
		row.Set(o.offer)
	}
	return row.Any() && l.choiceIn(v, row)
}

// keyAxis is the axis of a label.
func (l *land) keyAxis(key string) int {
	return l.axis("k"+key, func() axis { return l.drawKey(key) })
}

func (l *land) drawKey(key string) axis {
	known := requirements.NormalizeKey(key)
	onSale, places := l.offers.column(known), l.country.column(key)
	fallbacks, has := make([]string, len(l.templates)), make([]bool, len(l.templates))
	used := make([]bool, len(onSale.values))
	values := slices.Clone(places.values)
	for ti, v := range l.templates {
		if fallbacks[ti], has[ti] = v.labels[known]; !has[ti] {
			fallbacks[ti], has[ti] = ready()[known]
		}
		bare := false
		for _, o := range l.offered[ti].list {
			if n := onSale.numbers[o.offer]; n >= 0 {
				used[n] = true
			} else {
				bare = true
			}
		}
		if bare && has[ti] {
			values = append(values, fallbacks[ti])
		}
	}
	for n, ok := range used {
		if ok {
			values = append(values, onSale.values[n])
		}
	}
	a := axis{at: make([]int32, l.spots()), values: compacted(values)}
	number := func(value string) int32 {
		n, _ := slices.BinarySearch(a.values, value)
		return int32(n)
	}
	numbers := make([]int32, len(onSale.values))
	for n, ok := range used {
		if ok {
			numbers[n] = number(onSale.values[n])
		}
	}
	for ti := range l.templates {
		bare := int32(-1)
		if has[ti] {
			bare = number(fallbacks[ti])
		}
		for i, o := range l.offered[ti].list {
			if n := onSale.numbers[o.offer]; n >= 0 {
				a.at[l.first[ti]+i] = numbers[n]
			} else {
				a.at[l.first[ti]+i] = bare
			}
		}
	}
	numbers = make([]int32, len(places.values))
	for n, value := range places.values {
		numbers[n] = number(value)
	}
	for i, n := range places.numbers {
		if n >= 0 {
			n = numbers[n]
		}
		a.at[l.onSale+i] = n
	}
	return a
}

// presenceAxis says where there is a label, whatever its value.
func (l *land) presenceAxis(key string) int {
	of := l.axes[l.keyAxis(key)]
	return l.axis("p"+key, func() axis {
		a := axis{at: make([]int32, l.spots()), values: []string{"*"}}
		for spot, v := range of.at {
			a.at[spot] = min(v, 0)
		}
		return a
	})
}

func compacted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// axis is the number of the axis of a name.
func (l *land) axis(name string, draw func() axis) int {
	if n, ok := l.axisOf[name]; ok {
		return n
	}
	a := l.atlas.axis(name, draw)
	n := slices.Index(l.axes, a)
	if n < 0 {
		n = len(l.axes)
		l.axes = append(l.axes, a)
	}
	l.axisOf[name] = n
	return n
}

// filter says which nodes a spread looks at.
type filter struct {
	group         int // whose constraints and tolerations count; -1 where neither does
	honorAffinity bool
	honorTaints   bool
	keys          string // labels that have to be there, joined by commas
}

// filterAxis is 1 where a spread looks.
func (l *land) filterAxis(f filter) int {
	b := binary.AppendVarint([]byte{'f'}, int64(f.group))
	if f.honorAffinity {
		b = append(b, 'a')
	}
	if f.honorTaints {
		b = append(b, 't')
	}
	var needed []*axis
	for _, key := range strings.Split(f.keys, ",") {
		if key != "" && key != corev1.LabelHostname {
			needed = append(needed, l.axes[l.keyAxis(key)])
		}
	}
	return l.axis(string(b)+f.keys, func() axis { return l.drawFilter(f, needed) })
}

// drawFilter draws the axis of a filter that needs some labels.
func (l *land) drawFilter(f filter, needed []*axis) axis {
	a := axis{at: make([]int32, l.spots())}
	for i := range a.at {
		a.at[i] = 1
	}
	bar := func(spot int, barred bool) {
		if barred {
			a.at[spot] = 0
		}
	}
	if slices.Contains(strings.Split(f.keys, ","), corev1.LabelHostname) {
		for i, v := range l.country.column(corev1.LabelHostname).numbers {
			bar(l.onSale+i, v < 0)
		}
	}
	for _, x := range needed {
		for spot, v := range x.at {
			bar(spot, v < 0)
		}
	}
	if f.group >= 0 {
		l.filterGroup(f, bar)
	}
	return a
}

// filterGroup applies what a spread honours of its pods' own constraints.
func (l *land) filterGroup(f filter, bar func(int, bool)) {
	group := l.classes.groups[f.group]
	for ti, v := range l.templates {
		hard, _ := v.hardTaint(group)
		var row model.Bits
		if f.honorAffinity {
			row = l.offers.admitsOwn(v, group, false)
		}
		for i, o := range l.offered[ti].list {
			bar(l.first[ti]+i, f.honorTaints && hard != nil || row != nil && !row.Has(o.offer))
		}
	}
	choosy := f.honorAffinity && (len(group.selector) > 0 || group.affine)
	if !f.honorTaints && !choosy {
		return
	}
	for i := range l.places {
		n := &l.places[i]
		hard, _ := untolerated(group.tolerations, n.taints)
		bar(l.onSale+i, f.honorTaints && hard != nil || choosy && !group.ownMatchesNode(n.node.Name, n.labels))
	}
}

// wishAxis is 1 where a preferred term of node affinity matches.
func (l *land) wishAxis(t *term) int {
	return l.axis("w"+t.text(), func() axis { return l.drawWish(t) })
}

func (l *land) drawWish(t *term) axis {
	a := axis{at: make([]int32, l.spots())}
	for ti, v := range l.templates {
		row := l.offers.matching(v, t)
		if row == nil {
			continue
		}
		for i, o := range l.offered[ti].list {
			if row.Has(o.offer) {
				a.at[l.first[ti]+i] = 1
			}
		}
	}
	for i := range l.places {
		if t.matchesNode(l.places[i].node.Name, l.places[i].labels) {
			a.at[l.onSale+i] = 1
		}
	}
	return a
}

// runningSets calls f with each running pod that is among some targets, the place of its
// node, and these targets.
func (l *land) runningSets(f func(pod *corev1.Pod, node int, among []int32)) {
	if len(l.bonds.targets.list) == 0 {
		return
	}
	book := l.guests()
	places := l.country.lodgings(book)
	for k, i := range book.booked {
		if places[k] < 0 {
			continue
		}
		for _, x := range book.guests[i] {
			f(x.pod, int(places[k]), x.among)
		}
	}
}
