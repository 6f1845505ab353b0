package scheduling

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// faultsOf returns the lines of an error that must be a *FieldErrors, none for nil.
func faultsOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	require.ErrorIs(t, err, ErrInvalid)
	var all *FieldErrors
	require.ErrorAs(t, err, &all)
	var out []string
	for _, f := range all.Errors {
		out = append(out, f.Error())
	}
	return out
}

func TestFieldErrors(t *testing.T) {
	var f faults
	require.NoError(t, f.err())
	f.add("", "is missing", "b")
	f.object = func() string { return "pods[shop/a]" }
	f.add("-1", "is negative", "spec.cpu")
	f.add("", "is there more than once", "")
	f.add("x", "is wrong", "[3].key")
	f.add("a", "is negative", "spec.cpu")
	err := fmt.Errorf("reading: %w", f.err())

	require.ErrorIs(t, err, ErrInvalid)
	var all *FieldErrors
	require.ErrorAs(t, err, &all)
	assert.Len(t, all.Errors, 5)
	var first *FieldError
	require.ErrorAs(t, err, &first)
	assert.Equal(t, FieldError{Path: "b", Message: "is missing"}, *first)
	require.ErrorIs(t, first, ErrInvalid)
	assert.Equal(t, `reading: 5 faults:
b: is missing
pods[shop/a]: is there more than once
pods[shop/a].spec.cpu: is negative: "-1"
pods[shop/a].spec.cpu: is negative: "a"
pods[shop/a][3].key: is wrong: "x"`, err.Error())

	one := &FieldErrors{Errors: all.Errors[:1]}
	assert.Equal(t, "b: is missing", one.Error())
}

func TestUnjoin(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	assert.Empty(t, unjoin(nil))
	assert.Equal(t, []error{a}, unjoin(a))
	assert.Equal(t, []error{a, b}, unjoin(errors.Join(a, b)))
}

func TestField(t *testing.T) {
	assert.Equal(t, ".cpu", field("cpu"))
	assert.Equal(t, "[nvidia.com/gpu]", field("nvidia.com/gpu"))
	assert.Equal(t, "[]", field(""))
}
