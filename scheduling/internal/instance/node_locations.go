package instance

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// nodeLocations are all nodes as topology sees them, with nodes that receive no pods, because the pods on them still
// count. It is reused while nodes and NodePools are equal; only columns grows.
type nodeLocations struct {
	nodes   []*corev1.Node // in the order of the problem
	pools   []*scheduling.NodePool
	places  []locationNode // sorted by node name
	at      map[string]int
	columns map[string]*placeColumn
}

// locationNode is a node with the labels and taints that planned pods see.
type locationNode struct {
	node   *corev1.Node
	Labels map[string]string
	taints []corev1.Taint
}

// placeColumn is a label over all places: numbers holds, by place, the index in the sorted Values; -1 where the label is
// absent.
type placeColumn struct {
	numbers []int32
	Values  []string
}

// nodeLocationsOf returns the nodes of an instance as places, from memory where nodes and NodePools are equal.
func nodeLocationsOf(c *Instance) *nodeLocations {
	k := c.Facts.Memory.nodeLocations
	if k != nil && slices.Equal(k.nodes, c.Facts.Problem.Nodes) && slices.Equal(k.pools, c.Facts.Problem.NodePools) {
		return k
	}
	k = &nodeLocations{
		nodes: c.Facts.Problem.Nodes, pools: c.Facts.Problem.NodePools, at: make(map[string]int, len(c.Facts.Problem.Nodes)), columns: map[string]*placeColumn{},
		places: make([]locationNode, 0, len(c.Facts.Problem.Nodes)),
	}
	for _, node := range c.Facts.Problem.Nodes {
		k.places = append(k.places, locationNode{
			node: node, Labels: nodeLabels(node), taints: EffectiveTaints(node, c.PoolNamed(node.Labels[scheduling.NodePoolLabel])),
		})
	}
	slices.SortFunc(k.places, func(a, b locationNode) int { return strings.Compare(a.node.Name, b.node.Name) })
	for i := range k.places {
		k.at[k.places[i].node.Name] = i
	}
	c.Facts.Memory.nodeLocations = k
	return k
}

// fork is a copy to which columns may be added without changing k.
func (k *nodeLocations) fork() *nodeLocations {
	if k == nil {
		return nil
	}
	c := *k
	c.columns = maps.Clone(k.columns)
	return &c
}

// Column returns the column of a label. It is built at the first call.
func (k *nodeLocations) Column(key string) *placeColumn {
	if c, ok := k.columns[key]; ok {
		return c
	}
	c := &placeColumn{numbers: make([]int32, len(k.places))}
	texts := make([]string, len(k.places))
	for i := range k.places {
		value, ok := k.places[i].Labels[key]
		if c.numbers[i] = -1; ok {
			c.numbers[i], texts[i] = 0, value
			if i == 0 || c.numbers[i-1] < 0 || texts[i-1] != value {
				c.Values = append(c.Values, value)
			}
		}
	}
	c.Values = podspec.Compacted(c.Values)
	for i, text := range texts {
		if c.numbers[i] == 0 {
			n, _ := slices.BinarySearch(c.Values, text)
			c.numbers[i] = int32(n)
		}
	}
	k.columns[key] = c
	return c
}

// linkBins fills BinOf and PlaceOf.
func linkBins(l *LocationIndex) {
	l.BinOf, l.PlaceOf = make([]int32, len(l.Places)), make([]int32, len(l.In.Nodes))
	// Bins are the ready nodes by name, then the nodes in flight by name, so two cursors suffice.
	ready := slices.IndexFunc(l.In.Nodes, func(x *ExistingNode) bool { return x.flying })
	if ready < 0 {
		ready = len(l.In.Nodes)
	}
	next := [2]int{0, ready}
	for n := range l.Places {
		l.BinOf[n] = -1
		for k, end := range [2]int{ready, len(l.In.Nodes)} {
			if at := next[k]; at < end && l.In.Nodes[at].Node == l.Places[n].node {
				l.BinOf[n], l.PlaceOf[at] = int32(at), int32(n)
				next[k]++
			}
		}
	}
}
