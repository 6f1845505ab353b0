package instancetypes_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// resources reads "cpu=2 memory=8Gi".
func resources(text string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, pair := range strings.Fields(text) {
		name, amount, _ := strings.Cut(pair, "=")
		list[corev1.ResourceName(name)] = resource.MustParse(amount)
	}
	return list
}

// amounts writes resources as the function resources reads them, in order of name.
func amounts(list corev1.ResourceList) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		pairs = append(pairs, fmt.Sprintf("%s=%s", name, q.String()))
	}
	return strings.Join(pairs, " ")
}

// sold reads offerings such as "spot@a=0.03 on-demand@b=0.1 reserved@a/cr-1=0x4": capacity type, zone, reservation,
// price, machines left in the reservation.
func sold(text string) []offerings.Offering {
	var list []offerings.Offering
	for _, word := range strings.Fields(text) {
		kind, rest, _ := strings.Cut(word, "@")
		place, price, _ := strings.Cut(rest, "=")
		zone, id, _ := strings.Cut(place, "/")
		price, count, _ := strings.Cut(price, "x")
		o := offerings.Offering{
			Zone: zone, CapacityType: offerings.CapacityType(kind), Price: offerings.MustPrice(price), ReservationID: id,
		}
		if count != "" {
			if _, err := fmt.Sscan(count, &o.ReservationCount); err != nil {
				panic(err)
			}
		}
		list = append(list, o)
	}
	return list
}

// machine is a type of the given capacity that is sold as the text says.
func machine(name, capacity, offered string) *instancetypes.InstanceType {
	return &instancetypes.InstanceType{Name: name, Capacity: resources(capacity), Offerings: sold(offered)}
}

func catalog(tb testing.TB, types ...*instancetypes.InstanceType) *instancetypes.Catalog {
	tb.Helper()
	c, err := instancetypes.NewCatalog(types...)
	require.NoError(tb, err)
	return c
}

// listing writes a catalog as lines "name: spot@a=0.03 …".
func listing(c *instancetypes.Catalog) []string {
	lines := []string{}
	for it := range c.All() {
		line := it.Name + ":"
		for _, o := range it.Offerings {
			line += fmt.Sprintf(" %s@%s", o.CapacityType, o.Zone)
			if o.ReservationID != "" {
				line += "/" + o.ReservationID
			}
			line += "=" + o.Price.String()
			if o.ReservationCount > 0 {
				line += fmt.Sprintf("x%d", o.ReservationCount)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// faultsOf returns the faults that an error holds.
func faultsOf(err error) []*instancetypes.CatalogFault {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var list []*instancetypes.CatalogFault
		for _, e := range joined.Unwrap() {
			list = append(list, faultsOf(e)...)
		}
		return list
	}
	var f *instancetypes.CatalogFault
	if errors.As(err, &f) {
		return []*instancetypes.CatalogFault{f}
	}
	return nil
}

// lines returns the texts of the faults that an error holds.
func lines(err error) []string {
	texts := []string{}
	for _, f := range faultsOf(err) {
		texts = append(texts, f.Error())
	}
	return texts
}

// sameCatalog compares everything that a catalog holds.
func sameCatalog(tb testing.TB, want, got *instancetypes.Catalog) {
	tb.Helper()
	require.Equal(tb, want.Names(), got.Names())
	for a := range want.All() {
		b, _ := got.Get(a.Name)
		sameType(tb, a, b)
	}
}

func sameType(tb testing.TB, a, b *instancetypes.InstanceType) {
	tb.Helper()
	assert.Equal(tb, a.Labels, b.Labels, a.Name)
	sameAmounts(tb, a.Capacity, b.Capacity)
	sameAmounts(tb, a.Overhead.KubeReserved, b.Overhead.KubeReserved)
	sameAmounts(tb, a.Overhead.SystemReserved, b.Overhead.SystemReserved)
	sameAmounts(tb, a.Overhead.EvictionThreshold, b.Overhead.EvictionThreshold)
	require.Len(tb, b.Offerings, len(a.Offerings), a.Name)
	for i, o := range a.Offerings {
		p := b.Offerings[i]
		sameAmounts(tb, o.Capacity, p.Capacity)
		sameAmounts(tb, o.Overhead, p.Overhead)
		assert.Len(tb, p.Labels, len(o.Labels), a.Name)
		assert.Equal(tb, o.NodeLabels(), p.NodeLabels(), a.Name)
		assert.ElementsMatch(tb, o.Estimated, p.Estimated, a.Name)
		o.Capacity, o.Overhead, o.Labels, o.Estimated = nil, nil, nil, nil
		p.Capacity, p.Overhead, p.Labels, p.Estimated = nil, nil, nil, nil
		assert.Equal(tb, o, p, a.Name)
	}
}

func sameAmounts(tb testing.TB, a, b corev1.ResourceList) {
	tb.Helper()
	assert.Len(tb, b, len(a))
	for name, q := range a {
		p, ok := b[name]
		assert.True(tb, ok && q.Cmp(p) == 0, "%s: %s and %s", name, q.String(), p.String())
	}
}

// randomCatalog makes a valid catalog that uses every field now and then.
func randomCatalog(tb testing.TB, r *rand.Rand) *instancetypes.Catalog {
	tb.Helper()
	types := make([]*instancetypes.InstanceType, 1+r.IntN(6))
	for i := range types {
		types[i] = randomType(r, i)
	}
	return catalog(tb, types...)
}

func randomType(r *rand.Rand, i int) *instancetypes.InstanceType {
	maybe := func() bool { return r.IntN(3) == 0 }
	list := func() corev1.ResourceList {
		l := corev1.ResourceList{}
		if maybe() {
			l[corev1.ResourceCPU] = *resource.NewMilliQuantity(r.Int64N(5000), resource.DecimalSI)
		}
		if maybe() {
			l[corev1.ResourceMemory] = []resource.Quantity{
				*resource.NewQuantity(r.Int64N(1<<40), resource.BinarySI),
				*resource.NewQuantity(r.Int64N(9)*1000, resource.BinarySI),
				*resource.NewQuantity(r.Int64N(1<<20)<<20, resource.DecimalSI),
				resource.MustParse("0.1Gi"), resource.MustParse("1e3"), resource.MustParse("1234567.891"),
			}[r.IntN(6)]
		}
		if maybe() {
			l["example.com/device"] = *resource.NewQuantity(r.Int64N(9), resource.DecimalSI)
		}
		return l
	}
	it := &instancetypes.InstanceType{
		Name:     fmt.Sprintf("f%d.%dxlarge", r.IntN(3), i),
		Capacity: list(),
		Overhead: instancetypes.Overhead{KubeReserved: list(), SystemReserved: list(), EvictionThreshold: list()},
		Labels:   map[string]string{},
	}
	it.Capacity[corev1.ResourceCPU] = *resource.NewMilliQuantity(1+r.Int64N(200_000), resource.DecimalSI)
	it.Capacity[corev1.ResourceMemory] = *resource.NewQuantity(r.Int64N(1<<44), resource.BinarySI)
	if maybe() {
		it.Capacity["nvidia.com/gpu"] = *resource.NewQuantity(r.Int64N(9), resource.DecimalSI)
	}
	if maybe() {
		it.Labels[corev1.LabelArchStable] = "arm64"
	}
	if maybe() {
		it.Labels["example.com/empty"] = ""
	}
	if maybe() {
		it.Labels["team"] = "a,b"[:1]
	}
	for _, zone := range []string{"a", "b", "c"} {
		for _, kind := range offerings.CapacityTypes() {
			if !maybe() {
				continue
			}
			o := offerings.Offering{
				Zone: zone, CapacityType: kind, Price: offerings.Price(r.Int64N(1e12)), Unavailable: maybe(),
				Capacity: list(), Overhead: list(),
			}
			switch kind {
			case offerings.Reserved:
				o.ReservationID, o.ReservationCount = fmt.Sprintf("cr-%d", r.IntN(5)), r.Int64N(3)
			case offerings.Spot:
				o.InterruptionRate = r.Float64()
			case offerings.OnDemand:
				o.Labels = map[string]string{"topology.k8s.aws/zone-id": "use1-az" + zone, "example.com/none": ""}
			}
			if maybe() {
				o.Estimated = []string{"price", "unavailable"}
			}
			it.Offerings = append(it.Offerings, o)
		}
	}
	r.Shuffle(len(it.Offerings), func(i, j int) { it.Offerings[i], it.Offerings[j] = it.Offerings[j], it.Offerings[i] })
	return it
}
