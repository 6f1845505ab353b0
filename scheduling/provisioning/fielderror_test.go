package provisioning

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
)

// faultsOf returns the lines of an error that must be a *FieldErrors, none for nil.
func faultsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	require.ErrorIs(t, err, scheduling.ErrInvalid)
	var all *scheduling.FieldErrors
	require.ErrorAs(t, err, &all)
	var out []string
	for _, f := range all.Errors {
		out = append(out, f.Error())
	}
	return out
}

func TestFieldErrors(t *testing.T) {
	var f faults.Collector
	require.NoError(t, f.Err())
	f.Add("", "is missing", "b")
	f.Object = func() string { return "pods[shop/a]" }
	f.Add("-1", "is negative", "spec.cpu")
	f.Add("", "is there more than once", "")
	f.Add("x", "is wrong", "[3].key")
	f.Add("a", "is negative", "spec.cpu")
	err := fmt.Errorf("reading: %w", f.Err())

	require.ErrorIs(t, err, scheduling.ErrInvalid)
	var all *scheduling.FieldErrors
	require.ErrorAs(t, err, &all)
	assert.Len(t, all.Errors, 5)
	var first *scheduling.FieldError
	require.ErrorAs(t, err, &first)
	assert.Equal(t, scheduling.FieldError{Path: "b", Message: "is missing"}, *first)
	require.ErrorIs(t, first, scheduling.ErrInvalid)
	assert.Equal(t, `reading: 5 faults:
b: is missing
pods[shop/a]: is there more than once
pods[shop/a].spec.cpu: is negative: "-1"
pods[shop/a].spec.cpu: is negative: "a"
pods[shop/a][3].key: is wrong: "x"`, err.Error())

	one := &scheduling.FieldErrors{Errors: all.Errors[:1]}
	assert.Equal(t, "b: is missing", one.Error())
}

func TestUnjoin(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	assert.Empty(t, faults.Unjoin(nil))
	assert.Equal(t, []error{a}, faults.Unjoin(a))
	assert.Equal(t, []error{a, b}, faults.Unjoin(errors.Join(a, b)))
}
