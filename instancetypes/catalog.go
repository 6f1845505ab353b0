package instancetypes

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// Defaults for labels that every node has and small catalogs leave out.
const (
	defaultArch = "amd64"
	defaultOS   = "linux"
)

// Catalog is a set of instance types that has been validated and does not change.
// Types are in order of name; their offerings are in order of zone, capacity type
// and reservation id. Any number of goroutines may read one. The zero value and
// nil are empty catalogs.
//
// The types that a catalog hands out are its own: read them, keep them as long as
// you like, but change only copies.
type Catalog struct {
	name       string
	types      []*InstanceType
	byName     map[string]*InstanceType
	provenance []Provenance
}

// NewCatalog copies the types, fills in the labels that [InstanceType.Labels] promises, puts
// everything in order and validates it. The error reports every fault at once, as [CatalogFault] values:
// those of [InstanceType.Validate], and duplicate names. A catalog without types is legal.
func NewCatalog(types ...*InstanceType) (*Catalog, error) {
	var fs faults
	c := &Catalog{
		types:  make([]*InstanceType, 0, len(types)),
		byName: make(map[string]*InstanceType, len(types)),
	}
	for i, t := range types {
		if t == nil {
			fs.add(&CatalogFault{Field: fmt.Sprintf("types[%d]", i), Problem: "is nil"})
			continue
		}
		t.check(&fs)
		if _, ok := c.byName[t.Name]; ok {
			fs.add(&CatalogFault{Type: t.Name, Field: "name", Value: t.Name, Problem: "is the name of two types"})
			continue
		}
		t = t.DeepCopy()
		t.complete()
		c.byName[t.Name] = t
		c.types = append(c.types, t)
	}
	if err := fs.err(); err != nil {
		return nil, err
	}
	c.sort()
	return c, nil
}

func (c *Catalog) sort() {
	slices.SortFunc(c.types, func(a, b *InstanceType) int { return strings.Compare(a.Name, b.Name) })
}

// complete brings a type into the form in which a catalog holds it.
func (t *InstanceType) complete() {
	t.Labels = stableKeys(t.Labels)
	if t.Labels == nil {
		t.Labels = make(map[string]string, 3)
	}
	for key, value := range map[string]string{corev1.LabelArchStable: defaultArch, corev1.LabelOSStable: defaultOS} {
		if _, ok := t.Labels[key]; !ok {
			t.Labels[key] = value
		}
	}
	t.Labels[corev1.LabelInstanceTypeStable] = t.Name
	if t.Capacity == nil {
		t.Capacity = corev1.ResourceList{}
	}
	for i := range t.Offerings {
		t.Offerings[i].Labels = stableKeys(t.Offerings[i].Labels)
	}
	slices.SortFunc(t.Offerings, func(a, b offerings.Offering) int { return a.Key(t.Name).Compare(b.Key(t.Name)) })
}

// stableKeys returns labels without aliases: each key in its stable form. It may
// change the map that it is given.
func stableKeys(labels map[string]string) map[string]string {
	for key, value := range labels {
		if stable := requirements.NormalizeKey(key); stable != key {
			delete(labels, key)
			if _, ok := labels[stable]; !ok {
				labels[stable] = value
			}
		}
	}
	return labels
}

// Len returns the number of types.
func (c *Catalog) Len() int {
	if c == nil {
		return 0
	}
	return len(c.types)
}

// Get returns the type of that name. It is the catalog's own: do not change it.
func (c *Catalog) Get(name string) (*InstanceType, bool) {
	if c == nil {
		return nil, false
	}
	t, ok := c.byName[name]
	return t, ok
}

// All yields the types in order of name. They are the catalog's own: do not change
// them.
func (c *Catalog) All() iter.Seq[*InstanceType] {
	return func(yield func(*InstanceType) bool) {
		if c == nil {
			return
		}
		for _, t := range c.types {
			if !yield(t) {
				return
			}
		}
	}
}

// Names returns the names of the types, sorted. The caller owns the slice.
func (c *Catalog) Names() []string {
	names := make([]string, 0, c.Len())
	for t := range c.All() {
		names = append(names, t.Name)
	}
	return names
}

// Lookup returns the offering that the key names. A key without a reservation id finds
// the offering without one, or else that whose id sorts first. A reservation id that the catalog
// does not have is ignored, except for reserved offerings, because e.g. a node on demand may use an
// open reservation that it is not billed by.
func (c *Catalog) Lookup(key offerings.Key) (offerings.Offering, bool) {
	t, ok := c.Get(key.InstanceType)
	if !ok {
		return offerings.Offering{}, false
	}
	o, ok := t.lookup(key)
	if !ok && key.ReservationID != "" && key.CapacityType != offerings.Reserved {
		key.ReservationID = ""
		o, ok = t.lookup(key)
	}
	return o, ok
}

// Draws returns what a node of an offering of a catalog takes of a reservation, inventory or commitment: its id, and the amount of
// [offerings.Offering.ReservationCount]. The id is that of the key, "" for none. The amount is 1 where the catalog does not
// have the offering.
func Draws(c *Catalog, key offerings.Key) (id string, amount int64) {
	if key.ReservationID == "" {
		return "", 0
	}
	if o, ok := c.Lookup(key); ok && o.ReservationID == key.ReservationID {
		return key.ReservationID, o.UsePerNode()
	}
	return key.ReservationID, 1
}

// lookup is the offering that the key names; the first of several if the key has no reservation id.
func (t *InstanceType) lookup(key offerings.Key) (offerings.Offering, bool) {
	i, _ := slices.BinarySearchFunc(t.Offerings, key, func(o offerings.Offering, key offerings.Key) int {
		return o.Key(t.Name).Compare(key)
	})
	if i == len(t.Offerings) {
		return offerings.Offering{}, false
	}
	found := t.Offerings[i].Key(t.Name)
	if key.ReservationID == "" {
		found.ReservationID = ""
	}
	if found != key {
		return offerings.Offering{}, false
	}
	return t.Offerings[i], true
}

// InstanceTypes makes a catalog a [Source] that gives every NodePool the same
// types. The caller owns the slice, the types are the catalog's own.
func (c *Catalog) InstanceTypes(context.Context, string) ([]*InstanceType, error) {
	return slices.Collect(c.All()), nil
}

// derive makes a catalog of types that are in order and valid already.
func (c *Catalog) derive(types []*InstanceType) *Catalog {
	d := &Catalog{name: c.Name(), types: types, byName: make(map[string]*InstanceType, len(types)), provenance: c.Provenance()}
	for _, t := range types {
		d.byName[t.Name] = t
	}
	return d
}

// catalogBuilder makes a catalog of types that a reader found in a file, and adds the place in the
// file to each fault.
type catalogBuilder struct {
	fs    *faults
	types []*InstanceType
	first map[string]position // where each name occurred first
}

func newCatalogBuilder(fs *faults) *catalogBuilder {
	return &catalogBuilder{fs: fs, first: map[string]position{}}
}

// places says where in a file a type (the empty path) and the objects in it stand, by path.
type places map[string]position

// of returns the place of the innermost object that holds a field of the type.
func (p places) of(field string) position {
	for field != "" {
		if at, ok := p[field]; ok {
			return at
		}
		field = field[:max(strings.LastIndexAny(field, ".["), 0)]
	}
	return p[""]
}

// add takes over a type. at returns the position of a field of the type, "" for the type itself;
// explained are the fields that have been found faulty already, so that one cause is not reported
// twice.
func (b *catalogBuilder) add(t *InstanceType, at func(field string) position, explained []string) {
	var own faults
	t.check(&own)
	for _, f := range own.list {
		if !slices.ContainsFunc(explained, func(field string) bool { return covers(field, f.Field) }) {
			place := at(f.Field)
			f.Line, f.Column = place.line, place.column
			b.fs.add(f)
		}
	}
	b.fs.extra += own.extra
	if first, ok := b.first[t.Name]; ok && t.Name != "" {
		b.fs.add(&CatalogFault{
			Line: at("").line, Column: at("").column, Type: t.Name, Field: "name", Value: t.Name,
			Problem: fmt.Sprintf("is the name of two types, the first in line %d", first.line),
		})
		return
	}
	b.first[t.Name] = at("")
	b.types = append(b.types, t)
}

// covers reports whether a fault of one field explains that of another: the same
// field, or one that holds it or lies in it.
func covers(reported, field string) bool {
	return reported != "" && (reported == field || strings.HasPrefix(field, reported+".") || strings.HasPrefix(reported, field+"."))
}

// catalog returns the catalog, or every fault.
func (b *catalogBuilder) catalog() (*Catalog, error) {
	if len(b.fs.list) == 0 && len(b.types) == 0 {
		b.fs.add(&CatalogFault{Problem: "the catalog is empty: it has no instance types"})
	}
	if err := b.fs.err(); err != nil {
		return nil, err
	}
	c := &Catalog{types: b.types, byName: make(map[string]*InstanceType, len(b.types))}
	for _, t := range c.types {
		t.complete()
		c.byName[t.Name] = t
	}
	c.sort()
	return c, nil
}
