package prove

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// freeRoom is the free room of count existing nodes that are equal in room, admitted groups and domain.
type freeRoom struct {
	room   []int64 // with surrogate resources
	column int
	domain int // 0 in a bound without domains
	count  int64
	first  int // number of the first such node
}

// mostFreeRooms bounds the kinds of existing nodes in a bound, mostDomainRooms those in a bound by domains. The latter
// is higher, because rounding rooms up lowers the bound, and domains gain less than that.
const mostFreeRooms, mostDomainRooms = 128, 1_024

// addNodes adds the free room of existing nodes. Where there are too many kinds, rooms are rounded up, which only lowers
// the bound.
func (pr *prover) addNodes() {
	rooms := pr.fewRooms(mostFreeRooms, func(*instance.ExistingNode) int { return 0 })
	for i := range rooms {
		r := &rooms[i]
		users := pr.admitted(r.column)
		if !pr.usable(r.room, users) {
			continue
		}
		pr.market.Supplies = append(pr.market.Supplies, bound.Supply{Count: r.count, Members: []bound.Choice{{Cap: r.room, Users: users}}})
	}
}

// fewRooms lists the free room of existing nodes as at most atMost kinds, with rooms rounded up as far as needed. domain
// is the domain of a node.
func (pr *prover) fewRooms(atMost int, domain func(*instance.ExistingNode) int) []freeRoom {
	most := make([]int64, pr.market.Dims)
	for parts := int64(firstParts); ; parts /= fewerParts {
		var rooms []freeRoom
		var name []byte
		index, highest := map[string]int{}, make([]int64, len(most))
		pr.freeRooms(domain, func(r freeRoom) {
			for d, n := range r.room {
				if step := most[d]/parts + 1; n <= math.MaxInt64-step {
					r.room[d] = (n + step - 1) / step * step
				}
				highest[d] = max(highest[d], r.room[d])
			}
			if len(rooms) > atMost && parts > 1 {
				return
			}
			name = binary.AppendVarint(binary.AppendVarint(name[:0], int64(r.column)), int64(r.domain))
			for _, n := range r.room {
				name = binary.AppendVarint(name, n)
			}
			at, known := index[string(name)]
			if !known {
				at = len(rooms)
				index[string(name)], rooms = at, append(rooms, r)
				rooms[at].room, rooms[at].count = slices.Clone(r.room), 0
			}
			rooms[at].count++
		})
		if most = highest; len(rooms) <= atMost || parts == 1 {
			return rooms
		}
	}
}

// firstParts is the number of steps, as parts of the largest room, to which rooms are first rounded up; each further try
// has fewerParts times fewer.
const firstParts, fewerParts = 64, 4

// freeRooms calls f with the free room of each existing node on which the smallest request fits, capped by the sum of
// all requests. f must copy the room to keep it.
func (pr *prover) freeRooms(domain func(*instance.ExistingNode) int, f func(freeRoom)) {
	least, all := slices.Repeat([]int64{math.MaxInt64}, pr.market.Dims), make([]int64, pr.market.Dims)
	for i := range pr.market.Classes {
		c := &pr.market.Classes[i]
		for d := range least {
			n := c.Size[d]
			least[d] = min(least[d], n)
			if n > 0 && c.Count > (math.MaxInt64-all[d])/n {
				all[d] = math.MaxInt64
			} else {
				all[d] += n * c.Count
			}
		}
	}
	room := make([]int64, len(all))
	last := freeRoom{first: -1}
	for i, node := range pr.in.Nodes {
		copy(room, node.Room)
		for k := range pr.surrogateResources {
			room[pr.in.Dims()+k] = pr.surrogateResources[k].room(node.Room, i)
		}
		if !roomier(room, least) {
			continue
		}
		for d, n := range all {
			room[d] = min(room[d], n)
		}
		r := freeRoom{room: room, domain: domain(node), first: i}
		if last.first >= 0 && slices.Equal(pr.in.Suits[i], pr.in.Suits[last.first]) {
			r.column = last.column // because nodes next to each other are often equal
		} else {
			r.column = pr.in.Columns.Number(pr.in.Suits[i])
		}
		last = r
		f(r)
	}
}
