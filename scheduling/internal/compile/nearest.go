package compile

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/pack"
)

// NodeOrder remembers, from one plan to the next, which nodes pods fill best. Where nodes change,
// it looks at those that have changed alone. Lists are replaced, never changed.
type NodeOrder struct {
	nodes []*ExistingNode
	lists map[string]nearList // by what is asked
	seats int                 // in all lists
	// fitting are, by request, the nodes with room for it, and rooms is what room they have; both
	// are filled when asked.
	fitting map[string]model.Bits
	rooms   [][]int64
	buffer  []byte // for keys
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
	// mostFitting is of how many requests it is remembered where there is room for them.
	mostFitting = 1 << 10
	// nearIdle is how many changes of nodes a list outlives that nobody asks for.
	nearIdle = 8
)

// fork returns a memory of its own that remembers the same.
func (m *NodeOrder) fork() *NodeOrder {
	if m == nil {
		return nil
	}
	return &NodeOrder{nodes: m.nodes, lists: maps.Clone(m.lists), seats: m.seats, fitting: maps.Clone(m.fitting), rooms: m.rooms}
}

// NearestNodes is what is remembered of the compiler's nodes; nil where nothing is, which holds
// for the first plan for some nodes and for pods with volumes.
func (c *Compiler) NearestNodes() *NodeOrder {
	if c.Classes.Volumes != nil || c.Model.Rooms == nil {
		return nil
	}
	m := c.Memory.nearest
	switch {
	case m == nil:
		m = newNearest(c)
	case !sameNodes(m.nodes, c.Nodes):
		m = m.renewed(c)
	}
	c.Memory.nearest = m
	return m
}

func newNearest(c *Compiler) *NodeOrder {
	return &NodeOrder{nodes: c.Nodes, lists: map[string]nearList{}, fitting: map[string]model.Bits{}}
}

// RoomsOf is the room of each node.
func (m *NodeOrder) RoomsOf(c *Compiler) [][]int64 {
	if m.rooms == nil {
		m.rooms = make([][]int64, len(c.Nodes))
		for i := range m.rooms {
			m.rooms[i] = c.Model.Bins[i].Room
		}
	}
	return m.rooms
}

// Fits are the nodes with room for a request.
func (m *NodeOrder) Fits(c *Compiler, request []int64) model.Bits {
	key := make([]byte, 0, 64)
	for _, q := range request {
		key = binary.AppendVarint(key, q)
	}
	if out, ok := m.fitting[string(key)]; ok {
		return out
	}
	if len(m.fitting) == mostFitting {
		clear(m.fitting)
	}
	out := c.fittingBins(request)
	m.fitting[string(key)] = out
	return out
}

// fittingBins are the bins with room for a request.
func (c *Compiler) fittingBins(request []int64) model.Bits {
	out := model.NewBits(len(c.Model.Bins))
	if r := c.Model.Rooms; r != nil && len(request) > 0 {
		for bin := range r.Fitting(request) {
			out.Set(int(bin))
		}
		return out
	}
	for bin := range c.Model.Bins {
		if model.Fits(c.Model.Bins[bin].Room, request) {
			out.Set(bin)
		}
	}
	return out
}

// sameNodes reports whether two lists are the same, which they mostly are in place.
func sameNodes(a, b []*ExistingNode) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// renewed is what still holds for the nodes of a compiler, and what can be told of those that
// have changed.
func (m *NodeOrder) renewed(c *Compiler) *NodeOrder {
	out := newNearest(c)
	number := numbersIn(c.Nodes, m.nodes, (*ExistingNode).compare)
	fresh := unnumbered(number, len(c.Nodes))
	if len(fresh) == len(c.Nodes) {
		return out
	}
	for key, list := range m.lists {
		if groups := c.groupsOf(list.signatures); list.idle < nearIdle && !list.within && groups != nil {
			if x := list.Renewed(c.Model, number, fresh, c.takesOf(groups)); x != nil {
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
func (m *NodeOrder) put(key string, list nearList) {
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
func (c *Compiler) groupsOf(signatures []string) []int {
	var out []int
	for _, s := range signatures {
		g, known := slices.BinarySearch(c.Classes.Signatures, s)
		if !known {
			return nil
		}
		out = append(out, g)
	}
	return out
}

// takesOf says which nodes take pods with the constraints of some groups, and which of them they
// would rather avoid.
func (c *Compiler) takesOf(groups []int) func(bin int) (takes, soft bool) {
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

// FullestFor lists the n nodes that pods with a request fill best which have the constraints of
// some groups, the best first; nil stands for all nodes to be among.
func (m *NodeOrder) FullestFor(c *Compiler, groups []int, among model.Bits, request []int64, n int64, takes func(bin int) (takes, soft bool)) []int32 {
	key := m.buffer[:0]
	for _, g := range groups {
		s := c.Classes.Signatures[g]
		key = append(binary.AppendVarint(key, int64(len(s))), s...)
	}
	key = append(key, ';')
	for _, q := range request {
		key = binary.AppendVarint(key, q)
	}
	if among != nil {
		key = among.Append(append(key, ';'))
	}
	m.buffer = key
	list, known := m.lists[string(key)]
	if !known || !list.Knows(n) {
		most := int64(leastNear)
		for most < n {
			most *= 2
		}
		list = nearList{Nearest: pack.FindNearest(c.Model, request, most, takes), within: among != nil}
		for _, g := range groups {
			list.signatures = append(list.signatures, c.Classes.Signatures[g])
		}
		m.put(string(key), list)
	}
	if list.idle > 0 {
		list.idle = 0
		m.lists[string(key)] = list
	}
	return list.Bins(n)
}

// Remembering lets a search ask which nodes pods fill best.
func (c *Compiler) Remembering(params pack.Params) pack.Params {
	if m := c.NearestNodes(); m != nil {
		params.Fullest = func(class *model.Class, n int64) []int32 {
			groups := []int{int(class.Group)}
			return m.FullestFor(c, groups, nil, class.Request, n, c.takesOf(groups))
		}
	}
	return params
}
