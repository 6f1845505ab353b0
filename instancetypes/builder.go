package instancetypes

import (
	"fmt"
	"slices"
	"strings"
)

// catalogBuilder makes a catalog of types that a reader found in a file, and puts
// places in the file to what is wrong with them.
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

// add takes over a type. explained are the fields that have been found faulty
// already, so that one cause is not reported twice.
func (b *catalogBuilder) add(t *InstanceType, at places, explained []string) {
	var own faults
	t.check(&own)
	for _, f := range own.list {
		if !slices.ContainsFunc(explained, func(field string) bool { return covers(field, f.Field) }) {
			place := at.of(f.Field)
			f.Line, f.Column = place.line, place.column
			b.fs.add(f)
		}
	}
	b.fs.extra += own.extra
	if first, ok := b.first[t.Name]; ok && t.Name != "" {
		b.fs.add(&Fault{
			Line: at[""].line, Column: at[""].column, Type: t.Name, Field: "name", Value: t.Name,
			Problem: fmt.Sprintf("is the name of two types, the first in line %d", first.line),
		})
		return
	}
	b.first[t.Name] = at[""]
	b.types = append(b.types, t)
}

// covers reports whether a fault of one field explains that of another: the same
// field, or one that holds it or lies in it.
func covers(reported, field string) bool {
	return reported != "" && (reported == field || strings.HasPrefix(field, reported+".") || strings.HasPrefix(reported, field+"."))
}

// catalog returns what was built, or every fault.
func (b *catalogBuilder) catalog() (*Catalog, error) {
	if len(b.fs.list) == 0 && len(b.types) == 0 {
		b.fs.add(&Fault{Problem: "the catalog is empty: it has no instance types"})
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
