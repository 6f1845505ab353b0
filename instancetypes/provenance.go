package instancetypes

import (
	"cmp"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Provenance names the source of figures of a catalog. It is for people: no decision depends on it.
type Provenance struct {
	// Source names the origin, e.g. a module with its version or a price list.
	Source string `json:"source"`
	// Date is the day that the figures describe, as YYYY-MM-DD; empty if unknown.
	Date string `json:"date,omitempty"`
	// License is the licence of the source, as an SPDX identifier where there is one.
	License string `json:"license,omitempty"`
	// Covers says which figures were taken from it, in words.
	Covers string `json:"covers,omitempty"`
	// Prices are the capacity types whose prices were taken from it, or changed by it.
	Prices []offerings.CapacityType `json:"prices,omitempty"`
	// PricesEstimated are those capacity types among Prices whose prices are estimates, e.g. because the source lists the
	// prices of a type without their zones. Their offerings name "price" as estimated.
	PricesEstimated []offerings.CapacityType `json:"pricesEstimated,omitempty"`
	// Estimated names the fields that were computed or assumed rather than read.
	Estimated []string `json:"estimated,omitempty"`
}

// Origin summarises the prices of a catalog, for plans to repeat.
type Origin struct {
	// Name is [Catalog.Name]; empty if it has none.
	Name string `json:"name,omitempty"`
	// Prices say from when prices are, by capacity type and then the newest first. A
	// capacity type that stands here twice has prices of two days.
	Prices []PriceOrigin `json:"prices,omitempty"`
}

// PriceOrigin says from when prices of one capacity type are.
type PriceOrigin struct {
	CapacityType offerings.CapacityType `json:"capacityType"`
	// Source is [Provenance.Source], Date the day of the prices; empty if unknown.
	Source string `json:"source,omitempty"`
	Date   string `json:"date,omitempty"`
	// Estimated says that they are estimates: see [Provenance.PricesEstimated].
	Estimated bool `json:"estimated,omitempty"`
}

// Name is the name of the catalog, e.g. "ec2/us-east-1"; empty if none was given.
func (c *Catalog) Name() string {
	if c == nil {
		return ""
	}
	return c.name
}

// Named returns the catalog under another name.
func (c *Catalog) Named(name string) *Catalog {
	d := &Catalog{}
	if c != nil {
		*d = *c
	}
	d.name = name
	return d
}

// Origin sums up name and provenance.
func (c *Catalog) Origin() Origin {
	origin := Origin{Name: c.Name()}
	if c == nil {
		return origin
	}
	for i := range c.provenance {
		p := &c.provenance[i]
		for _, ct := range p.Prices {
			origin.Prices = append(origin.Prices, PriceOrigin{
				CapacityType: ct, Source: p.Source, Date: p.Date, Estimated: slices.Contains(p.PricesEstimated, ct),
			})
		}
	}
	slices.SortStableFunc(origin.Prices, func(a, b PriceOrigin) int {
		return cmp.Or(strings.Compare(string(a.CapacityType), string(b.CapacityType)), strings.Compare(b.Date, a.Date))
	})
	return origin
}

// Provenance returns the sources of the catalog's figures. The caller owns the result.
func (c *Catalog) Provenance() []Provenance {
	if c == nil {
		return nil
	}
	return cloneProvenance(c.provenance)
}

// WithProvenance returns the catalog with these statements in place of its own.
func (c *Catalog) WithProvenance(statements ...Provenance) *Catalog {
	d := &Catalog{}
	if c != nil {
		*d = *c
	}
	d.provenance = cloneProvenance(statements)
	return d
}

func cloneProvenance(list []Provenance) []Provenance {
	list = slices.Clone(list)
	for i := range list {
		list[i].Prices = slices.Clone(list[i].Prices)
		list[i].PricesEstimated = slices.Clone(list[i].PricesEstimated)
		list[i].Estimated = slices.Clone(list[i].Estimated)
	}
	return list
}
