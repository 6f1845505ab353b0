package scheduling

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// nearest remembers, from one plan to the next, which nodes pods fill best. Where nodes change,
// it looks at those that have changed alone. Lists are replaced, never changed.
type nearest struct {
	nodes []*existingNode
	lists map[string]nearList // by what is asked
	seats int                 // in all lists
}

// nearList is the nodes that pods with a request fill best which have the constraints of some
// groups, by their signatures.
type nearList struct {
	*pack.Nearest
	signatures []string
	within     bool // among some nodes only
	idle       int  // changes of nodes since somebody asked
}

const (
	// leastNear is how many nodes are looked for at least, since the next plan may need a few
	// more, and mostRemembered how many are remembered in all lists together.
	leastNear, mostRemembered = 64, 1 << 18
	// nearIdle is how many changes of nodes a list outlives that nobody asks for.
	nearIdle = 8
)

// fork returns a memory of its own that remembers the same.
func (m *nearest) fork() *nearest {
	if m == nil {
		return nil
	}
	return &nearest{nodes: m.nodes, lists: maps.Clone(m.lists), seats: m.seats}
}

// nearestNodes is what is remembered of the compiler's nodes; nil where nothing is, which holds
// for the first plan for some nodes and for pods with volumes.
func (c *compiler) nearestNodes() *nearest {
	if c.classes.volumes != nil || c.model.Rooms == nil {
		return nil
	}
	m := c.memory.nearest
	switch {
	case m == nil:
		m = &nearest{nodes: c.nodes, lists: map[string]nearList{}}
	case !sameNodes(m.nodes, c.nodes):
		m = m.renewed(c)
	}
	c.memory.nearest = m
	return m
}

// sameNodes reports whether two lists are the same, which they mostly are in place.
func sameNodes(a, b []*existingNode) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// renewed is what still holds for the nodes of a compiler, and what can be told of those that
// have changed.
func (m *nearest) renewed(c *compiler) *nearest {
	out := &nearest{nodes: c.nodes, lists: map[string]nearList{}}
	number := numbersIn(c.nodes, m.nodes, (*existingNode).compare)
	fresh := unnumbered(number, len(c.nodes))
	if len(fresh) == len(c.nodes) {
		return out
	}
	for key, list := range m.lists {
		if groups := c.groupsOf(list.signatures); list.idle < nearIdle && !list.within && groups != nil {
			if x := list.Renewed(c.model, number, fresh, c.takesOf(groups)); x != nil {
				out.put(key, nearList{Nearest: x, signatures: list.signatures, idle: list.idle + 1})
			}
		}
	}
	return out
}

// unnumbered are the places in a list of n things that have come since some others were numbered.
func unnumbered(number []int32, n int) (fresh []int) {
	there := make([]bool, n)
	for _, at := range number {
		if at >= 0 {
			there[at] = true
		}
	}
	for i, known := range there {
		if !known {
			fresh = append(fresh, i)
		}
	}
	return fresh
}

// put remembers a list, and forgets the others where there would be too much to remember.
func (m *nearest) put(key string, list nearList) {
	if old, known := m.lists[key]; known {
		m.seats -= old.Len()
	}
	// A list of no nodes takes room, too.
	if m.seats += list.Len(); m.seats+leastNear*len(m.lists) > mostRemembered {
		clear(m.lists)
		m.seats = list.Len()
	}
	m.lists[key] = list
}

// groupsOf are the groups with some signatures; nil where there is none with one of them.
func (c *compiler) groupsOf(signatures []string) []int {
	var out []int
	for _, s := range signatures {
		g, known := slices.BinarySearch(c.classes.signatures, s)
		if !known {
			return nil
		}
		out = append(out, g)
	}
	return out
}

// takesOf says which nodes take pods with the constraints of some groups, and which of them they
// would rather avoid.
func (c *compiler) takesOf(groups []int) func(bin int) (takes, soft bool) {
	return func(bin int) (takes, soft bool) {
		for _, g := range groups {
			if !c.open[g].Has(bin) {
				return false, false
			}
			soft = soft || c.wary[g].Has(bin)
		}
		return true, soft
	}
}

// fullestFor lists the n nodes that pods with a request fill best which have the constraints of
// some groups, the best first; nil stands for all nodes to be among.
func (m *nearest) fullestFor(c *compiler, groups []int, among model.Bits, request []int64, n int64, takes func(bin int) (takes, soft bool)) []int32 {
	key := make([]byte, 0, 128)
	for _, g := range groups {
		s := c.classes.signatures[g]
		key = append(binary.AppendVarint(key, int64(len(s))), s...)
	}
	key = append(key, ';')
	for _, q := range request {
		key = binary.AppendVarint(key, q)
	}
	if among != nil {
		key = among.Append(append(key, ';'))
	}
	list, known := m.lists[string(key)]
	if !known || !list.Knows(n) {
		most := int64(leastNear)
		for most < n {
			most *= 2
		}
		list = nearList{Nearest: pack.FindNearest(c.model, request, most, takes), within: among != nil}
		for _, g := range groups {
			list.signatures = append(list.signatures, c.classes.signatures[g])
		}
		m.put(string(key), list)
	}
	if list.idle > 0 {
		list.idle = 0
		m.lists[string(key)] = list
	}
	return list.Bins(n)
}

// remembering lets a search ask which nodes pods fill best.
func (c *compiler) remembering(params pack.Params) pack.Params {
	if m := c.nearestNodes(); m != nil {
		params.Fullest = func(class *model.Class, n int64) []int32 {
			groups := []int{int(class.Group)}
			return m.fullestFor(c, groups, nil, class.Request, n, c.takesOf(groups))
		}
	}
	return params
}
