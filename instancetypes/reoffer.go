package instancetypes

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// OfferingChange is an offering of an instance type as it is from now on.
type OfferingChange struct {
	// InstanceType is the name of the type in the catalog.
	InstanceType string
	// Offering takes the place of the one that it has zone, capacity type and reservation
	// id in common with.
	offerings.Offering
}

// WithOfferings returns a catalog in which single offerings have changed: what a type
// sells in the same zone, under the same capacity type and reservation id gives way to
// the change, or the change comes in addition. Of several changes of one offering the
// last counts. Types that do not change are shared with c, which stays as it is. The
// error reports every fault at once, as [Fault] values: types that c does not have, and
// what [InstanceType.Validate] says.
func (c *Catalog) WithOfferings(changes ...OfferingChange) (*Catalog, error) {
	var fs faults
	changed := map[string]*InstanceType{}
	for _, x := range changes {
		t := changed[x.InstanceType]
		if t == nil {
			old, ok := c.Get(x.InstanceType)
			if !ok {
				fs.add(&Fault{Type: x.InstanceType, Field: "name", Value: x.InstanceType, Problem: "is not in the catalog"})
				continue
			}
			t = old.DeepCopy()
			changed[x.InstanceType] = t
		}
		at := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool { return o.Key("") == x.Key("") })
		if at < 0 {
			t.Offerings = append(t.Offerings, x.Offering.DeepCopy())
		} else {
			t.Offerings[at] = x.Offering.DeepCopy()
		}
	}
	for _, name := range sortedNames(changed) {
		t := changed[name]
		t.check(&fs)
		t.complete()
	}
	if err := fs.err(); err != nil {
		return nil, err
	}
	types := make([]*InstanceType, 0, c.Len())
	for t := range c.All() {
		if x := changed[t.Name]; x != nil {
			t = x
		}
		types = append(types, t)
	}
	if c == nil {
		c = &Catalog{}
	}
	return c.derive(types), nil
}

func sortedNames(types map[string]*InstanceType) []string {
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
