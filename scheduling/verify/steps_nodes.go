package verify

import (
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// standing is a node that is there.
type standing struct {
	name    string
	node    *corev1.Node
	machine *disruption.Machine
	pool    *pool // nil where no pool that is there owns it
	// pods are those there that have not finished; only seat changes them.
	pods []*corev1.Pod
	// removal is what removing the node counts, once that is known for these pods.
	removal *float64
	// price is what it is expected to cost, bare what its machine costs, in nano-USD, where
	// that is known.
	price, bare int64
	priced      bool
	// fresh is set for a machine that a step has launched.
	fresh bool
}

// seat says which pods are there now.
func (s *standing) seat(pods []*corev1.Pod) { s.pods, s.removal = pods, nil }

// fleet is how many nodes of a pool budgets count, those that have become ready once and are
// not shut down, and how many of them do not work or are being removed.
type fleet struct{ counted, away int }

func (g *ground) newStanding(node *corev1.Node) *standing {
	s := &standing{name: node.Name, node: node, machine: g.machineOf(node.Name), pool: g.pools[poolOf(node)]}
	bare, expected, priced := g.priceOf(node)
	s.bare, s.price, s.priced = int64(bare), int64(expected), priced
	return s
}

// enlist takes in a node that has its station.
func (g *ground) enlist(s *standing) {
	g.nodes[s.name] = s
	i, _ := g.find(s.name)
	g.row = slices.Insert(g.row, i, s)
	if leaving(s.node) {
		g.leavers = append(g.leavers, s)
	}
	g.count(s, 1)
	g.crowd.enter(&host{place: &g.stations[s.name].place, object: "node/" + s.name})
}

// retire removes a node, and what its pool's limits count of it.
func (g *ground) retire(s *standing) {
	g.uncharge(s)
	g.crowd.leave(g.crowd.nodes[s.name])
	g.count(s, -1)
	i, _ := g.find(s.name)
	g.row = slices.Delete(g.row, i, i+1)
	delete(g.nodes, s.name)
	delete(g.stations, s.name)
}

// find is where a node is in the row, or belongs.
func (g *ground) find(name string) (int, bool) {
	return slices.BinarySearchFunc(g.row, name, func(s *standing, name string) int { return strings.Compare(s.name, name) })
}

// count notes n nodes more such as this one for the budgets of its pool.
func (g *ground) count(s *standing, n int) {
	if inFlight(s.node) || s.machine.Terminating {
		return
	}
	if g.fleets[s.pool] == nil {
		g.fleets[s.pool] = &fleet{}
	}
	g.fleets[s.pool].counted += n
	if !readyNode(s.node) || leaving(s.node) {
		g.fleets[s.pool].away += n
	}
}

// rebuild works a node out anew from the pods on it.
func (g *ground) rebuild(s *standing) {
	g.uncharge(s)
	g.stations[s.name] = g.newStation(s.node, s.pods)
}

// uncharge takes back what newStation has counted of a node for the limits of its pool.
func (g *ground) uncharge(s *standing) {
	if s.pool == nil || leaving(s.node) || g.stations[s.name] == nil {
		return
	}
	capacity := roundedUp(s.node.Status.Capacity)
	if inFlight(s.node) {
		fillIn(capacity, roundedDown(s.node.Status.Allocatable), s.node, s.pool)
	}
	s.pool.usage = s.pool.usage.minus(capacity).minus(amounts{scheduling.NodesResource: big.NewInt(1)})
}

// sit puts a pod onto a node.
func (g *ground) sit(pod *corev1.Pod, node string) {
	name, k := podName(pod), g.crowd.flockOf(g.faceOf(pod), apartOf(pod))
	g.bodies[name], g.seats[name], g.flocks[name] = pod, node, k
	k.sit(g.crowd.nodes[node])
	if g.roster != nil {
		g.roster.call(g.world, pod, node, 1)
	}
}

// drop takes a pod out of the cluster.
func (g *ground) drop(pod *corev1.Pod) {
	name := podName(pod)
	g.storage.release(pod)
	g.flocks[name].rise(g.crowd.nodes[g.seats[name]])
	if g.roster != nil {
		g.roster.call(g.world, pod, g.seats[name], -1)
	}
	delete(g.seats, name)
	delete(g.bodies, name)
	delete(g.flocks, name)
}
