package benchmarks

import (
	"fmt"
	"testing"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// BenchmarkCold plans 100 new pods for a large cluster from nothing.
func BenchmarkCold(b *testing.B) {
	for _, ties := range []bool{false, true} {
		for _, e := range []struct {
			name   string
			effort scheduling.Effort
		}{{"fast", scheduling.EffortFast}, {"default", scheduling.EffortDefault}} {
			b.Run(fmt.Sprintf("ties=%t/effort=%s", ties, e.name), func(b *testing.B) {
				measure(b, scheduling.Solver{Effort: e.effort}, grown(b, 5_000, 100, ties))
			})
		}
	}
}
