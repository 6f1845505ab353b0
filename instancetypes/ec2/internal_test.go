package ec2

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes/internal/facts"
	"github.com/plimsoll-go/plimsoll/offerings"
)

func TestSplitFamily(t *testing.T) {
	for family, want := range map[string][2]string{
		"m5": {"m", "5"}, "c7i-flex": {"c", "7"}, "x2iedn": {"x", "2"}, "im4gn": {"im", "4"}, "trn1n": {"trn", "1"},
		"hpc6id": {"hpc", "6"}, "u-12tb1": {"u", "1"}, "u7i-12tb": {"u", "7"}, "p6-b200": {"p", "6"}, "vt1": {"vt", "1"}, "z10g": {"z", "10"},
		"": {}, "m": {}, "5m": {}, "u-12": {}, "u-tb": {}, "mac-m4": {}, "-": {},
	} {
		category, generation := splitFamily(family)
		assert.Equal(t, want, [2]string{category, generation}, family)
	}
}

func FuzzSplitFamily(f *testing.F) {
	for _, family := range []string{"m5", "u-12tb1", "c7i-flex", "u-", "tb1", "é5"} {
		f.Add(family)
	}
	f.Fuzz(func(t *testing.T, family string) {
		category, generation := splitFamily(family)
		require.Equal(t, category == "", generation == "")
		require.Regexp(t, `^[a-z]*$`, category)
		require.Regexp(t, `^[0-9]*$`, generation)
		require.True(t, len(family) >= len(category) && family[:len(category)] == category)
	})
}

// A fact that is not known has no label and no resource.
func TestWhatIsNotKnownIsNotStated(t *testing.T) {
	region := facts.Region{Name: "us-east-1", Zones: []facts.Zone{{Letter: 'a'}}, Rows: []facts.Row{{Type: "odd", Zones: "a", OnDemand: 1}}}
	c, err := cloud().Build(facts.Shapes{List: []facts.Shape{{Name: "odd", VCPU: 1, MemoryMiB: 1024, Arch: "amd64"}}}, region)
	require.NoError(t, err)
	odd, ok := c.Get("odd")
	require.True(t, ok)
	assert.Equal(t, map[string]string{
		"node.kubernetes.io/instance-type": "odd", "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
		"topology.kubernetes.io/region": "us-east-1",
		labelFamily:                     "odd", labelFlex: "false", labelCPU: "1", labelMemory: "1024",
	}, odd.Labels)
	assert.Len(t, odd.Capacity, 4)
	assert.Equal(t, "110", odd.Capacity.Pods().String(), "without known interfaces the kubelet's default stands")
}

func TestPlaces(t *testing.T) {
	zone, labels := place("mars-1", facts.Zone{Letter: 'a', ID: "mar1-az1"}, offerings.Spot)
	assert.Equal(t, "mars-1a", zone)
	assert.Equal(t, map[string]string{labelZoneID: "mar1-az1"}, labels)
	zone, labels = place("mars-1", facts.Zone{Letter: 'c'}, offerings.OnDemand)
	assert.Equal(t, "mars-1c", zone)
	assert.Empty(t, labels)
}

// The tables agree with each other: every shape is sold somewhere, every row has one.
func TestEveryShapeIsSold(t *testing.T) {
	sold := map[string]bool{}
	var all facts.Shapes
	for _, name := range Regions() {
		shapes, prices, err := cloud().Read(name)
		require.NoError(t, err)
		require.Equal(t, name, prices.Name)
		for _, row := range prices.Rows {
			sold[row.Type] = true
		}
		all = shapes
	}
	require.NotEmpty(t, all.List)
	for _, s := range all.List {
		assert.True(t, sold[s.Name], s.Name)
	}
	assert.Len(t, sold, len(all.List))
}
