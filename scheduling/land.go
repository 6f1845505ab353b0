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
	first  []int // by template, its first spot
	onSale int   // spots that are offers
	places []landNode
	nodeAt map[string]int
	axes   []axis
	axisOf map[string]int
	memo   map[string]*partition
	ledger *ledger
	spotOf [][]int32 // by template and offer, -1 for none; filled when asked
	buffer []byte    // for names
}

// landNode is a node, those included that receive no pods any more.
type landNode struct {
	node   *corev1.Node
	labels map[string]string
	taints []corev1.Taint
	bin    int // in the engine's list; -1 for none
}

// axis is one thing in which spots differ: the value of a label, whether a spread
// looks at them, whether a wish is granted there. -1 is no value.
type axis struct {
	at     []int32 // by spot
	values []string
	flat   bool // the same everywhere
}

// partition puts spots that are alike on some axes into sites.
type partition struct {
	axes  []int
	at    []int32 // by spot
	sites int
	value [][]int32 // by site and place in axes
	rows  [][]model.Bits
}

func newLand(c *compiler) *land {
	l := &land{compiler: c, axisOf: map[string]int{}, memo: map[string]*partition{}, nodeAt: map[string]int{}, ledger: newLedger(c)}
	for ti := range c.offered {
		l.first = append(l.first, l.onSale)
		l.onSale += len(c.offered[ti].list)
	}
	bins := map[string]int{}
	for i, x := range c.nodes {
		bins[x.node.Name] = i
	}
	for _, node := range c.problem.Nodes {
		n := landNode{node: node, labels: nodeLabels(node), bin: -1}
		if i, ok := bins[node.Name]; ok {
			n.bin = i
		}
		n.taints = c.effectiveTaints(node, c.poolNamed(node.Labels[NodePoolLabel]))
		l.places = append(l.places, n)
	}
	slices.SortFunc(l.places, func(a, b landNode) int { return strings.Compare(a.node.Name, b.node.Name) })
	for i := range l.places {
		l.nodeAt[l.places[i].node.Name] = i
	}
	return l
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

// keyAxis is the axis of a label.
func (l *land) keyAxis(key string) int {
	name := "k" + key
	if n, ok := l.axisOf[name]; ok {
		return n
	}
	texts := make([]string, l.spots())
	has := make([]bool, l.spots())
	var values []string
	note := func(spot int, value string, ok bool) {
		if ok {
			texts[spot], has[spot] = value, true
			values = append(values, value)
		}
	}
	known := requirements.NormalizeKey(key)
	for ti, v := range l.templates {
		for i, o := range l.offered[ti].list {
			value, ok := l.offers.offers[o.offer].label(known)
			if !ok {
				value, ok = v.labels[known]
			}
			if !ok {
				value, ok = ready()[known]
			}
			note(l.first[ti]+i, value, ok)
		}
		values = compacted(values)
	}
	for i := range l.places {
		value, ok := l.places[i].labels[key]
		note(l.onSale+i, value, ok)
	}
	a := axis{at: make([]int32, l.spots()), values: compacted(values)}
	for i, text := range texts {
		a.at[i] = -1
		if has[i] {
			n, _ := slices.BinarySearch(a.values, text)
			a.at[i] = int32(n)
		}
	}
	return l.addAxis(name, a)
}

// presenceAxis says where there is a label, whatever its value.
func (l *land) presenceAxis(key string) int {
	name := "p" + key
	if n, ok := l.axisOf[name]; ok {
		return n
	}
	a := axis{at: make([]int32, l.spots()), values: []string{"*"}}
	for spot, v := range l.axes[l.keyAxis(key)].at {
		a.at[spot] = min(v, 0)
	}
	return l.addAxis(name, a)
}

func compacted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// addAxis names an axis; one that says the same as another is that one.
func (l *land) addAxis(name string, a axis) int {
	a.flat = true
	b := make([]byte, 0, len(a.at))
	for i, v := range a.at {
		a.flat = a.flat && v == a.at[0]
		if i == 0 || v != a.at[i-1] {
			b = binary.AppendVarint(binary.AppendVarint(b, int64(i)), int64(v))
		}
	}
	content := "=" + string(b) + strings.Join(a.values, ",")
	n, ok := l.axisOf[content]
	if !ok {
		n = len(l.axes)
		l.axes = append(l.axes, a)
		l.axisOf[content] = n
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
	name := string(b) + f.keys
	if n, ok := l.axisOf[name]; ok {
		return n
	}
	a := axis{at: make([]int32, l.spots())}
	for i := range a.at {
		a.at[i] = 1
	}
	bar := func(spot int, barred bool) {
		if barred {
			a.at[spot] = 0
		}
	}
	for _, key := range strings.Split(f.keys, ",") {
		if key == corev1.LabelHostname || key == "" {
			for i := range l.places {
				_, ok := l.places[i].labels[corev1.LabelHostname]
				bar(l.onSale+i, key != "" && !ok)
			}
			continue
		}
		for spot, v := range l.axes[l.keyAxis(key)].at {
			bar(spot, v < 0)
		}
	}
	if f.group >= 0 {
		l.filterGroup(f, bar)
	}
	return l.addAxis(name, a)
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
	for i := range l.places {
		n := &l.places[i]
		hard, _ := untolerated(group.tolerations, n.taints)
		bar(l.onSale+i, f.honorTaints && hard != nil || f.honorAffinity && !group.ownMatchesNode(n.node.Name, n.labels))
	}
}

// wishAxis is 1 where a preferred term of node affinity matches.
func (l *land) wishAxis(t *term) int {
	name := "w" + t.text()
	if n, ok := l.axisOf[name]; ok {
		return n
	}
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
	return l.addAxis(name, a)
}

// partition returns the sites that some axes tell apart.
func (l *land) partition(axes []int) *partition {
	axes = slices.Clone(axes)
	slices.Sort(axes)
	axes = slices.DeleteFunc(slices.Compact(axes), func(n int) bool { return l.axes[n].flat })
	name := make([]byte, 0, len(axes))
	for _, n := range axes {
		name = binary.AppendVarint(name, int64(n))
	}
	if p, ok := l.memo[string(name)]; ok {
		return p
	}
	p := &partition{axes: axes, at: make([]int32, l.spots()), rows: make([][]model.Bits, len(l.templates))}
	index := map[string]int32{}
	var b []byte
	for spot := range p.at {
		b = b[:0]
		for _, n := range axes {
			b = binary.AppendVarint(b, int64(l.axes[n].at[spot]))
		}
		site, ok := index[string(b)]
		if !ok {
			site = int32(p.sites)
			index[string(b)] = site
			p.sites++
			value := make([]int32, len(axes))
			for i, n := range axes {
				value[i] = l.axes[n].at[spot]
			}
			p.value = append(p.value, value)
		}
		p.at[spot] = site
	}
	if p.sites == 0 { // nothing is on sale and nothing runs
		p.sites, p.value = 1, [][]int32{make([]int32, len(axes))}
	}
	l.memo[string(name)] = p
	return p
}

// tells reports whether the sites differ on an axis.
func (p *partition) tells(axis int) bool { return slices.Contains(p.axes, axis) }

// domain is the value of an axis at a site.
func (p *partition) domain(l *land, axis, site int) int32 {
	if i := slices.Index(p.axes, axis); i >= 0 {
		return p.value[site][i]
	}
	if a := l.axes[axis].at; len(a) > 0 {
		return a[0] // flat
	}
	return -1
}

// row returns the offers of a template that are at a site.
func (p *partition) row(l *land, ti, site int) model.Bits {
	if p.rows[ti] == nil {
		p.rows[ti] = make([]model.Bits, p.sites)
		for i, o := range l.offered[ti].list {
			at := p.at[l.first[ti]+i]
			if p.rows[ti][at] == nil {
				p.rows[ti][at] = model.NewBits(len(l.offers.offers))
			}
			p.rows[ti][at].Set(o.offer)
		}
	}
	return p.rows[ti][site]
}

// runningSets calls f with each running pod that is among some targets, the place of its
// node, and these targets.
func (l *land) runningSets(f func(pod *corev1.Pod, node int, among []int32)) {
	if len(l.bonds.targets.list) == 0 {
		return
	}
	book := l.guests()
	for _, i := range book.booked {
		at, ok := l.nodeAt[book.hosts[i].name]
		if !ok {
			continue
		}
		for _, x := range book.guests[i] {
			f(x.pod, at, x.among)
		}
	}
}
