package instancetypes_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// The tests of this file compare the package with second implementations that are
// as slow and as plain as possible.

// naiveAllocatable works in int64 of thousandths instead of quantities.
func naiveAllocatable(it *instancetypes.InstanceType, o offerings.Offering) map[string]int64 {
	milli := func(list corev1.ResourceList, name corev1.ResourceName) (int64, bool) {
		q, ok := list[name]
		return q.MilliValue(), ok
	}
	names := map[corev1.ResourceName]bool{}
	for name := range it.Capacity {
		names[name] = true
	}
	for name := range o.Capacity {
		names[name] = true
	}
	has := func(name corev1.ResourceName) int64 {
		if v, ok := milli(o.Capacity, name); ok {
			return v
		}
		v, _ := milli(it.Capacity, name)
		return v
	}
	out := map[string]int64{}
	for name := range names {
		left := has(name)
		if v, ok := milli(o.Overhead, name); ok {
			left -= v
		} else {
			for _, part := range []corev1.ResourceList{it.Overhead.KubeReserved, it.Overhead.SystemReserved, it.Overhead.EvictionThreshold} {
				v, _ := milli(part, name)
				left -= v
			}
		}
		if name == corev1.ResourceMemory {
			for other := range names {
				if strings.HasPrefix(string(other), "hugepages-") {
					left -= has(other)
				}
			}
		}
		out[string(name)] = max(left, 0)
	}
	return out
}

func TestAllocatableAgreesWithTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	compared := 0
	for i := range 400 {
		it := randomType(r, i)
		// Whole thousandths, so that the twin does not round.
		for _, list := range []corev1.ResourceList{it.Capacity, it.Overhead.KubeReserved, it.Overhead.SystemReserved} {
			list[corev1.ResourceMemory] = quantity(r.Int64N(1 << 36))
			if r.IntN(2) == 0 {
				list["hugepages-2Mi"] = quantity(r.Int64N(1 << 30))
				list["hugepages-1Gi"] = quantity(r.Int64N(1 << 31))
			}
		}
		for _, o := range append(it.Offerings, offerings.Offering{}) {
			got := it.AllocatableOf(o)
			want := naiveAllocatable(it, o)
			require.Len(t, got, len(want))
			for name, amount := range want {
				q := got[corev1.ResourceName(name)]
				require.Equal(t, amount, q.MilliValue(), "%s of %s", name, it.Name)
				compared++
			}
		}
	}
	assert.Greater(t, compared, 1000)
}

// naiveOverlays applies overlays by the words of the documentation: it asks for
// every price and every resource anew who changes it.
type naiveOverlays struct {
	catalog *instancetypes.Catalog
	list    []instancetypes.NodeOverlay // in the order in which they are judged
}

func newNaiveOverlays(c *instancetypes.Catalog, list []instancetypes.NodeOverlay) naiveOverlays {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b instancetypes.NodeOverlay) int {
		return cmp.Or(cmp.Compare(*b.Spec.Weight, *a.Spec.Weight), cmp.Compare(b.Name, a.Name))
	})
	return naiveOverlays{catalog: c, list: list}
}

func selects(n instancetypes.NodeOverlay, it *instancetypes.InstanceType, o offerings.Offering) bool {
	set, err := requirements.FromSelectors(n.Spec.Requirements)
	return err == nil && set.Matches(it.NodeLabels(o))
}

// slots names everything that an overlay changes.
func (w naiveOverlays) slots(n instancetypes.NodeOverlay) []string {
	var out []string
	for it := range w.catalog.All() {
		for i, o := range it.Offerings {
			if !selects(n, it, o) {
				continue
			}
			if n.Spec.Price != nil || n.Spec.PriceAdjustment != nil {
				out = append(out, fmt.Sprintf("%s price %d", it.Name, i))
			}
			for name := range n.Spec.Capacity {
				out = append(out, fmt.Sprintf("%s resource %s", it.Name, name))
			}
		}
	}
	return out
}

// winners returns by slot the overlay that applies, and the names of the overlays that are left out.
func (w naiveOverlays) winners() (applies map[string]instancetypes.NodeOverlay, leftOut []string) {
	var kept []instancetypes.NodeOverlay
	for _, n := range w.list {
		conflict := false
		for _, other := range kept {
			if *other.Spec.Weight != *n.Spec.Weight {
				continue
			}
			for _, slot := range w.slots(n) {
				conflict = conflict || slices.Contains(w.slots(other), slot)
			}
		}
		if conflict {
			leftOut = append(leftOut, n.Name)
			continue
		}
		kept = append(kept, n)
	}
	applies = map[string]instancetypes.NodeOverlay{}
	for _, n := range kept { // the highest weight first
		for _, slot := range w.slots(n) {
			if _, taken := applies[slot]; !taken {
				applies[slot] = n
			}
		}
	}
	return applies, leftOut
}

func TestOverlaysAgreeWithTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	changed, left := 0, 0
	for range 300 {
		c := randomCatalog(t, r)
		var list []instancetypes.NodeOverlay
		for i := range 1 + r.IntN(6) {
			text := fmt.Sprintf("o%d weight=%d", i, 1+r.IntN(3))
			text += []string{"", " price=1", " adjust=+10%", " adjust=-0.5"}[r.IntN(4)]
			text += []string{"", " add=x.y/z:3", " add=x.y/z:4 add=example.com/device:7", " add=x.y/w:1"}[r.IntN(4)]
			text += []string{"", " where=zone:a", " where=kind:spot", " where=arch:arm64", " where=zone:b,c where=kind:reserved,spot"}[r.IntN(5)]
			list = append(list, overlay(text))
		}
		twin := newNaiveOverlays(c, list)
		applies, leftOut := twin.winners()
		got, err := c.WithOverlays(list...)
		assert.Equal(t, len(leftOut) > 0, err != nil)
		for _, name := range leftOut {
			assert.ErrorContains(t, err, "node overlay "+name+":")
			left++
		}
		for before := range c.All() {
			after, ok := got.Get(before.Name)
			require.True(t, ok)
			for i, o := range before.Offerings {
				want := o.Price
				if n, ok := applies[fmt.Sprintf("%s price %d", before.Name, i)]; ok {
					text := n.Spec.Price
					if text == nil {
						text = n.Spec.PriceAdjustment
					}
					a, err := offerings.ParseAdjustment(*text)
					require.NoError(t, err)
					want = a.Apply(want)
					changed++
				}
				assert.Equal(t, want, after.Offerings[i].Price)

				capacity := before.CapacityOf(o)
				for slot, n := range applies {
					if resource, ok := strings.CutPrefix(slot, before.Name+" resource "); ok {
						capacity[corev1.ResourceName(resource)] = n.Spec.Capacity[corev1.ResourceName(resource)]
					}
				}
				sameAmounts(t, capacity, after.CapacityOf(after.Offerings[i]))
			}
		}
	}
	assert.Greater(t, changed, 200)
	assert.Greater(t, left, 50)
}

// naiveTerm decides one term of a filter on the labels of the node, as a map.
func naiveTerm(key, op, value string, it *instancetypes.InstanceType, o offerings.Offering) bool {
	labels := it.NodeLabels(o)
	actual, ok := labels[key]
	switch op {
	case "=":
		return ok && actual == value
	case "!=":
		return !ok || actual != value
	case "exists":
		return ok
	case "absent":
		return !ok
	}
	var a, b int64
	if _, err := fmt.Sscanf(actual+"\n", "%d\n", &a); !ok || err != nil {
		return false
	}
	if _, err := fmt.Sscan(value, &b); err != nil {
		return false
	}
	return map[string]bool{"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[op]
}

func TestFilterExpressionsAgreeWithTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(35, 36))
	c := park(t)
	short := map[string]string{
		"arch": corev1.LabelArchStable, "zone": corev1.LabelTopologyZone, "os": corev1.LabelOSStable,
		"category": "karpenter.k8s.aws/instance-category", "generation": "karpenter.k8s.aws/instance-generation",
		"zone-id": "topology.k8s.aws/zone-id", "gpu-count": "karpenter.k8s.aws/instance-gpu-count",
		"size": "karpenter.k8s.aws/instance-size", "capacity-reservation-id": offerings.ReservationIDLabel,
	}
	keys := slices.Sorted(maps.Keys(short))
	values := []string{"amd64", "arm64", "a", "b", "linux", "m", "c", "7", "10", "large", "8", "cr-1", "use1-az1"}
	kept := 0
	for range 2000 {
		type term struct{ key, op, value string }
		var terms []term
		var text []string
		for range 1 + r.IntN(3) {
			one := term{keys[r.IntN(len(keys))], []string{"=", "!=", "exists", "absent", "<", "<=", ">", ">="}[r.IntN(8)], values[r.IntN(len(values))]}
			switch one.op {
			case "exists":
				text = append(text, one.key)
			case "absent":
				text = append(text, "!"+one.key)
			case "<", "<=", ">", ">=":
				one.value = fmt.Sprint(r.IntN(12))
				text = append(text, one.key+one.op+one.value)
			default:
				text = append(text, one.key+one.op+one.value)
			}
			terms = append(terms, one)
		}
		expr := strings.Join(text, ", ")
		filter, err := instancetypes.ParseFilter(expr)
		require.NoError(t, err, expr)
		for it := range c.All() {
			for _, o := range append(slices.Clone(it.Offerings), offerings.Offering{}) {
				want := true
				for _, one := range terms {
					want = want && naiveTerm(short[one.key], one.op, one.value, it, o)
				}
				require.Equal(t, want, filter(it, o), "%s on %s in %q", expr, it.Name, o.Zone)
				if want {
					kept++
				}
			}
		}
	}
	assert.Greater(t, kept, 1000)
}
