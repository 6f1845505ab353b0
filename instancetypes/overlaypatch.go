package instancetypes

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// selection is what an overlay selects of one type.
type selection struct {
	typ       int // index in the catalog
	offerings []int
}

// claim is who changes one price or resource: the overlay that applies, and the one
// of the lowest weight so far, which is the only one that a later one can tie with.
type claim struct{ first, last *overlay }

func (cl claim) with(o *overlay) claim {
	if cl.first == nil {
		cl.first = o
	}
	cl.last = o
	return cl
}

// ties reports whether o changes the same with the same weight.
func (cl claim) ties(o *overlay) bool { return cl.last != nil && cl.last.weight == o.weight }

// overlayPatch gathers what overlays change in one pool's view of a catalog.
type overlayPatch struct {
	catalog   *Catalog
	labels    map[string]string // of the pool
	prices    [][]claim         // by type and offering; nil where nothing changes
	resources []map[corev1.ResourceName]claim
}

func newOverlayPatch(c *Catalog, pool string, template map[string]string) *overlayPatch {
	labels := map[string]string{}
	for key, value := range template {
		labels[requirements.NormalizeKey(key)] = value
	}
	if pool != "" {
		labels[requirements.NodePoolKey] = pool
	}
	return &overlayPatch{
		catalog: c, labels: labels,
		prices: make([][]claim, c.Len()), resources: make([]map[corev1.ResourceName]claim, c.Len()),
	}
}

// selects returns the offerings that an overlay selects, by type, on nodes that
// carry extra labels besides.
func (c *Catalog) selects(o *overlay, extra map[string]string) []selection {
	var list []selection
	for i, t := range c.types {
		var matched []int
		for j := range t.Offerings {
			if o.selects.matches(t, &t.Offerings[j], extra) {
				matched = append(matched, j)
			}
		}
		if len(matched) > 0 {
			list = append(list, selection{typ: i, offerings: matched})
		}
	}
	return list
}

// conflict returns an error if an overlay of the same weight has changed what o
// would change.
func (p *overlayPatch) conflict(o *overlay, selected []selection) error {
	fail := func(cl claim, typ int, field string) error {
		return &OverlayError{
			Overlay: o.name, Conflict: cl.last.name, InstanceType: p.catalog.types[typ].Name, Field: field,
			Err: fmt.Errorf("overlay %s has the same weight, %d, and changes the same of instance type %s", cl.last.name, o.weight, p.catalog.types[typ].Name),
		}
	}
	for _, s := range selected {
		if claims := p.prices[s.typ]; claims != nil && o.price != nil {
			for _, j := range s.offerings {
				if claims[j].ties(o) {
					return fail(claims[j], s.typ, "spec.price")
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(o.capacity)) {
			if cl := p.resources[s.typ][name]; cl.ties(o) {
				return fail(cl, s.typ, "spec.capacity."+string(name))
			}
		}
	}
	return nil
}

func (p *overlayPatch) claim(o *overlay, selected []selection) {
	for _, s := range selected {
		if o.price != nil {
			if p.prices[s.typ] == nil {
				p.prices[s.typ] = make([]claim, len(p.catalog.types[s.typ].Offerings))
			}
			for _, j := range s.offerings {
				p.prices[s.typ][j] = p.prices[s.typ][j].with(o)
			}
		}
		for name := range o.capacity {
			if p.resources[s.typ] == nil {
				p.resources[s.typ] = map[corev1.ResourceName]claim{}
			}
			p.resources[s.typ][name] = p.resources[s.typ][name].with(o)
		}
	}
}

// apply makes the catalog. Types that do not change are shared.
func (p *overlayPatch) apply() *Catalog {
	types := make([]*InstanceType, 0, p.catalog.Len())
	for i := range p.catalog.Len() {
		types = append(types, p.patched(i))
	}
	return p.catalog.derive(types)
}

// patched returns one type with its changes.
func (p *overlayPatch) patched(i int) *InstanceType {
	if p.prices[i] == nil && p.resources[i] == nil {
		return p.catalog.types[i]
	}
	t := p.catalog.types[i].DeepCopy()
	for j, cl := range p.prices[i] {
		if cl.first != nil {
			t.Offerings[j].Price = cl.first.price.Apply(t.Offerings[j].Price)
		}
	}
	for name, cl := range p.resources[i] {
		t.Capacity[name] = cl.first.capacity[name].DeepCopy()
		for j := range t.Offerings {
			// The overlay speaks for the whole type, so an offering's own amount gives way.
			delete(t.Offerings[j].Capacity, name)
		}
	}
	return t
}
