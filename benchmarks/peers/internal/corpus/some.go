package corpus

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Types is how many types of the market a pool for ordinary pods may buy.
func (m Market) Types() int { return len(m.general()) }

// Some is the catalog of so many of these types, at equal distances in the order of
// their names; all of them if there are no more.
func (m Market) Some(types int) *instancetypes.Catalog {
	names := m.general()
	n := len(names)
	chosen := map[string]bool{}
	for i, name := range names {
		if (i+1)*min(types, n)/n > i*min(types, n)/n {
			chosen[name] = true
		}
	}
	return m.Catalog.Filter(func(t *instancetypes.InstanceType, _ offerings.Offering) bool { return chosen[t.Name] })
}

// general are the names of the types that a pool for ordinary pods may buy.
func (m Market) general() []string {
	want, err := requirements.FromSelectors(m.General)
	if err != nil {
		return nil // the market's own selectors are valid
	}
	var names []string
	for t := range m.Catalog.All() {
		fits := true
		for r := range want.All() {
			value, ok := t.Labels[r.Key()]
			fits = fits && (ok && r.Has(value) || !ok && r.AllowsAbsent())
		}
		if fits {
			names = append(names, t.Name)
		}
	}
	return names
}
