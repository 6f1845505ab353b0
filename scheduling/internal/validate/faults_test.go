package validate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// problemFaults validates a problem without a policy.
func problemFaults(p *scheduling.Problem) error {
	_, err := Read(p, nil)
	return err
}

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

func ptr[T any](v T) *T { return &v }

func after(d time.Duration) scheduling.NillableDuration {
	return scheduling.NillableDuration{Duration: &d}
}
