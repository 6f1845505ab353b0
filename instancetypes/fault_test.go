package instancetypes_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/plimsoll-go/plimsoll/instancetypes"
)

func TestFaultError(t *testing.T) {
	for _, tc := range []struct {
		fault instancetypes.CatalogFault
		want  string
	}{
		{instancetypes.CatalogFault{Problem: "is empty"}, "is empty"},
		{instancetypes.CatalogFault{Line: 3, Column: 7, Problem: "is empty"}, "line 3, column 7: is empty"},
		{instancetypes.CatalogFault{Type: "m", Field: "price", Value: "-1", Problem: "is negative"}, `instance type m: price: "-1": is negative`},
		{instancetypes.CatalogFault{Line: 3, Column: 7, Type: "m", Field: "price", Problem: "is missing"}, "line 3, column 7: instance type m: price: is missing"},
		{instancetypes.CatalogFault{Value: strings.Repeat("x", 200), Problem: "is long"}, `"` + strings.Repeat("x", 80) + `…" (200 bytes): is long`},
		{instancetypes.CatalogFault{Value: "a\nb\x00", Problem: "is odd"}, `"a\nb\x00": is odd`},
	} {
		assert.Equal(t, tc.want, tc.fault.Error())
		assert.NoError(t, errors.Unwrap(&tc.fault))
	}
	assert.ErrorIs(t, &instancetypes.CatalogFault{Err: io.ErrUnexpectedEOF}, io.ErrUnexpectedEOF)
}

func TestFaultsKeepTheirCause(t *testing.T) {
	_, err := instancetypes.ReadJSON(strings.NewReader(""))
	assert.ErrorIs(t, err, io.EOF)
	var fault *instancetypes.CatalogFault
	assert.ErrorAs(t, err, &fault)
}
