package instancetypes_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// labelled is a node with labels such as "zone=a id=use1-az1 type=m.large by=spot".
func labelled(name, labels string) *corev1.Node {
	keys := map[string]string{
		"zone": corev1.LabelTopologyZone, "id": offerings.ZoneIDLabel, "region": corev1.LabelTopologyRegion,
		"type": corev1.LabelInstanceTypeStable, "by": offerings.CapacityTypeLabel,
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for _, pair := range strings.Fields(labels) {
		key, value, _ := strings.Cut(pair, "=")
		node.Labels[keys[key]] = value
	}
	return node
}

// zonal is a catalog of one type that is sold in zones given as "a=az1 b=": names and ids. Its
// prices are 1, 2, 3 and so on.
func zonal(t *testing.T, zones string) *instancetypes.Catalog {
	t.Helper()
	x := &instancetypes.InstanceType{Name: "m.large", Capacity: resources("cpu=2 memory=8Gi")}
	for i, pair := range strings.Fields(zones) {
		name, id, _ := strings.Cut(pair, "=")
		o := offerings.Offering{Zone: name, CapacityType: offerings.OnDemand, Price: offerings.Price(i + 1)}
		if id != "" {
			o.Labels = map[string]string{offerings.ZoneIDLabel: id}
		}
		x.Offerings = append(x.Offerings, o)
	}
	c, err := instancetypes.NewCatalog(x)
	require.NoError(t, err)
	return c
}

// byPrice lists the zones of a catalog in the order of prices.
func byPrice(c *instancetypes.Catalog) string {
	x, _ := c.Get("m.large")
	list := slices.Clone(x.Offerings)
	slices.SortFunc(list, func(a, b offerings.Offering) int { return int(a.Price - b.Price) })
	var out []string
	for _, o := range list {
		out = append(out, o.Zone)
	}
	return strings.Join(out, " ")
}

func TestZonesAreCalledWhatTheAccountCallsThem(t *testing.T) {
	for name, tt := range map[string]struct{ zones, told, want string }{
		"nothing is told":                     {"a=az1 b=az2", "", "a b"},
		"all are told":                        {"a=az1 b=az2 c=az3", "az1=b az2=c az3=a", "b c a"},
		"as they are":                         {"a=az1 b=az2", "az1=a az2=b", "a b"},
		"what is not told takes what is left": {"a=az1 b=az2 c=az3", "az1=b", "b a c"},
		"several take it in order":            {"a=az1 b=az2 c=az3 d=az4", "az1=c az2=d", "c d a b"},
		"a name that the catalog lacks":       {"a=az1 b=az2", "az1=f", "f b"},
		"an id that the catalog lacks":        {"a=az1 b=az2 c=az3", "az9=a az1=x", "x b c"},
		"with a name that another has":        {"a=az1 b=az2", "az9=b", "a az2"},
		"a catalog without ids has names":     {"a= b=", "az1=a az2=b", "a b"},
		"a zone without an id gives way":      {"a=az1 b=", "az1=b", "b a"},
	} {
		t.Run(name, func(t *testing.T) {
			names := map[string]string{}
			for _, pair := range strings.Fields(tt.told) {
				id, zone, _ := strings.Cut(pair, "=")
				names[id] = zone
			}
			c := zonal(t, tt.zones)
			made, err := c.WithZones(names)
			require.NoError(t, err)
			assert.Equal(t, tt.want, byPrice(made))
			x, _ := made.Get("m.large")
			assert.NoError(t, x.Validate())
			assert.Equal(t, byPrice(zonal(t, tt.zones)), byPrice(c), "the catalog itself stays as it is")
		})
	}
}

// Zone names by id are used as given, and no two zones get the same name.
func TestZonesNeverClash(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		var zones []string
		for i := range 1 + r.IntN(6) {
			id := fmt.Sprintf("az%d", i)
			if r.IntN(5) == 0 {
				id = ""
			}
			zones = append(zones, fmt.Sprintf("%c=%s", 'a'+i, id))
		}
		names := map[string]string{}
		letters := r.Perm(8)
		for i, letter := range letters[:r.IntN(8)] {
			names[fmt.Sprintf("az%d", (i*3)%8)] = string(rune('a' + letter))
		}
		made, err := zonal(t, strings.Join(zones, " ")).WithZones(names)
		require.NoError(t, err)
		x, _ := made.Get("m.large")
		seen := map[string]bool{}
		for _, o := range x.Offerings {
			assert.False(t, seen[o.Zone], "seed %d: %s, told %v: two zones %s", seed, zones, names, o.Zone)
			seen[o.Zone] = true
			if name, told := names[o.Labels[offerings.ZoneIDLabel]]; told {
				assert.Equal(t, name, o.Zone, "seed %d", seed)
			}
		}
		require.Len(t, x.Offerings, len(zones))
	}
}

func TestCatalogsThatContradictThemselvesInZones(t *testing.T) {
	c := zonal(t, "a=az1 b=az1")
	_, err := c.WithZones(map[string]string{"az1": "c"})
	require.EqualError(t, err, "instance type m.large: offerings[1].labels[topology.k8s.aws/zone-id]: \"az1\": is the id of zone b, but elsewhere az1 is that of a")
}

func TestNodesTellZoneNames(t *testing.T) {
	names, err := instancetypes.ZoneNames([]*corev1.Node{
		nil, labelled("n1", "zone=a id=az1"), labelled("n2", "zone=b"), labelled("n3", "id=az3"), labelled("n4", "zone=c id=az6"), labelled("n5", "zone=a id=az1"),
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"az1": "a", "az6": "c"}, names)

	_, err = instancetypes.ZoneNames([]*corev1.Node{labelled("n1", "zone=a id=az1"), labelled("n2", "zone=b id=az1"), labelled("n3", "zone=a id=az2")})
	require.EqualError(t, err, `node n2: topology.k8s.aws/zone-id: az1 is the id of zone b, but on node n1 az1 is that of a
node n3: topology.k8s.aws/zone-id: az2 is the id of zone a, but on node n1 az1 is that of a`)
}

// A running node proves that its type is on sale in its zone.
func TestRunningNodesProveOfferings(t *testing.T) {
	x := &instancetypes.InstanceType{
		Name: "m.large", Labels: map[string]string{corev1.LabelTopologyRegion: "here"}, Capacity: resources("cpu=2 memory=8Gi"),
		Offerings: sold("on-demand@a=0.1 on-demand@b=0.1 spot@a=0.05 spot@b=0.02 spot@d=0.03 spot@e=0.04 reserved@a/cr-1=0x2"),
	}
	x.Offerings[0].Labels = map[string]string{offerings.ZoneIDLabel: "az1"}
	x.Offerings[3].InterruptionRate = 0.1
	y := &instancetypes.InstanceType{Name: "m.small", Capacity: resources("cpu=1 memory=4Gi"), Offerings: sold("on-demand@a=0.1")}
	y.Offerings[0].Unavailable = true
	c, err := instancetypes.NewCatalog(x, y)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		labels, zone string
		by           offerings.CapacityType
		want         string // the price, "" for none
	}{
		"on demand costs what it costs elsewhere": {"type=m.large zone=c id=az3 by=on-demand region=here", "c", offerings.OnDemand, "0.1"},
		"spot the median":                         {"type=m.large zone=c by=spot", "c", offerings.Spot, "0.03"},
		"what runs can be had":                    {"type=m.small zone=c by=on-demand", "c", offerings.OnDemand, "0.1"},
		"no type of the catalog":                  {"type=m.gone zone=c by=on-demand", "c", offerings.OnDemand, ""},
		"not sold in this way":                    {"type=m.small zone=c by=spot", "c", offerings.Spot, ""},
		"another region":                          {"type=m.large zone=c by=spot region=there", "c", offerings.Spot, ""},
		"reservations are where they are":         {"type=m.large zone=c by=reserved", "c", offerings.Reserved, ""},
		"no capacity type":                        {"type=m.large zone=c", "c", offerings.OnDemand, ""},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := c.WithNodes([]*corev1.Node{nil, labelled("n", tt.labels)})
			require.NoError(t, err)
			name, _, _ := strings.Cut(strings.TrimPrefix(tt.labels, "type="), " ")
			o, ok := made.Lookup(offerings.Key{InstanceType: name, Zone: tt.zone, CapacityType: tt.by})
			ofNode, found := c.LookupNode(labelled("n", tt.labels))
			assert.Equal(t, tt.want != "", found)
			if tt.want == "" {
				assert.False(t, ok)
				assert.Same(t, c, made)
				return
			}
			require.True(t, ok)
			assert.Equal(t, o, ofNode)
			assert.Equal(t, offerings.MustPrice(tt.want), o.Price)
			assert.Equal(t, []string{"price"}, o.Estimated)
			assert.True(t, o.Launchable())
			assert.NotEqual(t, "az1", o.Labels[offerings.ZoneIDLabel], "the id is not that of another zone")
			_, ok = c.Lookup(offerings.Key{InstanceType: name, Zone: tt.zone, CapacityType: tt.by})
			assert.False(t, ok, "the catalog itself stays as it is")
		})
	}
	same, err := c.WithNodes([]*corev1.Node{labelled("n", "type=m.large zone=a by=on-demand")})
	require.NoError(t, err)
	assert.Same(t, c, same, "what the catalog sells has its price")
	o, ok := c.LookupNode(labelled("n", "type=m.large zone=b by=spot"))
	assert.True(t, ok)
	assert.Equal(t, offerings.MustPrice("0.02"), o.Price)
	_, ok = c.LookupNode(nil)
	assert.False(t, ok)
}
