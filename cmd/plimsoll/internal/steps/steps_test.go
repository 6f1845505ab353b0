package steps

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

func TestManyPointsAreThinned(t *testing.T) {
	var points []disruption.Point
	for i := range 300 {
		points = append(points, disruption.Point{Steps: i + 1, SavingPerHour: offerings.Price(1000 * (i + 1))})
	}
	thin := Thinned(points)
	require.LessOrEqual(t, len(thin), 13)
	require.Equal(t, points[0], thin[0])
	require.Equal(t, points[299], thin[len(thin)-1])
	require.Equal(t, points[:12], Thinned(points[:12]))
	for i := range points {
		points[i].SavingPerHour = 0 // forced steps that save nothing
	}
	require.NotEmpty(t, Thinned(points))
}

func TestRejectedMoves(t *testing.T) {
	r := &disruption.RejectedMove{Drain: []string{"a"}, SavingPerHour: -offerings.MustPrice("0.1"), DisruptionCost: 2, Because: disruption.Cause{Detail: "nothing is saved"}}
	require.Equal(t, "best move: remove it; that costs $0.1000 per hour more, disruption 2, but nothing is saved", Rejected("a", r, Reason(&r.Because)))
}
