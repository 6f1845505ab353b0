package room

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Task asks for sets of nodes to remove so that their pods fill the nodes which are kept.
type Task struct {
	// Nodes may be removed, Fixed stay in any case. Resources is the number of resources.
	Nodes, Fixed []Node
	Resources    int
	Admits       func(pod *corev1.Pod, node string) bool
	// Parts is into how many parts the nodes are divided, each of which is searched by itself.
	Parts int
	// Shares are prices of disruption: each is a share of the price of all nodes, if all of them were disrupted.
	Shares []float64
	// Times is the number of sets that are tried, times the number of nodes.
	Times int
}

// Leave are sets of nodes to remove, one for each price of disruption, without repetitions. After the deadline of the
// context there may be fewer nodes in them.
func Leave(ctx context.Context, q Task) [][]string {
	leave := make([][]string, len(q.Shares))
	for k := range q.Parts {
		s := NewKeepSet(every(q.Nodes, q.Parts, k), every(q.Fixed, q.Parts, k), q.Resources, q.Admits)
		for at, share := range q.Shares {
			if ctx.Err() != nil {
				break
			}
			s.Search(share, at == 0, q.Times)
			leave[at] = append(leave[at], s.Leave()...)
		}
	}
	for i := range leave {
		slices.Sort(leave[i])
	}
	return slices.CompactFunc(leave, slices.Equal)
}

// every are the elements of a list at the index one, one + many, one + 2 many and so on.
func every[T any](list []T, many, one int) []T {
	var out []T
	for i := one; i < len(list); i += many {
		out = append(out, list[i])
	}
	return out
}
