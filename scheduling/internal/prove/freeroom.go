package prove

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/bound"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
)

// freeRoom is running nodes that have as much room for the same pods.
type freeRoom struct {
	room   []int64 // as the market measures it
	column int
	domain int // 0 where domains are not told apart
	count  int64
	first  int // number of one of them
}

// mostFreeRooms bounds how many kinds of running nodes a bound tells apart, mostDomainRooms those
// in all domains of one that tells domains apart: beside nodes that count as larger than they are it
// stays far below the price, and most work goes into bounds that do not come near it.
const mostFreeRooms, mostDomainRooms = 128, 1_024

// addNodes adds the free room of running nodes. Where no two of many nodes are alike it
// counts them as somewhat larger than they are.
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

// fewRooms lists what running nodes have, so many kinds at most: as some larger than they are
// if there are too many. Nodes that are equal in that are one.
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

// Rooms are taken as they are at first, then rounded up to parts of what the largest has: firstParts
// parts divided by fewerParts, and so many times fewer ones again and again.
const firstParts, fewerParts = 64, 4

// freeRooms calls f with what each running node has that is enough for the least request of
// every resource, and no more than all pods request. The room is f's only while it runs.
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
			r.column = last.column // nodes that are neighbours are often alike
		} else {
			r.column = pr.in.Columns.Number(pr.in.Suits[i])
		}
		last = r
		f(r)
	}
}
