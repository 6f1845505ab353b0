package verify

import (
	"encoding/binary"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// verdicts are what is known about machines that differ in price alone: the least at
// which one passed, and the highest at which one failed.
type verdicts struct {
	passed, failed offerings.Price
	any            bool // whether one passed
}

// judged answers from what is known, or else by judging.
func (pr *assignmentProof) judged(key []byte, price offerings.Price, judge func() bool) bool {
	v := pr.known[string(key)]
	if v == nil {
		v = &verdicts{failed: -1}
		pr.known[string(key)] = v
	}
	switch {
	case v.any && price >= v.passed:
		return true
	case price <= v.failed:
		return false
	case judge():
		v.passed, v.any = price, true
		return true
	default:
		v.failed = price
		return false
	}
}

// bearable reports whether the machine holds no more worth than it costs.
func (pr *assignmentProof) bearable(m *machine) bool {
	// With as few daemons as possible, and for all pods that fit, whether they may be
	// there or not.
	room := pr.vector(m.room())
	price, ok := pr.charged(pr.objective(m.kind, m.offering), m.offering.Zone)
	if !ok {
		return false
	}
	if pr.everybodyWithin(room, price) {
		return true
	}
	rooms := pr.roomsByConstraint(m)
	return pr.judged(constrainedKey(room, rooms), price, func() bool {
		return !slices.ContainsFunc(pr.loads(m, rooms), func(l load) bool { return !pr.bearableLoad(l, price) })
	})
}

// constrainedKey is equal for machines with as much room that have the same rooms for the pods of
// each constraint.
func constrainedKey(room []int64, rooms [][][]int64) []byte {
	key := appendRoom([]byte("by constraint"), room)
	for _, list := range rooms {
		key = binary.AppendUvarint(key, uint64(len(list)))
		for _, r := range list {
			key = appendRoom(key, r)
		}
	}
	return key
}

func appendRoom(b []byte, room []int64) []byte {
	for _, n := range room {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// loads returns what the machine may hold: one load for each room that it may have,
// with every pod that could be alone on it in any of them.
func (pr *assignmentProof) loads(m *machine, byConstraint [][][]int64) []load {
	var rooms [][]int64
	for _, list := range byConstraint {
		for _, room := range list {
			if !slices.ContainsFunc(rooms, func(r []int64) bool { return slices.Equal(r, room) }) {
				rooms = append(rooms, room)
			}
		}
	}
	loads := make([]load, 0, len(rooms))
	for _, room := range rooms {
		l := pr.loadOf(pr.vector(m.room()), func(s *sort, c int) bool {
			return slices.ContainsFunc(byConstraint[c], func(r []int64) bool { return fits(s.size, r) })
		})
		for d, n := range room {
			l.room[d] = max(0, min(l.room[d], n))
		}
		loads = append(loads, l)
	}
	return loads
}

// roomsByConstraint are the rooms that the machine may have for the pods of each
// constraint.
func (pr *assignmentProof) roomsByConstraint(m *machine) [][][]int64 {
	rooms := make([][][]int64, len(pr.constraints))
	settled := len(pr.daemonQuestions(m)) == 0
	for i, c := range pr.constraints {
		rooms[i] = pr.roomsOf(m, c, settled)
	}
	return rooms
}

// roomsOf is roomsFor without the pod's own requests: the rooms that the machine may
// have when a pod with such constraints sits there.
func (pr *assignmentProof) roomsOf(m *machine, t *tenant, settled bool) [][]int64 {
	if _, busy := clash(t.ports, m.daemonPorts); busy || len(untolerated(m.taints, t.pod.Spec.Tolerations)) > 0 || !m.reaches(t.mounts) {
		return nil
	}
	var rooms [][]int64
	for _, alternative := range t.wants {
		if !m.admits(selector{alternative}) {
			continue
		}
		if settled {
			return [][]int64{pr.vector(m.room())}
		}
		for _, c := range pr.choicesOf(m, alternative.exprs) {
			daemons, ports := pr.daemonsAt(c)
			if _, busy := clash(t.ports, ports); !busy {
				rooms = append(rooms, pr.vector(m.allocatable.minus(daemons)))
			}
		}
	}
	return rooms
}
