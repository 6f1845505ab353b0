package karpenter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// overridden is a catalog with everything that makes allocatable depend on the
// offering, and a type without a GPU beside one with it.
func overridden() *instancetypes.Catalog {
	plain := st.Type("plain",
		st.Capacity(st.Cores(4), st.GiB(16)), st.KubeReserved(st.MilliCPU(80), st.MiB(500)),
		st.OnDemand("z1", st.Cents(20)),
		st.Offer(offerings.Offering{
			Zone: "z2", CapacityType: offerings.Spot, Price: st.Cents(5),
			Capacity: st.Resources(st.GiB(12), st.Count("example.com/fast", 2)),
			Overhead: st.Resources(st.MiB(100), st.MilliCPU(300)),
		}),
		st.Reserved("z1", 0, "cr-1", 3), st.Reserved("z2", 0, "cr-2", 0))
	plain.Overhead.SystemReserved = st.Resources(st.MilliCPU(20))
	plain.Overhead.EvictionThreshold = st.Resources(st.MiB(100))
	gpu := st.Type("gpu", st.Capacity(st.Cores(8), st.GiB(32), st.Count("nvidia.com/gpu", 1)),
		st.OnDemand("z1", st.Cents(90)), st.Offer(offerings.Offering{Zone: "z2", CapacityType: offerings.OnDemand, Price: st.Cents(95), Unavailable: true}))
	gpu.Labels["example.com/gpu"] = "t4"
	return st.MustCatalog(plain, gpu)
}

// Karpenter computes the same allocatable resources as this module, offering by offering.
func TestAllocatableIsTheSame(t *testing.T) {
	region, err := ec2.Catalog("us-east-1")
	require.NoError(t, err)
	for name, c := range map[string]*instancetypes.Catalog{"overridden": overridden(), "ec2": region} {
		t.Run(name, func(t *testing.T) {
			s := translate(c, keysOf(c), nil, time.Time{})
			require.Len(t, s.types, c.Len())
			seen := 0
			for _, it := range s.types {
				ours, _ := c.Get(it.Name)
				for _, group := range it.AllocatableOfferingsList() {
					for _, of := range group.Offerings {
						seen++
						want := ours.AllocatableOf(s.sold[of])
						for resource, q := range want {
							got := group.Allocatable[resource]
							require.Zero(t, q.Cmp(got), "%s %s: want %s, got %s", it.Name, resource, q.String(), got.String())
						}
					}
				}
			}
			assert.NotZero(t, seen)
		})
	}
}

func TestOfferings(t *testing.T) {
	c := overridden()
	now := time.Unix(1e9, 0)
	failed := &offerings.Unavailable{}
	failed.Mark(offerings.Key{InstanceType: "plain", Zone: "z2", CapacityType: offerings.Spot}, now, 0)
	s := translate(c, keysOf(c), failed, now)
	got := map[string]bool{}
	for _, it := range s.types {
		for _, of := range it.Offerings {
			o := s.sold[of]
			got[it.Name+" "+o.Zone+" "+string(o.CapacityType)+" "+o.ReservationID] = of.Available
			assert.Equal(t, o.Zone, of.Zone())
			assert.Equal(t, string(o.CapacityType), of.CapacityType())
			assert.InDelta(t, o.Price.USD(), of.Price, 0)
			assert.EqualValues(t, o.ReservationCount, of.ReservationCapacity)
		}
	}
	assert.Equal(t, map[string]bool{
		"plain z1 on-demand ": true, "plain z2 spot ": false, "plain z1 reserved cr-1": true, "plain z2 reserved cr-2": false,
		"gpu z1 on-demand ": true, "gpu z2 on-demand ": false,
	}, got)
}

// Types have requirements for their labels, for the values of their offerings that are on sale, and DoesNotExist for
// every other well-known key.
func TestTypeRequirements(t *testing.T) {
	c := overridden()
	s := translate(c, keysOf(c), nil, time.Time{})
	want := map[string]map[string]string{
		"gpu": {
			"example.com/gpu":              "example.com/gpu In [t4]",
			corev1.LabelTopologyZone:       "topology.kubernetes.io/zone In [z1]",
			karpv1.CapacityTypeLabelKey:    "karpenter.sh/capacity-type In [on-demand]",
			offerings.ReservationIDLabel:   "karpenter.k8s.aws/capacity-reservation-id DoesNotExist",
			corev1.LabelArchStable:         "kubernetes.io/arch In [amd64]",
			corev1.LabelInstanceTypeStable: "node.kubernetes.io/instance-type In [gpu]",
		},
		"plain": {
			"example.com/gpu":            "example.com/gpu DoesNotExist",
			corev1.LabelTopologyZone:     "topology.kubernetes.io/zone In [z1 z2]",
			karpv1.CapacityTypeLabelKey:  "karpenter.sh/capacity-type In [on-demand reserved spot]",
			offerings.ReservationIDLabel: "karpenter.k8s.aws/capacity-reservation-id In [cr-1]",
		},
	}
	for _, it := range s.types {
		for key, text := range want[it.Name] {
			assert.Equal(t, text, it.Requirements.Get(key).String(), it.Name)
		}
	}
}

func TestCheapest(t *testing.T) {
	c := overridden()
	s := translate(c, keysOf(c), nil, time.Time{})
	register(keysOf(c))
	where := func(key string, values ...string) scheduling.Requirements {
		return scheduling.NewRequirements(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, values...))
	}
	for name, tc := range map[string]struct {
		allowed  scheduling.Requirements
		requests corev1.ResourceList
		want     string
	}{
		"anything":             {scheduling.NewRequirements(), nil, "plain z1 reserved"},
		"not reserved":         {where(karpv1.CapacityTypeLabelKey, "spot", "on-demand"), nil, "plain z2 spot"},
		"too much for spot":    {where(karpv1.CapacityTypeLabelKey, "spot", "on-demand"), st.Resources(st.GiB(13)), "plain z1 on-demand"},
		"only spot has it":     {scheduling.NewRequirements(), st.Resources(st.Count("example.com/fast", 1)), "plain z2 spot"},
		"too much for plain":   {scheduling.NewRequirements(), st.Resources(st.GiB(20)), "gpu z1 on-demand"},
		"nothing large enough": {scheduling.NewRequirements(), st.Resources(st.GiB(200)), ""},
		"nothing there":        {where(corev1.LabelTopologyZone, "z9"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, types := range [][]*cloudprovider.InstanceType{s.types, {s.types[1], s.types[0]}} {
				it, of := cheapest(types, tc.allowed, tc.requests)
				got := ""
				if of != nil {
					got = it.Name + " " + of.Zone() + " " + of.CapacityType()
				}
				assert.Equal(t, tc.want, got)
			}
		})
	}
}
