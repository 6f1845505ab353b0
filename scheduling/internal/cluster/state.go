package cluster

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// State is one course of events: nodes join and leave, pods are placed and removed. Nodes are numbered as they join,
// first those that are there at first.
type State struct {
	Model  *Model
	at     []node
	counts numbers // by counter and domain, the pods
	nodes  numbers // by counter of a spread that has to hold, and domain, the nodes whose pods count there
	held   numbers // by holder and domain, the pods that hold the term
	// domains is that of each node, by axis; -1 where it lacks the label.
	domains [][]int32
	// changes counts, by node, how often its pods or the node itself have changed.
	changes []uint32
	check   Check
}

type node struct {
	kind   int32
	room   []int64
	ports  []podspec.HostPort
	closed bool // it takes no pods in any more
}

// Begin is the state in which the nodes that are there at first have joined, with the pods that run on them.
func (m *Model) Begin() *State {
	s := &State{
		Model: m, counts: newNumbers(len(m.counts)), nodes: newNumbers(len(m.counts)), held: newNumbers(len(m.holders)),
		domains: make([][]int32, len(m.axes)),
	}
	for _, kind := range m.existing {
		s.Join(kind)
	}
	for _, t := range m.running {
		if t.holder >= 0 {
			s.held.add(t.holder, s.domains[m.holders[t.holder].Axis][t.node], 1)
			continue
		}
		for _, c := range t.counts {
			x := &m.counts[c]
			if (!t.going || x.filter == nil) && x.filter.passes(s.Kind(t.node)) {
				s.counts.add(int(c), s.domains[x.axis][t.node], 1)
			}
		}
	}
	return s
}

// Fork is a state that goes on from here without changing s.
func (s *State) Fork() *State {
	f := &State{
		Model: s.Model, at: slices.Clone(s.at), counts: s.counts.fork(), nodes: s.nodes.fork(), held: s.held.fork(),
		domains: slices.Clone(s.domains), changes: slices.Clone(s.changes),
	}
	for i := range f.domains {
		f.domains[i] = slices.Clip(f.domains[i]) // both only append
	}
	rooms := make([][]int64, len(f.at))
	for i := range f.at {
		rooms[i] = f.at[i].room
	}
	all := slices.Concat(rooms...)
	for i := range f.at {
		n := len(rooms[i])
		f.at[i].room, all = all[:n:n], all[n:]
	}
	return f
}

// Join adds a node of a kind and returns its number.
func (s *State) Join(kind int) int32 {
	k, at := &s.Model.kinds[kind], int32(len(s.at)) //nolint:gosec // nodes are few
	for i, d := range k.domains {
		if d == OwnDomain {
			d = int32(len(s.Model.axes[i].values)) + at //nolint:gosec // nodes are few
		}
		s.domains[i] = append(s.domains[i], d)
	}
	s.at = append(s.at, node{kind: int32(kind), room: slices.Clone(k.Room), ports: k.Ports}) //nolint:gosec // kinds are few
	s.changes = append(s.changes, 1)
	s.CountNode(at, 1, nil)
	return at
}

// Len is the number of nodes that have joined.
func (s *State) Len() int { return len(s.at) }

// Kind is the kind of a node, and KindOf its number.
func (s *State) Kind(n int32) *Kind { return &s.Model.kinds[s.at[n].kind] }

// KindOf is the number of a node's kind.
func (s *State) KindOf(n int32) int32 { return s.at[n].kind }

// Room is the free room of a node, by resource.
func (s *State) Room(n int32) []int64 { return s.at[n].room }

// Changes counts how often a node or its pods have changed.
func (s *State) Changes(n int32) uint32 { return s.changes[n] }

// Domain is that of a node on an axis, -1 where the node lacks the label.
func (s *State) Domain(axis int, n int32) int32 { return s.domains[axis][n] }

// Count is how many pods a counter counts in a domain.
func (s *State) Count(counter int, domain int32) int64 { return s.counts.at(counter, domain) }

// Held is how many pods of a holder are in a domain.
func (s *State) Held(holder, domain int32) int64 { return s.held.at(int(holder), domain) }

// Fits reports whether a node takes a pod of a class in, topology terms aside: it is open, its labels, taints and volumes
// suit the pod, and it has the room and the ports.
func (s *State) Fits(x *Class, n int32) bool {
	at := &s.at[n]
	if at.closed || !s.Model.kinds[at.kind].Admits[x.Number] {
		return false
	}
	for _, q := range x.Needs {
		if at.room[q.Resource] < q.N {
			return false
		}
	}
	return len(x.Group.Ports) == 0 || !podspec.PortsClash(x.Group.Ports, at.ports)
}

// Admits reports whether kube-scheduler's filters let a pod of a class onto a node as things stand.
func (s *State) Admits(c, n int32) bool {
	x := &s.Model.Classes[c]
	return s.Fits(x, n) && s.Keeps(c, n)
}

// PlaceAll places pods of a queue, given by class, on the nodes in to where the filters admit them, in turn, and again
// until no more can be placed; -1 is no node. It returns in which turn each was placed, counted from 1, and 0 for pods
// that were not.
func (s *State) PlaceAll(queue, to []int32) (turns []int) {
	turns = make([]int, len(queue))
	for turn, again := 1, true; again; turn++ {
		again = false
		for i, c := range queue {
			if turns[i] == 0 && to[i] >= 0 && s.Admits(c, to[i]) {
				s.Place(c, to[i], false)
				turns[i], again = turn, true
			}
		}
	}
	return turns
}

// Place puts a pod of a class on a node, whatever the filters say. A pod that is being deleted has its room until it is
// gone, and counts for no spread.
func (s *State) Place(c, n int32, deleted bool) {
	if ports := s.Model.Classes[c].Group.Ports; len(ports) > 0 {
		s.at[n].ports = slices.Concat(s.at[n].ports, ports)
	}
	s.count(c, n, 1, deleted)
}

// Remove takes back Place.
func (s *State) Remove(c, n int32, deleted bool) {
	at := &s.at[n]
	for _, p := range s.Model.Classes[c].Group.Ports {
		if i := slices.Index(at.ports, p); i >= 0 {
			at.ports = slices.Delete(slices.Clone(at.ports), i, i+1)
		}
	}
	s.count(c, n, -1, deleted)
}

// count adds pods of a class to the counts of the domains of a node.
func (s *State) count(c, n int32, pods int64, deleted bool) {
	m, at := s.Model, &s.at[n]
	x := &m.Classes[c]
	for _, q := range x.Needs {
		at.room[q.Resource] -= q.N * pods
	}
	k := &m.kinds[at.kind]
	for _, i := range x.counts {
		if y := &m.counts[i]; (!deleted || y.filter == nil) && y.filter.passes(k) {
			s.counts.add(int(i), s.domains[y.axis][n], pods)
		}
	}
	for _, h := range x.holds {
		s.held.add(h, s.domains[m.holders[h].Axis][n], pods)
	}
	s.changes[n]++
}

// Hold takes room on a node beyond the requests of its pods, by number of resource, or gives it back by sign -1. A list of
// nil is none.
func (s *State) Hold(n int32, more []int64, sign int64) {
	if more == nil {
		return
	}
	for d := range s.at[n].room {
		s.at[n].room[d] -= sign * more[d]
	}
	s.changes[n]++
}

// Close keeps further pods off a node that is about to go. Its pods and the node itself still count.
func (s *State) Close(n int32) {
	s.at[n].closed = true
	s.changes[n]++
}

// Leave takes a node away, once the pods that live on have left it.
func (s *State) Leave(n int32) {
	s.Close(n)
	s.CountNode(n, -1, nil)
}

// CountNode adds a node to the domains of spreads, or takes it off by -1. Domains of a topology key that stay are left as
// they are, e.g. zones in which nodes may be launched; nil for none.
func (s *State) CountNode(n int32, by int64, stays func(key, value string) bool) {
	for c := range s.Model.counts {
		x := &s.Model.counts[c]
		if !x.hard || !x.filter.passes(s.Kind(n)) {
			continue
		}
		d, a := s.domains[x.axis][n], &s.Model.axes[x.axis]
		if d < 0 || stays != nil && int(d) < len(a.values) && stays(a.key, a.values[d]) {
			continue
		}
		s.nodes.add(c, d, by)
	}
}
