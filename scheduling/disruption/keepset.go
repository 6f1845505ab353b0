package disruption

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/eviction"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/room"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

const (
	// partNodes is the size of the parts in which keep sets are chosen in clusters of more than someNodes nodes.
	partNodes = 100
	// setTimes is the number of sets that are tried, times the number of nodes.
	setTimes = 200_000
)

// keepShares are prices of disruption: each is a share of the price of all nodes, if all of them were disrupted.
func keepShares() []float64 { return []float64{0.1, 0.05, 0.03, 0.02, 0.014} }

// keepSets are sets of nodes to remove so that their pods fill the nodes which are kept, one for each price of
// disruption.
func (x *search) keepSets(ctx context.Context) [][]string {
	order, mine := x.byWaste(), map[string]bool{}
	for i := range order {
		mine[order[i].name] = true
	}
	fixed := x.state.rooms(mine)
	shares, parts, times := keepShares(), 1, setTimes
	if len(order) > someNodes {
		shares, parts, times = shares[2:3], (len(order)+partNodes-1)/partNodes, 0
	}
	nodes, stay := x.roomsOf(order), make([]room.Node, len(fixed.Names))
	for i, name := range fixed.Names {
		stay[i] = room.Node{Name: name, Free: fixed.Free[i]}
	}
	admits := func(pod *corev1.Pod, node string) bool { return x.state.landing.Suits(podspec.PodName(pod), node) }
	return room.Leave(ctx, room.Task{Nodes: nodes, Fixed: stay, Resources: x.state.requests.Resources(), Admits: admits, Parts: parts, Shares: shares, Times: times})
}

// roomsOf are nodes with their free capacity and reschedulable pods. The value of a pod is the mean dual value of
// pods with the same requests.
func (x *search) roomsOf(order []rankedCandidate) []room.Node {
	sum, n := map[*int64]float64{}, map[*int64]float64{}
	for _, name := range x.state.names() {
		for _, pod := range x.state.byName[name].pods {
			size := x.state.requests.Of(podspec.PodName(pod))
			if worth, ok := x.target.podValues[podspec.PodName(pod)]; ok && len(size) > 0 {
				sum[&size[0]], n[&size[0]] = sum[&size[0]]+float64(worth), n[&size[0]]+1
			}
		}
	}
	out := make([]room.Node, len(order))
	for i, r := range order {
		out[i] = room.Node{Name: r.name, Free: x.state.freeCapacity(r.candidate), Price: float64(r.price), Cost: r.cost}
		for _, pod := range r.pods {
			size := x.state.requests.Of(podspec.PodName(pod))
			if eviction.Reschedulable(pod) && len(size) > 0 {
				out[i].Pods = append(out[i].Pods, room.Pod{Object: pod, Size: size, Worth: sum[&size[0]] / max(n[&size[0]], 1)})
			}
		}
	}
	return out
}
