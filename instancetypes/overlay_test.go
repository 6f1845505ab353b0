package instancetypes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// overlay reads "name weight=5 price=0.5 adjust=+10% add=a.b/c:2 where=zone:a,b".
// Keys of where are short forms of labels; it may occur several times.
func overlay(text string) instancetypes.NodeOverlay {
	words := strings.Fields(text)
	n := instancetypes.NodeOverlay{}
	n.Name = words[0]
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "weight":
			var w int32
			if _, err := fmt.Sscan(value, &w); err != nil {
				panic(err)
			}
			n.Spec.Weight = &w
		case "price":
			n.Spec.Price = &value
		case "adjust":
			n.Spec.PriceAdjustment = &value
		case "add":
			name, amount, _ := strings.Cut(value, ":")
			if n.Spec.Capacity == nil {
				n.Spec.Capacity = corev1.ResourceList{}
			}
			n.Spec.Capacity[corev1.ResourceName(name)] = resources("x=" + amount)["x"]
		case "where":
			label, values, _ := strings.Cut(value, ":")
			label = map[string]string{
				"zone": corev1.LabelTopologyZone, "type": corev1.LabelInstanceTypeStable,
				"kind": "karpenter.sh/capacity-type", "pool": requirements.NodePoolKey, "arch": corev1.LabelArchStable,
			}[label]
			if label == "" {
				label = strings.Split(value, ":")[0]
			}
			n.Spec.Requirements = append(n.Spec.Requirements, requirements.Selector{
				Key: label, Operator: requirements.In, Values: strings.Split(values, ","),
			})
		}
	}
	return n
}

func overlays(texts ...string) []instancetypes.NodeOverlay {
	list := make([]instancetypes.NodeOverlay, 0, len(texts))
	for _, text := range texts {
		list = append(list, overlay(text))
	}
	return list
}

// stall has two types with two or three offerings each.
func stall(tb testing.TB) *instancetypes.Catalog {
	tb.Helper()
	arm := machine("n", "cpu=4 memory=8Gi a.b/c=1", "on-demand@a=0.4 spot@a=0.2")
	arm.Labels = map[string]string{corev1.LabelArchStable: "arm64"}
	arm.Offerings[1].Capacity = resources("a.b/c=3 pods=9")
	return catalog(tb, machine("m", "cpu=2 memory=8Gi", "on-demand@a=0.1 spot@a=0.04 spot@b=0.05"), arm)
}

func TestOverlayPrices(t *testing.T) {
	for _, tc := range []struct {
		name     string
		overlays []string
		want     string
	}{
		{"none", nil, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2"},
		{"P158 absolute", []string{"o price=0.07"}, "m: on-demand@a=0.07 spot@a=0.07 spot@b=0.07|n: on-demand@a=0.07 spot@a=0.07"},
		{"P158 plus", []string{"o adjust=+0.01"}, "m: on-demand@a=0.11 spot@a=0.05 spot@b=0.06|n: on-demand@a=0.41 spot@a=0.21"},
		{"P158 minus, not below zero", []string{"o adjust=-0.05"}, "m: on-demand@a=0.05 spot@a=0 spot@b=0|n: on-demand@a=0.35 spot@a=0.15"},
		{"P158 percent up", []string{"o adjust=+50%"}, "m: on-demand@a=0.15 spot@a=0.06 spot@b=0.075|n: on-demand@a=0.6 spot@a=0.3"},
		{"P158 percent down", []string{"o adjust=-100%"}, "m: on-demand@a=0 spot@a=0 spot@b=0|n: on-demand@a=0 spot@a=0"},
		{"P158 changes never add up", []string{"hi weight=2 adjust=+0.01", "lo weight=1 adjust=+1"}, "m: on-demand@a=0.11 spot@a=0.05 spot@b=0.06|n: on-demand@a=0.41 spot@a=0.21"},
		{"P160 the highest weight wins, offering by offering", []string{"all weight=1 price=1", "zone weight=2 price=2 where=zone:b", "type weight=3 price=3 where=type:n where=kind:spot"}, "m: on-demand@a=1 spot@a=1 spot@b=2|n: on-demand@a=1 spot@a=3"},
		{"P160 no weight is the lowest", []string{"none price=1", "some weight=1 price=2 where=type:m"}, "m: on-demand@a=2 spot@a=2 spot@b=2|n: on-demand@a=1 spot@a=1"},
		{"P162 equal weights that do not meet", []string{"x weight=1 price=1 where=type:m", "y weight=1 price=2 where=type:n"}, "m: on-demand@a=1 spot@a=1 spot@b=1|n: on-demand@a=2 spot@a=2"},
		{"P163 capacity type", []string{"o price=9 where=kind:spot"}, "m: on-demand@a=0.1 spot@a=9 spot@b=9|n: on-demand@a=0.4 spot@a=9"},
		{"P163 zone", []string{"o price=9 where=zone:b"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=9|n: on-demand@a=0.4 spot@a=0.2"},
		{"P163 an unknown label selects nothing", []string{"o price=9 where=team:x"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2"},
		{"P163 a NodePool's label selects nothing here", []string{"o price=9 where=pool:x"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2"},
		{"an overlay that only selects", []string{"o where=type:m"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := stall(t)
			got, err := c.WithOverlays(overlays(tc.overlays...)...)
			require.NoError(t, err)
			assert.Equal(t, tc.want, strings.Join(listing(got), "|"))
			sameCatalog(t, stall(t), c)
		})
	}
}

func TestOverlayCapacity(t *testing.T) {
	capacities := func(c *instancetypes.Catalog) string {
		var parts []string
		for it := range c.All() {
			for _, o := range it.Offerings {
				parts = append(parts, fmt.Sprintf("%s %s@%s %s", it.Name, o.CapacityType, o.Zone, amounts(it.CapacityOf(o))))
			}
		}
		return strings.Join(parts, "\n")
	}
	plain := "m on-demand@a cpu=2 memory=8Gi\nm spot@a cpu=2 memory=8Gi\nm spot@b cpu=2 memory=8Gi\n" +
		"n on-demand@a a.b/c=1 cpu=4 memory=8Gi\nn spot@a a.b/c=3 cpu=4 memory=8Gi pods=9"
	for _, tc := range []struct {
		name     string
		overlays []string
		want     string
	}{
		{"none", nil, plain},
		{"P159 adds a resource", []string{"o add=x.y/z:2 where=type:m"}, strings.ReplaceAll(plain, "cpu=2 memory=8Gi", "cpu=2 memory=8Gi x.y/z=2")},
		{"P163 one offering is enough for the whole type", []string{"o add=x.y/z:2 where=zone:b"}, strings.ReplaceAll(plain, "cpu=2 memory=8Gi", "cpu=2 memory=8Gi x.y/z=2")},
		{"P159 replaces an amount, also where the offering has its own", []string{"o add=a.b/c:7"}, "m on-demand@a a.b/c=7 cpu=2 memory=8Gi\nm spot@a a.b/c=7 cpu=2 memory=8Gi\nm spot@b a.b/c=7 cpu=2 memory=8Gi\n" +
			"n on-demand@a a.b/c=7 cpu=4 memory=8Gi\nn spot@a a.b/c=7 cpu=4 memory=8Gi pods=9"},
		{"P160 the highest weight wins, resource by resource", []string{"lo weight=1 add=x.y/z:1 add=x.y/w:1 where=type:m", "hi weight=2 add=x.y/z:2 where=type:m"}, strings.ReplaceAll(plain, "cpu=2 memory=8Gi", "cpu=2 memory=8Gi x.y/w=1 x.y/z=2")},
		{"P162 equal weights, different resources", []string{"p add=x.y/z:1 where=type:m", "q add=x.y/w:1 where=type:m"}, strings.ReplaceAll(plain, "cpu=2 memory=8Gi", "cpu=2 memory=8Gi x.y/w=1 x.y/z=1")},
		{"P162 equal weights, price and capacity", []string{"p add=x.y/z:1 where=type:m", "q price=5 where=type:m"}, strings.ReplaceAll(plain, "cpu=2 memory=8Gi", "cpu=2 memory=8Gi x.y/z=1")},
		{"P165 other overrides stay", []string{"o price=5"}, plain},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := stall(t)
			got, err := c.WithOverlays(overlays(tc.overlays...)...)
			require.NoError(t, err)
			assert.Equal(t, tc.want, capacities(got))
			assert.Equal(t, plain, capacities(c), "the receiver stays as it is")
		})
	}
}

func TestOverlayConflicts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		overlays []string
		want     []string // overlay, conflict, type, field
		prices   string
	}{
		{
			"P161 same weight, same price: the later one is left out", []string{"alpha price=1", "beta price=2 where=type:m"},
			[]string{"alpha beta m spec.price"}, "m: on-demand@a=2 spot@a=2 spot@b=2|n: on-demand@a=0.4 spot@a=0.2",
		},
		{
			"P161 even if the values are the same", []string{"alpha weight=7 adjust=+1", "beta weight=7 adjust=+1"},
			[]string{"alpha beta m spec.price"}, "m: on-demand@a=1.1 spot@a=1.04 spot@b=1.05|n: on-demand@a=1.4 spot@a=1.2",
		},
		{
			"P162 left out everywhere, its capacity too", []string{"alpha price=1 add=x.y/z:1", "beta price=2 where=zone:b"},
			[]string{"alpha beta m spec.price"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=2|n: on-demand@a=0.4 spot@a=0.2",
		},
		{
			"P161 same resource", []string{"alpha price=1 add=x.y/z:1 where=type:n", "beta add=x.y/z:1"},
			[]string{"alpha beta n spec.capacity.x.y/z"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2",
		},
		{
			"one that was left out conflicts with nobody", []string{"a price=1 where=type:m", "b price=2 where=type:m,n", "c price=3 where=type:n"},
			[]string{"b c n spec.price"}, "m: on-demand@a=1 spot@a=1 spot@b=1|n: on-demand@a=3 spot@a=3",
		},
		{
			"two below a higher one still conflict", []string{"a weight=1 price=1", "b weight=1 price=2", "top weight=9 price=3"},
			[]string{"a b m spec.price"}, "m: on-demand@a=3 spot@a=3 spot@b=3|n: on-demand@a=3 spot@a=3",
		},
		{
			"three of a kind", []string{"a price=1", "b price=2", "c price=3"},
			[]string{"b c m spec.price", "a c m spec.price"}, "m: on-demand@a=3 spot@a=3 spot@b=3|n: on-demand@a=3 spot@a=3",
		},
		{
			"the same name twice", []string{"a price=1", "a price=2 weight=4"},
			[]string{"a a  metadata.name", "a a  metadata.name"}, "m: on-demand@a=0.1 spot@a=0.04 spot@b=0.05|n: on-demand@a=0.4 spot@a=0.2",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := overlays(tc.overlays...)
			got, err := stall(t).WithOverlays(list...)
			require.Error(t, err)
			var texts []string
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				var o *instancetypes.OverlayError
				require.ErrorAs(t, e, &o)
				texts = append(texts, strings.Join([]string{o.Overlay, o.Conflict, o.InstanceType, o.Field}, " "))
				assert.Contains(t, o.Error(), "node overlay "+o.Overlay+": "+o.Field)
				assert.Contains(t, o.Error(), o.Conflict)
				assert.Error(t, errors.Unwrap(o))
			}
			assert.Equal(t, tc.want, texts)
			assert.Equal(t, tc.prices, strings.Join(listing(got), "|"), "the others are applied")
			for it := range got.All() {
				if strings.Contains(tc.name, "capacity too") {
					assert.NotContains(t, it.Capacity, corev1.ResourceName("x.y/z"))
				}
			}
		})
	}
}

func TestOverlayValidate(t *testing.T) {
	selecting := func(s ...requirements.Selector) instancetypes.NodeOverlay {
		n := overlay("o price=1")
		n.Spec.Requirements = s
		return n
	}
	three := 3
	many := make([]requirements.Selector, 101)
	for i := range many {
		many[i] = requirements.Selector{Key: "a", Operator: requirements.Exists}
	}
	for _, tc := range []struct {
		name    string
		overlay instancetypes.NodeOverlay
		want    []string
	}{
		{"valid", overlay("o weight=10000 price=0.5 add=a.b/c:1 where=zone:a"), nil},
		{"huge pages may be added", overlay("o add=hugepages-2Mi:1Gi"), nil},
		{"no name", func() instancetypes.NodeOverlay { n := overlay("o price=1"); n.Name = ""; return n }(), []string{"metadata.name: must not be empty"}},
		{"P165 weight 0", overlay("o weight=0"), []string{"node overlay o: spec.weight: 0 is not from 1 to 10000"}},
		{"P165 weight too high", overlay("o weight=10001"), []string{"spec.weight: 10001 is not from 1 to 10000"}},
		{"price and adjustment", overlay("o price=1 adjust=+1"), []string{`spec.priceAdjustment: "+1" excludes the price "1" beside it`}},
		{"signed price", overlay("o price=+1"), []string{`spec.price: price "+1"`}},
		{"negative price", overlay("o price=-1"), []string{`spec.price: price "-1": must not be negative`}},
		{"price in percent", overlay("o price=50%"), []string{"spec.price"}},
		{"unsigned adjustment", overlay("o adjust=1"), []string{`spec.priceAdjustment: "1" needs a sign: + or -`}},
		{"empty adjustment", overlay("o adjust="), []string{`spec.priceAdjustment: "" needs a sign`}},
		{"adjustment that is no number", overlay("o adjust=+x"), []string{`spec.priceAdjustment: price adjustment "+x"`}},
		{"more than everything off", overlay("o adjust=-101%"), []string{"cannot take more than 100% off"}},
		{"P159 cpu, memory, storage and pods", overlay("o add=cpu:1 add=memory:1 add=ephemeral-storage:1 add=pods:1"), []string{
			"spec.capacity.cpu: this resource cannot be changed", "spec.capacity.ephemeral-storage: this", "spec.capacity.memory: this", "spec.capacity.pods: this",
		}},
		{"negative capacity", overlay("o add=a.b/c:-1"), []string{`spec.capacity.a.b/c: "-1" must not be negative`}},
		{"half a device", overlay("o add=a.b/c:0.5"), []string{`spec.capacity.a.b/c: "500m" must be a whole number`}},
		{"operator", selecting(requirements.Selector{Key: "a", Operator: "Like", Values: []string{"b"}}), []string{"spec.requirements[0]: operator"}},
		{"In without values", selecting(requirements.Selector{Key: "a", Operator: requirements.In}), []string{"spec.requirements[0]: values"}},
		{"NotIn without values", selecting(requirements.Selector{Key: "a", Operator: requirements.NotIn}), []string{`spec.requirements[0]: operator NotIn of "a" needs at least one value`}},
		{"minValues", selecting(requirements.Selector{Key: "a", Operator: requirements.Exists, MinValues: &three}), []string{`spec.requirements[0]: minValues of "a" has no meaning`}},
		{"too many requirements", selecting(many...), []string{"spec.requirements: 101 are more than 100"}},
		{"everything", func() instancetypes.NodeOverlay {
			n := overlay("o weight=0 price=x add=cpu:1 where=zone:a")
			n.Spec.Requirements[0].Operator = "Like"
			return n
		}(), []string{"spec.weight", "spec.requirements[0]", "spec.price", "spec.capacity.cpu"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := tc.overlay.Validate()
			c, applied := stall(t).WithOverlays(tc.overlay)
			if tc.want == nil {
				assert.NoError(t, err)
				assert.NoError(t, applied)
				return
			}
			require.Error(t, err)
			got := err.(interface{ Unwrap() []error }).Unwrap()
			require.Len(t, got, len(tc.want), err)
			for i, want := range tc.want {
				assert.Contains(t, got[i].Error(), want)
				var o *instancetypes.OverlayError
				require.ErrorAs(t, got[i], &o)
				assert.Empty(t, o.Conflict)
			}
			assert.ErrorContains(t, applied, err.Error())
			sameCatalog(t, stall(t), c)
		})
	}
}

func TestPoolOverlays(t *testing.T) {
	pools := map[string]map[string]string{"batch": {"team": "data"}, "web": nil}
	for _, tc := range []struct {
		name       string
		overlays   []string
		batch, web string // price of m on demand
		conflict   string
	}{
		{"P163 by name of the NodePool", []string{"o price=9 where=pool:web"}, "0.1", "9", ""},
		{"P163 by a label of the NodePool's template", []string{"o price=9 where=team:data"}, "9", "0.1", ""},
		{"each pool its own", []string{"o price=8 where=pool:web", "p price=9 where=pool:batch"}, "9", "8", ""},
		{"P162 a conflict in one pool counts in all", []string{"a price=7", "b price=8 where=pool:web"}, "0.1", "8", "node overlay a: spec.price"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := stall(t).WithPoolOverlays(pools, overlays(tc.overlays...)...)
			if tc.conflict == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tc.conflict)
			}
			require.Len(t, got, 2)
			for pool, want := range map[string]string{"batch": tc.batch, "web": tc.web} {
				o, ok := got[pool].Lookup(offerings.Key{InstanceType: "m", Zone: "a", CapacityType: "on-demand"})
				require.True(t, ok)
				assert.Equal(t, want, o.Price.String(), pool)
			}
		})
	}
	none, err := stall(t).WithPoolOverlays(nil, overlay("o price=1"))
	require.NoError(t, err)
	assert.Empty(t, none)
}

func TestOverlayDecodesManifests(t *testing.T) {
	var n instancetypes.NodeOverlay
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata:
  name: savings-plan
spec:
  weight: 10
  requirements:
  - key: node.kubernetes.io/instance-type
    operator: In
    values: [m]
  - key: karpenter.sh/capacity-type
    operator: NotIn
    values: [spot]
  priceAdjustment: "-20%"
  capacity:
    smarter-devices/fuse: 20
`), &n))
	got, err := stall(t).WithOverlays(n)
	require.NoError(t, err)
	assert.Equal(t, "m: on-demand@a=0.08 spot@a=0.04 spot@b=0.05", listing(got)[0])
	m, _ := got.Get("m")
	assert.Equal(t, "cpu=2 memory=8Gi smarter-devices/fuse=20", amounts(m.Capacity))
}
