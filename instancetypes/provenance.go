package instancetypes

import "slices"

// Provenance says where figures of a catalog come from. It is for people: nothing
// in a decision depends on it.
type Provenance struct {
	// Source names the origin, such as a module with its version or a price list.
	Source string `json:"source"`
	// Date is the day that the figures describe, as YYYY-MM-DD; empty if unknown.
	Date string `json:"date,omitempty"`
	// License is the licence of the source, as an SPDX identifier where there is one.
	License string `json:"license,omitempty"`
	// Covers says which figures were taken from it, in words.
	Covers string `json:"covers,omitempty"`
	// Estimated names the fields that were computed or assumed rather than read.
	Estimated []string `json:"estimated,omitempty"`
}

// Provenance returns what is known about the origin of the catalog's figures. The
// caller owns the result.
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
		list[i].Estimated = slices.Clone(list[i].Estimated)
	}
	return list
}
