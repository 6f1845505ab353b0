package stock_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/stock"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// launch is one of the pool default with options, given as types, or as the name of a reservation.
func launch(options ...string) scheduling.Launch {
	l := scheduling.Launch{NodePool: "default"}
	for _, name := range options {
		x := scheduling.LaunchOption{InstanceType: name, Zone: "a", CapacityType: offerings.OnDemand}
		if name == "cr" {
			x = scheduling.LaunchOption{InstanceType: "large", Zone: "a", CapacityType: offerings.Reserved, ReservationID: name}
		}
		l.Options = append(l.Options, x)
	}
	return l
}

// left are the options of launches that may be bought beside nodes, nil where the first may not.
func left(s *stock.Stock, nodes []*corev1.Node, launches ...scheduling.Launch) (out [][]string) {
	if _, ok := s.Affords(launches, slices.Values(nodes), scheduling.Flexibility{}); !ok {
		return nil
	}
	for i := range launches {
		var names []string
		for _, x := range launches[i].Options {
			names = append(names, x.ReservationID+x.InstanceType)
		}
		out = append(out, names)
	}
	return out
}

func cores(n int64) st.TypeOption { return st.Capacity(st.Cores(n), st.GiB(8)) }

// Reservations lose what steps buy, and have back what goes; the least that any offering says of one counts.
func TestReservations(t *testing.T) {
	p := scheduling.Problem{
		Catalog:   st.MustCatalog(st.Type("large", cores(4), st.OnDemand("a", 10), st.Reserved("a", 1, "cr", 1)), st.Type("small", cores(2), st.OnDemand("a", 5), st.Reserved("b", 1, "cr", 2))),
		NodePools: []*scheduling.NodePool{st.NodePool("default")},
	}
	s := stock.New(&p)
	assert.Equal(t, [][]string{{"crlarge", "small"}}, left(&s, nil, launch("cr", "small")))
	assert.Nil(t, left(&s, nil, launch("cr"), launch("cr")))
	assert.Equal(t, [][]string{{"crlarge"}, {"large"}}, left(&s, nil, launch("cr"), launch("large", "cr")), "the other launch has the machine")
	d := &scheduling.Delta{}
	require.NoError(t, s.Reserve(map[string]int64{"cr": 1}, d))
	assert.NotNil(t, d.Catalog)
	assert.Nil(t, left(&s, nil, launch("cr")))
	require.NoError(t, s.Reserve(map[string]int64{"cr": -1}, &scheduling.Delta{}))
	assert.NotNil(t, left(&s, nil, launch("cr")))
}

// Limits may be met, and count nodes that are not going and the first options of launches, or any one other option (P68 to P73).
func TestLimits(t *testing.T) {
	large, small := st.Type("large", cores(4), st.OnDemand("a", 10)), st.Type("small", cores(2), st.OnDemand("a", 5))
	p := scheduling.Problem{Catalog: st.MustCatalog(large, small), NodePools: []*scheduling.NodePool{st.NodePool("default", st.Limit(st.Cores(8)), st.MaxNodes(3))}}
	s := stock.New(&p)
	node := func(name string, opts ...st.NodeOption) *corev1.Node {
		return st.Node(name, append([]st.NodeOption{st.OfPool("default"), st.OfType(large, large.Offerings[0])}, opts...)...)
	}
	assert.Equal(t, [][]string{{"small", "large"}, {"small", "large"}}, left(&s, nil, launch("small", "large"), launch("small", "large")))
	assert.Equal(t, [][]string{{"small"}, {"small"}}, left(&s, []*corev1.Node{node("n")}, launch("small", "large"), launch("small", "large")))
	assert.Equal(t, [][]string{{"large"}}, left(&s, []*corev1.Node{node("n"), node("going", st.Deleting()), node("other", st.Label(scheduling.NodePoolLabel, "other"))}, launch("large")))
	assert.Nil(t, left(&s, []*corev1.Node{node("n"), node("m")}, launch("small")))
	assert.Nil(t, left(&s, []*corev1.Node{node("n"), node("m"), node("o")}, launch("small")), "a pool beyond its limit cannot launch")
	assert.Nil(t, left(&s, nil, launch("small"), launch("small"), launch("small"), launch("small")), "nodes are counted")
}
