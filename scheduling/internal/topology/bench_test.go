package topology

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// crowd is many classes that share labels with seven values. Half of them are merely
// counted by the spread over zones that selects their value. A quarter also holds a
// spread over zones, but one that selects some other value. The last quarter has an
// affinity to its own kind, with seven kinds.
func crowd(pods, classes, zones, bins int) *Problem {
	const values = 7
	rng := rand.New(rand.NewPCG(20, 26))
	p := &Problem{Dims: 2}
	for r := range 2 * values {
		rule := Rule{Kind: Spread, Max: 1, Domains: make([]Domain, zones)}
		if r >= values {
			rule.Kind = Affinity
		}
		p.Rules = append(p.Rules, rule)
	}
	byZone := make([][]int32, zones)
	for b := range bins {
		p.Bins = append(p.Bins, []int64{int64(rng.IntN(4000)), int64(rng.IntN(8000))})
		byZone[b%zones] = append(byZone[b%zones], int32(b))
	}
	for c := range classes {
		class := Class{
			Count:   int64(pods / classes),
			Request: []int64{int64(100 * (1 + rng.IntN(15))), int64(100 * (1 + rng.IntN(40)))},
		}
		value, selected := int32(rng.IntN(values)), int32(rng.IntN(values))
		class.Links = []Link{{Rule: value, Counts: 1}}
		switch {
		case c%4 == 3:
			class.Links = []Link{{Rule: values + value, Counts: 1, Holds: true}}
		case c%4 == 2 && selected == value:
			class.Links[0].Holds = true
		case c%4 == 2:
			class.Links = append(class.Links, Link{Rule: selected, Holds: true})
		}
		for z := range 2 * zones { // spot and on demand
			site := Site{Cost: class.Request[0] * int64(20-10*(z%2)), Limit: -1, Bins: byZone[z/2]}
			for range class.Links {
				site.Domains = append(site.Domains, int32(z/2))
				site.Counted = append(site.Counted, true)
			}
			class.Sites = append(class.Sites, site)
		}
		p.Classes = append(p.Classes, class)
	}
	return p
}

func BenchmarkPlan(b *testing.B) {
	for _, size := range []struct{ pods, classes, bins int }{
		{20_000, 1_000, 0},
		{20_000, 1_000, 2_000},
		{100_000, 1_000, 0},
		{100_000, 10_000, 0},
	} {
		p := crowd(size.pods, size.classes, 3, size.bins)
		b.Run(fmt.Sprintf("pods=%d/classes=%d/bins=%d", size.pods, size.classes, size.bins), func(b *testing.B) {
			unplaced := int64(0)
			for b.Loop() {
				unplaced = 0
				for _, n := range Plan(p).Unplaced {
					unplaced += n
				}
			}
			b.ReportMetric(float64(unplaced), "unplaced")
		})
	}
}

// BenchmarkPlanInTurns is about classes that wait for each other at every pod.
func BenchmarkPlanInTurns(b *testing.B) {
	p := pinned(99_000, 990)
	for b.Loop() {
		Plan(p)
	}
}

func BenchmarkReplay(b *testing.B) {
	p := crowd(20_000, 1_000, 3, 0)
	counts := Plan(p).Counts
	for b.Loop() {
		Replay(p, counts, nil)
	}
}
