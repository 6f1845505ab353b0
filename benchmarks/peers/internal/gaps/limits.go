package gaps

import (
	"fmt"
	"slices"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Gap is the share by which a price is above its bound: 0.01 is one per cent. The price
// and the machines behind it have passed the second opinion, and so has the bound's proof.
func Gap(r peer.Result) float64 {
	if r.Bound <= 0 {
		return 0
	}
	return float64(r.Price-r.Bound) / float64(r.Bound)
}

// least is the number of pods from which limits hold: on a few machines, one that is not
// full is a large share.
const least = 1_000

// limit is how large gaps may be for one effort on one kind of instance; 0 is no limit.
type limit struct {
	effort      string
	tied        bool
	max, median float64
}

// limits are what the library promises.
func limits() []limit {
	return []limit{
		{effort: "plimsoll fast", max: 0.03},
		{effort: "plimsoll", max: 0.01, median: 0.003},
		{effort: "plimsoll thorough"},
		{effort: "plimsoll fast", tied: true},
		{effort: "plimsoll", tied: true, max: 0.03},
		{effort: "plimsoll thorough", tied: true},
	}
}

// spread is the gaps of one effort on one kind of instance.
type spread struct {
	limit
	n           int
	largest     float64
	worst       string // the instance of the largest
	middle      float64
	unlikeNoted int // instances whose reported gap is another than the checked one
	over        []string
}

// measure gathers the gaps that a limit is about.
func (l limit) measure(findings []*Finding) spread {
	s := spread{limit: l}
	var all []float64
	for _, f := range findings {
		if f.Instance.Tied != l.tied || len(f.Instance.Problem.Pods) < least {
			continue
		}
		for _, r := range f.Ours {
			if r.Peer != l.effort {
				continue
			}
			gap := Gap(r)
			if all = append(all, gap); gap > s.largest || s.worst == "" {
				s.largest, s.worst = gap, r.Instance
			}
			if l.max > 0 && gap > l.max {
				s.over = append(s.over, r.Instance)
			}
			if differ(gap, r.Gap) {
				s.unlikeNoted++
			}
		}
	}
	slices.Sort(all)
	if s.n = len(all); s.n > 0 {
		s.middle = (all[(s.n-1)/2] + all[s.n/2]) / 2
	}
	return s
}

// differ is whether two gaps are not the same figure, rounding aside.
func differ(a, b float64) bool { return a-b > 1e-9 || b-a > 1e-9 }

// faults say which promises are broken.
func (s spread) faults() []string {
	var out []string
	kind := map[bool]string{false: "without ties", true: "with ties"}[s.tied]
	if len(s.over) > 0 {
		out = append(out, fmt.Sprintf("%s: %d of %d instances %s are more than %s above their bound, the worst, %s, by %s",
			s.effort, len(s.over), s.n, kind, percent(s.max), s.worst, percent(s.largest)))
	}
	if s.median > 0 && s.middle > s.median {
		out = append(out, fmt.Sprintf("%s: half of the instances %s are more than %s above their bound, which is over %s", s.effort, kind, percent(s.middle), percent(s.median)))
	}
	if s.unlikeNoted > 0 {
		out = append(out, fmt.Sprintf("%s: %d gaps %s are not what the plan says", s.effort, s.unlikeNoted, kind))
	}
	return out
}

func percent(x float64) string { return fmt.Sprintf("%.2f %%", 100*x) }
