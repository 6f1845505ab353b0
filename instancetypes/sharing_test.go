package instancetypes_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Every exported method without arguments works on the zero value of its type.
func TestZeroValues(t *testing.T) {
	for _, zero := range []any{
		&instancetypes.InstanceType{}, instancetypes.Overhead{}, &instancetypes.Catalog{}, (*instancetypes.Catalog)(nil),
		&instancetypes.CatalogFault{}, &instancetypes.NodeOverlay{}, instancetypes.Sources{},
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
