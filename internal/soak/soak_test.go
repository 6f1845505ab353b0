package soak_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/internal/race"
	"github.com/plimsoll-go/plimsoll/internal/soak"
)

func TestWindowsOfSeedsDoNotOverlap(t *testing.T) {
	if race.Enabled {
		t.Skip("fewer cases under the race detector")
	}
	require.Equal(t, []uint64{0, 1, 2}, slices.Collect(soak.Cases(3)))
	t.Setenv("PLIMSOLL_WINDOW", "2")
	require.Equal(t, []uint64{6, 7, 8}, slices.Collect(soak.Cases(3)))
	require.False(t, soak.Long())
	t.Setenv("PLIMSOLL_SOAK", "2")
	require.True(t, soak.Long())
	require.Equal(t, []uint64{12, 13, 14, 15, 16, 17}, slices.Collect(soak.Cases(3)))
}
