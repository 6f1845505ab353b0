package instancetypes

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
)

// WithOverlays returns the catalog as the overlays have it. For the price of each
// offering and for each resource the overlay of the highest weight applies, to the
// catalog's own price: changes never add up. An overlay with capacity changes the
// whole type if it selects one of its offerings.
//
// Two overlays of the same weight that change the same price or resource conflict.
// The one whose name sorts first is then applied nowhere, as is an overlay that is
// invalid. The others are applied: with an error, which holds an [*OverlayError]
// for each overlay left out, comes a catalog that may be used.
//
// An overlay that requires a label of NodePools, such as karpenter.sh/nodepool,
// selects nothing here; see [Catalog.WithPoolOverlays].
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
		// Most overlays do not look at what the NodePool adds, and select the same
		// for every pool.
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
