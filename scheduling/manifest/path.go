package manifest

import (
	"strconv"
	"strings"
)

// path is a place in an object. The zero value is the object itself.
type path []step

// step is a field, a key of a map, or an index where name is empty.
type step struct {
	name  string
	index int
}

// key returns the path of a field or of a map's key below p.
func (p path) key(names ...string) path {
	q := p[:len(p):len(p)]
	for _, n := range names {
		q = append(q, step{name: n})
	}
	return q
}

// at returns the path of the i-th element below p.
func (p path) at(i int) path { return append(p[:len(p):len(p)], step{index: i}) }

// String returns the path as kubectl's users write it:
// spec.containers[0].resources.requests.cpu, with names that hold dots or slashes
// in brackets.
func (p path) String() string {
	var b strings.Builder
	for _, s := range p {
		switch {
		case s.name == "":
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case strings.ContainsAny(s.name, "./[] "):
			b.WriteString("[" + s.name + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

// lookup returns the value at p in a decoded JSON tree.
func (p path) lookup(tree any) (any, bool) {
	for _, s := range p {
		switch t := tree.(type) {
		case map[string]any:
			v, ok := t[s.name]
			if !ok {
				return nil, false
			}
			tree = v
		case []any:
			if s.name != "" || s.index < 0 || s.index >= len(t) {
				return nil, false
			}
			tree = t[s.index]
		default:
			return nil, false
		}
	}
	return tree, true
}
