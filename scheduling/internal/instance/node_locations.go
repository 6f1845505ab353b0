package instance

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// nodeLocations is the nodes as places where pods may be, those included that receive none any
// more. It stays as it is from one plan to the next while nodes and pools do; what is
// known of labels only grows.
type nodeLocations struct {
	nodes   []*corev1.Node // as they stand in the problem
	pools   []*scheduling.NodePool
	places  []locationNode // by name
	at      map[string]int
	columns map[string]*placeColumn
}

// locationNode is a node, those included that receive no pods any more.
type locationNode struct {
	node   *corev1.Node
	Labels map[string]string
	taints []corev1.Taint
}

// placeColumn is one label over all places: the place of its value among the sorted ones,
// -1 where it is absent.
type placeColumn struct {
	numbers []int32
	Values  []string
}

// nodeLocationsOf returns the nodes as places.
func nodeLocationsOf(c *Instance) *nodeLocations {
	k := c.Memory.nodeLocations
	if k != nil && slices.Equal(k.nodes, c.Problem.Nodes) && slices.Equal(k.pools, c.Problem.NodePools) {
		return k
	}
	k = &nodeLocations{
		nodes: c.Problem.Nodes, pools: c.Problem.NodePools, at: make(map[string]int, len(c.Problem.Nodes)), columns: map[string]*placeColumn{},
		places: make([]locationNode, 0, len(c.Problem.Nodes)),
	}
	for _, node := range c.Problem.Nodes {
		k.places = append(k.places, locationNode{
			node: node, Labels: nodeLabels(node), taints: EffectiveTaints(node, c.PoolNamed(node.Labels[scheduling.NodePoolLabel])),
		})
	}
	slices.SortFunc(k.places, func(a, b locationNode) int { return strings.Compare(a.node.Name, b.node.Name) })
	for i := range k.places {
		k.at[k.places[i].node.Name] = i
	}
	c.Memory.nodeLocations = k
	return k
}

// fork is a country that may learn more of labels without changing k.
func (k *nodeLocations) fork() *nodeLocations {
	if k == nil {
		return nil
	}
	c := *k
	c.columns = maps.Clone(k.columns)
	return &c
}

// Column returns the column of a label.
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

// linkBins finds out which of the engine's bins each place is, and which places each bin is.
func linkBins(l *LocationIndex) {
	l.BinOf, l.PlaceOf = make([]int32, len(l.Places)), make([]int32, len(l.In.Nodes))
	// Nodes that are ready and those in flight both stand in the order of places.
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
