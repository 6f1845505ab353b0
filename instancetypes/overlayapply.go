package instancetypes

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/requirements"
)

// WithOverlays returns the catalog with the overlays applied. For the price of each offering and
// for each resource the overlay of the highest weight applies, to the catalog's own price: changes
// never add up. An overlay with capacity changes the whole type if it selects one of its offerings.
//
// Two overlays of the same weight that change the same price or resource conflict. The one whose
// name sorts first is then applied nowhere, as is an overlay that is invalid. All others are
// applied: beside an error, which holds an [*OverlayError] for each overlay left out, the catalog
// may be used.
//
// An overlay that requires a label of NodePools, e.g. karpenter.sh/nodepool, selects no type here;
// see [Catalog.WithPoolOverlays].
func (c *Catalog) WithOverlays(overlays ...NodeOverlay) (*Catalog, error) {
	catalogs, err := c.WithPoolOverlays(map[string]map[string]string{"": nil}, overlays...)
	return catalogs[""], err
}

// WithPoolOverlays returns the catalog as each of the NodePools sees it. pools maps
// the names of NodePools to the labels of their templates; karpenter.sh/nodepool
// need not be among them. Overlays are judged over all pools together: one that
// conflicts in any of them is applied in none. Otherwise it works like
// [Catalog.WithOverlays].
func (c *Catalog) WithPoolOverlays(pools map[string]map[string]string, overlays ...NodeOverlay) (map[string]*Catalog, error) {
	if c == nil {
		c = &Catalog{}
	}
	valid, errs := compileOverlays(overlays)
	patches := make(map[string]*overlayPatch, len(pools))
	names := slices.Sorted(maps.Keys(pools))
	for _, name := range names {
		patches[name] = newOverlayPatch(c, name, pools[name])
	}
	for _, o := range valid {
		var conflict error
		selected := make([][]selection, len(names))
		// Most overlays have no requirement on labels of the NodePool, and select the same for
		// every pool.
		everywhere := sync.OnceValue(func() []selection { return c.selects(o, nil) })
		for i, name := range names {
			if o.selects.mentions(patches[name].labels) {
				selected[i] = c.selects(o, patches[name].labels)
			} else {
				selected[i] = everywhere()
			}
			if conflict == nil {
				conflict = patches[name].conflict(o, selected[i])
			}
		}
		if conflict != nil {
			errs = append(errs, conflict)
			continue
		}
		for i, name := range names {
			patches[name].claim(o, selected[i])
		}
	}
	catalogs := make(map[string]*Catalog, len(pools))
	for _, name := range names {
		catalogs[name] = patches[name].apply()
	}
	return catalogs, errors.Join(errs...)
}

// compileOverlays returns the valid overlays in the order in which they are judged:
// by weight, the highest first, then by name, the last first. Of overlays that share
// a name none is valid.
func compileOverlays(overlays []NodeOverlay) (valid []*overlay, errs []error) {
	named := map[string]int{}
	for i := range overlays {
		named[overlays[i].Name]++
	}
	for i := range overlays {
		o, err := overlays[i].compile()
		switch {
		case err != nil:
			errs = append(errs, err)
		case named[o.name] > 1:
			errs = append(errs, &OverlayError{
				Overlay: o.name, Conflict: o.name, Field: "metadata.name", Err: errors.New("there is another overlay of this name"),
			})
		default:
			valid = append(valid, o)
		}
	}
	slices.SortFunc(valid, func(a, b *overlay) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(b.name, a.name))
	})
	return valid, errs
}

// selection is the part of one type that an overlay selects.
type selection struct {
	typ       int // index in the catalog
	offerings []int
}

// claim is the overlay that changes one price or resource, and the one of the lowest weight so far,
// which is the only one that a later one can tie with.
type claim struct{ first, last *overlay }

func (cl claim) with(o *overlay) claim {
	if cl.first == nil {
		cl.first = o
	}
	cl.last = o
	return cl
}

// sameWeight reports whether o changes the same with the same weight.
func (cl claim) sameWeight(o *overlay) bool { return cl.last != nil && cl.last.weight == o.weight }

// overlayPatch gathers the changes of overlays in one pool's view of a catalog.
type overlayPatch struct {
	catalog   *Catalog
	labels    map[string]string // of the pool
	prices    [][]claim         // by type and offering; nil without a change
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

// conflict returns an error if an overlay of the same weight has changed a price or resource that o
// changes, too.
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
				if claims[j].sameWeight(o) {
					return fail(claims[j], s.typ, "spec.price")
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(o.capacity)) {
			if cl := p.resources[s.typ][name]; cl.sameWeight(o) {
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
