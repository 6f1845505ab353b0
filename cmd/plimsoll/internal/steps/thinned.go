package steps

import (
	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Thinned picks points for people: all of them, or where there are many about ten, of
// which each saves another tenth, and the last.
func Thinned(points []disruption.Point) []disruption.Point {
	const most = 10
	if len(points) <= most+2 {
		return points
	}
	total, next := points[len(points)-1].SavingPerHour, offerings.Price(0)
	return lo.Filter(points, func(p disruption.Point, i int) bool {
		if i < len(points)-1 && i > 0 && p.SavingPerHour < next {
			return false
		}
		next = max(next, p.SavingPerHour) + total/most
		return true
	})
}
