package instance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// compiled compiles three equal pods and one of another size, with two zones on sale.
func compiled(t *testing.T, opts ...schedulingtest.PodOption) *instance.Instance {
	t.Helper()
	p := scheduling.Problem{
		Pods: append(
			schedulingtest.Pods(3, "web", append(opts, schedulingtest.Requests(schedulingtest.MilliCPU(900)))...),
			schedulingtest.Pod("batch", schedulingtest.Requests(schedulingtest.MilliCPU(400)))),
		NodePools: []*scheduling.NodePool{schedulingtest.NodePool("default")},
		Catalog: schedulingtest.MustCatalog(schedulingtest.Type("m7i.large",
			schedulingtest.Capacity(schedulingtest.Cores(2), schedulingtest.GiB(8)),
			schedulingtest.OnDemand("us-east-1a", schedulingtest.Cents(10)),
			schedulingtest.OnDemand("us-east-1b", schedulingtest.Cents(12)))),
	}
	facts, err := instance.NewFacts(&p, &scheduling.Policy{})
	require.NoError(t, err)
	return facts.Compile(false)
}

// spread is a zone spread of the pods that compiled names web.
func spread() schedulingtest.PodOption {
	return schedulingtest.Spread("topology.kubernetes.io/zone")
}

func TestEqualPodsAreOneClass(t *testing.T) {
	c := compiled(t)
	require.Len(t, c.Planned, 2)
	assert.Equal(t, int64(4), c.PodCount())
	assert.Equal(t, c.ClassByPod()["default/web-1"], c.ClassByPod()["default/web-3"])
	assert.NotEqual(t, c.ClassByPod()["default/web-1"], c.ClassByPod()["default/batch"])
}

// Without topology terms each class is one part, and the dearer zone is no option: it has the room of the cheaper one.
func TestUnsitedPackingHasOnePartAClass(t *testing.T) {
	c := compiled(t)
	p := c.Unsited()
	require.Len(t, p.Parts, len(c.Planned))
	for i := range p.Parts {
		assert.Equal(t, []instance.Member{{Class: i, N: 1}}, p.Parts[i].Members)
		assert.Equal(t, int64(len(c.Planned[i].Pods)), p.Parts[i].Count)
		assert.False(t, p.Parts[i].Pinned)
	}
	assert.Nil(t, p.Locations)
	require.Len(t, p.Model.Options, 1)
	assert.Equal(t, "us-east-1a", c.Offers.Offers[p.Bought[0].Offer].Offering.Zone)
	require.Len(t, p.Lists, 1)
	assert.Len(t, p.Lists[0], 2, "a launch may still list the dearer zone")
}

// Of pods with a zone spread nothing is bought before their zones are chosen.
func TestTiedProblemHasNoOptionsWithoutSites(t *testing.T) {
	c := compiled(t, spread())
	assert.True(t, c.HasTopologyTerms())
	assert.Empty(t, c.Unsited().Model.Options)
}

// A part at a site may use the offers there and no others, and the compiled problem stays as it was.
func TestPackingAtASiteBuysThere(t *testing.T) {
	c := compiled(t, spread())
	l := c.Locations()
	zones := l.Partition([]int{l.KeyAxis("topology.kubernetes.io/zone")})
	require.Equal(t, 2, zones.Sites)
	listed := len(c.Offered[0].List)
	web := c.ClassByPod()["default/web-1"]
	for site := range zones.Sites {
		p := instance.NewPacking(l, &instance.Sites{
			Parts:        []instance.Part{{Members: []instance.Member{{Class: web, N: 1}}, Request: c.Planned[web].Requests, Count: 3, Site: site, Pinned: true}},
			FeasibleSets: []instance.FeasibleSet{{Groups: []int{c.Planned[web].Group}, Part: zones, Site: site, Sold: soldAt(l, zones, site)}},
		})
		require.Len(t, p.Model.Options, 1)
		b := p.Bought[0]
		assert.EqualValues(t, site, zones.At[l.LocationOf(b.Template, b.Offer)])
		assert.Len(t, p.Lists[0], 1)
		assert.Equal(t, int64(3), p.Placed(model.Solution{Unplaced: []int64{0}})[web])
		assert.Equal(t, int64(1), p.Placed(model.Solution{Unplaced: []int64{2}})[web])
	}
	assert.Len(t, c.Offered[0].List, listed)
	assert.Empty(t, c.Unsited().Model.Options)
}

// soldAt are, by template, the offers at a site.
func soldAt(l *instance.LocationIndex, p *instance.Partition, site int) []model.Bits {
	out := make([]model.Bits, len(l.In.Templates))
	for ti := range out {
		out[ti] = model.NewBits(len(l.In.Offers.Offers))
		for _, o := range l.In.Offered[ti].List {
			if int(p.At[l.LocationOf(ti, o.Offer)]) == site {
				out[ti].Set(o.Offer)
			}
		}
	}
	return out
}

// The engine's options of another packing stand for other purchases; the first packing keeps its own.
func TestBuyingReplacesPurchases(t *testing.T) {
	p := compiled(t).Unsited()
	first := p.Bought[0]
	other := first
	other.Offer = 1 - first.Offer
	q := p.Buying(append(p.Bought[:0:0], other))
	assert.Equal(t, other, q.Bought[0])
	assert.Equal(t, first, p.Bought[0])
	assert.Same(t, p.Model, q.Model)
}

// Limits that count pods over several machines count each pod of a unit.
func TestHeldCountsPodsOfUnits(t *testing.T) {
	p := &instance.Packing{Parts: []instance.Part{{Members: []instance.Member{{Class: 0, N: 2}, {Class: 1, N: 1}}}}}
	held := p.Held(model.Solution{Nodes: []model.Node{{N: 5, Items: []model.Item{{Class: 0, N: 3}}}}})
	assert.Equal(t, [][]instance.Member{{{Class: 0, N: 6}, {Class: 1, N: 3}}}, held)
}
