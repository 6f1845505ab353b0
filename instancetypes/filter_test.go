package instancetypes_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// park is a small catalog that has something for every filter.
func park(tb testing.TB) *instancetypes.Catalog {
	tb.Helper()
	labelled := func(it *instancetypes.InstanceType, labels string) *instancetypes.InstanceType {
		it.Labels = map[string]string{}
		for _, pair := range strings.Fields(labels) {
			key, value, _ := strings.Cut(pair, "=")
			if !strings.Contains(key, "/") {
				key = "karpenter.k8s.aws/instance-" + key
			}
			it.Labels[key] = value
		}
		return it
	}
	reserved := machine("r6i.large", "cpu=2 memory=16Gi pods=29", "on-demand@a=0.126 reserved@a/cr-1=0x2 reserved@b/cr-2=0x0")
	reserved.Offerings[0].Labels = map[string]string{"topology.k8s.aws/zone-id": "use1-az1"}
	gpu := machine("p4d.24xlarge", "cpu=96 memory=1152Gi pods=737 nvidia.com/gpu=8", "on-demand@a=21.96 spot@b=9.9")
	gpu.Offerings[1].Unavailable = true
	gpu.Offerings[1].Capacity = resources("nvidia.com/gpu=4")
	return catalog(tb,
		labelled(machine("m7i.large", "cpu=2 memory=8Gi pods=29", "on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"), "category=m family=m7i generation=7 size=large"),
		labelled(machine("m7g.large", "cpu=2 memory=8Gi pods=29", "on-demand@a=0.0816"), "category=m family=m7g generation=7 size=large kubernetes.io/arch=arm64"),
		labelled(machine("c10i.xlarge", "cpu=4 memory=8Gi pods=58", "spot@b=0.07"), "category=c family=c10i generation=10 size=xlarge"),
		labelled(reserved, "category=r family=r6i generation=6 size=large team=data"),
		labelled(gpu, "category=p family=p4d generation=4 gpu-name=a100 gpu-count=8"),
		labelled(machine("kwok-1", "cpu=500m memory=1Gi", "spot@z=0.01"), "karpenter.kwok.sh/instance-family=kwok team=core"),
		machine("rack.big", "cpu=64 memory=512Gi", ""),
	)
}

func TestFilters(t *testing.T) {
	c := park(t)
	before := listing(c)
	set := requirements.NewSet
	for _, tc := range []struct {
		name    string
		filters []instancetypes.Filter
		want    []string
	}{
		{"none keeps everything", nil, before},
		{"nil keeps everything", []instancetypes.Filter{nil}, before},
		{"name", []instancetypes.Filter{instancetypes.ByName("m7?.large")}, []string{"m7g.large: on-demand@a=0.0816", "m7i.large: on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"}},
		{"one of several names", []instancetypes.Filter{instancetypes.ByName("kwok*", "rack.big")}, []string{"kwok-1: spot@z=0.01", "rack.big:"}},
		{"no name", []instancetypes.Filter{instancetypes.ByName()}, []string{}},
		{"zone", []instancetypes.Filter{instancetypes.ByZone("b", "z")}, []string{
			"c10i.xlarge: spot@b=0.07", "kwok-1: spot@z=0.01", "m7i.large: spot@b=0.05", "p4d.24xlarge: spot@b=9.9", "r6i.large: reserved@b/cr-2=0",
		}},
		{"capacity type", []instancetypes.Filter{instancetypes.ByCapacityType(offerings.Reserved)}, []string{"r6i.large: reserved@a/cr-1=0x2 reserved@b/cr-2=0"}},
		{"both", []instancetypes.Filter{instancetypes.ByZone("a"), instancetypes.ByCapacityType(offerings.Spot)}, []string{"m7i.large: spot@a=0.0412"}},
		{"requirements on the type", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew("karpenter.k8s.aws/instance-generation", requirements.Gt, "6"),
			requirements.MustNew(corev1.LabelArchStable, requirements.In, "amd64"),
		))}, []string{"c10i.xlarge: spot@b=0.07", "m7i.large: on-demand@a=0.1008 spot@a=0.0412 spot@b=0.05"}},
		{"requirements on the offering", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew(corev1.LabelTopologyZone, requirements.NotIn, "a"),
			requirements.MustNew(offerings.CapacityTypeLabel, requirements.In, "reserved", "on-demand"),
		))}, []string{"r6i.large: reserved@b/cr-2=0"}},
		{"requirement of a reservation", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew(offerings.ReservationIDLabel, requirements.Exists),
		))}, []string{"r6i.large: reserved@a/cr-1=0x2 reserved@b/cr-2=0"}},
		{"requirement of the offering's own label", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew("topology.k8s.aws/zone-id", requirements.In, "use1-az1"),
		))}, []string{"r6i.large: on-demand@a=0.126"}},
		{"absent labels satisfy DoesNotExist", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew("karpenter.k8s.aws/instance-category", requirements.DoesNotExist),
		))}, []string{"kwok-1: spot@z=0.01", "rack.big:"}},
		{"a label that nobody has", []instancetypes.Filter{instancetypes.ByRequirements(set(
			requirements.MustNew("team", requirements.In, "x"),
		))}, []string{}},
		{"a function of the caller's", []instancetypes.Filter{func(_ *instancetypes.InstanceType, o offerings.Offering) bool {
			return o.Price > 0 && o.Price < offerings.MustPrice("0.05")
		}}, []string{"kwok-1: spot@z=0.01", "m7i.large: spot@a=0.0412"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := c.Filter(tc.filters...)
			assert.Equal(t, tc.want, listing(got))
			assert.Equal(t, before, listing(c), "the receiver stays as it is")
			for it := range got.All() {
				same, ok := got.Get(it.Name)
				assert.True(t, ok)
				assert.Same(t, it, same)
			}
		})
	}
}

// ByRequirements asks for labels one by one; requirements.Set.Matches has them all.
func TestByRequirementsAgreesWithMatches(t *testing.T) {
	c := park(t)
	r := rand.New(rand.NewPCG(7, 8))
	keys := []string{
		"karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-generation", corev1.LabelArchStable, "none",
		corev1.LabelTopologyZone, offerings.CapacityTypeLabel, offerings.ReservationIDLabel, "topology.k8s.aws/zone-id",
	}
	values := []string{"m", "c", "7", "10", "amd64", "a", "b", "spot", "reserved", "cr-1", "use1-az1"}
	kept := 0
	for range 500 {
		var reqs []requirements.Requirement
		for range 1 + r.IntN(2) {
			key, a, b := keys[r.IntN(len(keys))], values[r.IntN(len(values))], values[r.IntN(len(values))]
			switch r.IntN(5) {
			case 0:
				reqs = append(reqs, requirements.MustNew(key, requirements.In, a, b))
			case 1:
				reqs = append(reqs, requirements.MustNew(key, requirements.NotIn, a, b))
			case 2:
				reqs = append(reqs, requirements.MustNew(key, requirements.Exists))
			case 3:
				reqs = append(reqs, requirements.MustNew(key, requirements.DoesNotExist))
			case 4:
				reqs = append(reqs, requirements.MustNew(key, requirements.Gte, "7"))
			}
		}
		set := requirements.NewSet(reqs...)
		filter := instancetypes.ByRequirements(set)
		for it := range c.All() {
			for _, o := range append(it.Offerings, offerings.Offering{}) {
				want := set.Matches(it.NodeLabels(o))
				require.Equal(t, want, filter(it, o), "%s on %s %v", set, it.Name, o)
				if want {
					kept++
				}
			}
		}
	}
	assert.Greater(t, kept, 500)
}
