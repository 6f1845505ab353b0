package instancetypes_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Any number of goroutines may read one catalog; the race detector watches.
func TestCatalogsMayBeReadConcurrently(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	types := make([]*instancetypes.InstanceType, 20)
	for i := range types {
		types[i] = randomType(r, i)
	}
	c := catalog(t, types...)
	before := listing(c)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for it := range c.All() {
				for _, o := range it.Offerings {
					_ = it.AllocatableOf(o)
					_ = it.NodeLabels(o)
				}
				_ = it.DeepCopy()
			}
			_, err := c.WithOverlays(overlay("o adjust=+10% add=x.y/z:1"))
			assert.NoError(t, err)
			assert.NoError(t, c.WriteJSON(&bytes.Buffer{}))
			assert.NoError(t, c.WriteCSV(&bytes.Buffer{}))
			_ = c.Filter(instancetypes.ByZone("a")).Names()
			_, err = instancetypes.NewCatalog(types...)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	assert.Equal(t, before, listing(c))
}

// What is derived from a catalog may share with it, but never so that a change of
// the one would show in the other through the methods that return copies.
func TestReturnedListsBelongToTheCaller(t *testing.T) {
	c := stall(t)
	n, _ := c.Get("n")
	o := n.Offerings[1]
	for _, list := range []map[string]int{{"capacity": 0}, {"allocatable": 1}} {
		got := n.CapacityOf(o)
		if _, ok := list["allocatable"]; ok {
			got = n.AllocatableOf(o)
		}
		for name := range got {
			q := got[name]
			q.Add(quantity(1_000_000))
			got[name] = q
		}
		clear(got)
	}
	c.Names()[0] = "changed"
	types, err := c.InstanceTypes(t.Context(), "")
	require.NoError(t, err)
	types[0] = nil
	sameCatalog(t, stall(t), c)
}

// Every exported method without arguments works on the zero value of its type.
func TestZeroValues(t *testing.T) {
	for _, zero := range []any{
		&instancetypes.InstanceType{}, instancetypes.Overhead{}, &instancetypes.Catalog{}, (*instancetypes.Catalog)(nil),
		&instancetypes.Fault{}, &instancetypes.NodeOverlay{}, &instancetypes.Cached{}, instancetypes.Sources{},
	} {
		v := reflect.ValueOf(zero)
		for i := range v.NumMethod() {
			m := v.Type().Method(i)
			if m.Type.NumIn() != 1 || m.Type.IsVariadic() {
				continue
			}
			assert.NotPanics(t, func() { v.Method(i).Call(nil) }, "%T.%s", zero, m.Name)
		}
	}
	assert.NotPanics(t, func() { _ = (&instancetypes.OverlayError{}).Error() })
	o := offerings.Offering{}
	assert.Empty(t, (&instancetypes.InstanceType{}).NodeLabels(o))
	assert.Empty(t, (&instancetypes.InstanceType{}).AllocatableOf(o))
	assert.Error(t, (&instancetypes.InstanceType{}).Validate())
	assert.Error(t, (&instancetypes.NodeOverlay{}).Validate())
}
