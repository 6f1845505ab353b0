package compile

import (
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
)

// nodeTable is the nodes as they were ready to receive pods.
type nodeTable struct {
	names    []corev1.ResourceName
	daemons  []*offers.Daemon
	pools    []*scheduling.NodePool
	catalogs []*instancetypes.Catalog
	shops    map[string]*instancetypes.Catalog
	hosts    []*Host
	nodes    []*ExistingNode // by host; nil for those that receive none
	ordered  []*ExistingNode // those that receive some, as [compiler.existing] returns them
	// rooms are in order from the second plan on: one alone would not gain by it.
	rooms   *model.Rooms
	arrange sync.Once
}

// suits reports whether what was worked out for nodes still holds for those that have
// not changed.
func (r *nodeTable) suits(c *Compiler) bool {
	return r != nil && slices.Equal(r.names, c.Table.Names) && slices.Equal(r.pools, c.Problem.NodePools) &&
		slices.Equal(r.catalogs, CatalogsOf(c.Problem)) && maps.Equal(r.shops, c.Problem.PoolCatalogs) &&
		sameDaemons(r.daemons, c.Daemons)
}

// inOrder is the room of the nodes in order.
func (r *nodeTable) inOrder(dims int) *model.Rooms {
	r.arrange.Do(func() { r.rooms = model.NewRooms(dims, r.roomOf()) })
	return r.rooms
}

// orderedAs is the same, made of that of a roll in which most nodes are the same.
func (r *nodeTable) orderedAs(old *nodeTable, dims int) *model.Rooms {
	known := old.inOrder(dims)
	r.arrange.Do(func() {
		r.rooms = known.Renewed(numbersIn(r.ordered, old.ordered, (*ExistingNode).compare), r.roomOf())
	})
	return r.rooms
}

// roomOf is the room of each node.
func (r *nodeTable) roomOf() [][]int64 {
	out := make([][]int64, len(r.ordered))
	for i, x := range r.ordered {
		out[i] = x.Room
	}
	return out
}

// numbersIn is the place of each of some things in a list of such things, -1 where it is not. Both
// are in order.
func numbersIn[T comparable](list, things []T, compare func(a, b T) int) []int32 {
	out := make([]int32, len(things))
	at := 0
	for i, x := range things {
		for at < len(list) && list[at] != x && compare(list[at], x) <= 0 {
			at++
		}
		if out[i] = -1; at < len(list) && list[at] == x {
			out[i] = int32(at)
			at++
		}
	}
	return out
}

// compare orders nodes as [compiler.existing] returns them.
func (x *ExistingNode) compare(y *ExistingNode) int {
	if x.flying != y.flying {
		if y.flying {
			return -1
		}
		return 1
	}
	return strings.Compare(x.host.Name, y.host.Name)
}
