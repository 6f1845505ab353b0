package speed

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
)

// Promise is what a planner owes on a machine that nobody else uses.
type Promise struct {
	Planner string
	// Faster is how many times as fast as the standard it is, at least.
	Faster float64
	// Bytes are what it allocates for so many Pods, at most; 0 is no promise.
	Bytes uint64
	Pods  int
}

// Promises are what the library promises for Karpenter's own mix.
func Promises() []Promise {
	return []Promise{
		{Planner: "plimsoll fast", Faster: 200, Bytes: 64e6, Pods: 20_000},
		{Planner: "plimsoll", Faster: 50},
	}
}

// Broken says which promises the results of one instance break. To place fewer pods
// than the standard, or as many for more, breaks one, too.
func Broken(results []peer.Result, standard string, promises []Promise) []string {
	var out []string
	s, found := find(results, standard)
	for _, p := range promises {
		r, ok := find(results, p.Planner)
		if !ok {
			continue
		}
		if p.Bytes > 0 && r.Pods == p.Pods && r.Allocated > p.Bytes {
			out = append(out, fmt.Sprintf("%s: %s allocates %.1f MB, over %.1f MB", r.Instance, r.Peer, float64(r.Allocated)/1e6, float64(p.Bytes)/1e6))
		}
		if !found {
			continue
		}
		if ratio := Ratio(s.Elapsed, r.Elapsed); ratio < p.Faster {
			out = append(out, fmt.Sprintf("%s: %s is %.0f times as fast as %s, under %.0f", r.Instance, r.Peer, ratio, standard, p.Faster))
		}
		switch {
		case r.Placed < s.Placed:
			out = append(out, fmt.Sprintf("%s: %s places %d pods, %s %d", r.Instance, r.Peer, r.Placed, standard, s.Placed))
		case r.Placed == s.Placed && r.Price > s.Price:
			out = append(out, fmt.Sprintf("%s: %s costs %s, %s %s", r.Instance, r.Peer, r.Price, standard, s.Price))
		}
	}
	return out
}
