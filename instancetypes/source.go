package instancetypes

import (
	"context"
	"errors"
	"fmt"
)

// Source supplies instance types: a cloud's API, a file, a fixed list. It is the one interface that
// a backend implements. Planners never call it: the caller does, through [Load], and passes the
// catalog.
type Source interface {
	// InstanceTypes returns the types that the named NodePool may launch; types that
	// have no capacity at the moment should be listed too, with their offerings
	// marked unavailable, so that running nodes of them can be priced. The name is
	// empty when the question is not about a particular pool.
	//
	// The result belongs to the source: callers must not change it, and the source
	// must not change it once it has been returned. An error means that the answer
	// is not known; no types and no error means that there are none.
	InstanceTypes(ctx context.Context, nodePool string) ([]*InstanceType, error)
}

// SourceFunc lets a function be a [Source].
type SourceFunc func(ctx context.Context, nodePool string) ([]*InstanceType, error)

// InstanceTypes calls f. A nil function is an error.
func (f SourceFunc) InstanceTypes(ctx context.Context, nodePool string) ([]*InstanceType, error) {
	if f == nil {
		return nil, errNoSource
	}
	return f(ctx, nodePool)
}

// Sources asks several sources and joins their answers. Where two of them know a
// type of the same name, the one that stands first is believed, so corrections go
// before the catalog that they correct. All must answer: if any fails, the result
// is an error that names each failure by its position.
type Sources []Source

// InstanceTypes asks every source in turn.
func (s Sources) InstanceTypes(ctx context.Context, nodePool string) ([]*InstanceType, error) {
	var all []*InstanceType
	var faults []error
	knownTo := map[string]int{}
	for i, src := range s {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		types, err := typesOf(ctx, src, nodePool)
		if err != nil {
			faults = append(faults, fmt.Errorf("source %d: %w", i, err))
			continue
		}
		for _, t := range types {
			// A name repeated by one source is that source's fault: keep both, so
			// that NewCatalog reports it.
			if t != nil {
				if first, ok := knownTo[t.Name]; ok && first != i {
					continue
				}
				knownTo[t.Name] = i
			}
			all = append(all, t)
		}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return all, nil
}

// Load asks src for the types of a NodePool and makes a catalog of them. Its errors are the errors
// of the source, the context, or [NewCatalog].
func Load(ctx context.Context, src Source, nodePool string) (*Catalog, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	types, err := typesOf(ctx, src, nodePool)
	if err != nil {
		return nil, fmt.Errorf("loading instance types%s: %w", forPool(nodePool), err)
	}
	if c, ok := src.(*Catalog); ok {
		return c, nil
	}
	c, err := NewCatalog(types...)
	if err != nil {
		return nil, fmt.Errorf("loading instance types%s: %w", forPool(nodePool), err)
	}
	return c, nil
}

var errNoSource = errors.New("no source")

func typesOf(ctx context.Context, src Source, nodePool string) ([]*InstanceType, error) {
	if src == nil {
		return nil, errNoSource
	}
	return src.InstanceTypes(ctx, nodePool)
}

func forPool(name string) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" for NodePool %q", name)
}

var (
	_ Source = SourceFunc(nil)
	_ Source = Sources(nil)
	_ Source = (*Catalog)(nil)
)
