package certificate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// TestDomainSpreadHolds binds pods in random orders: in each outcome the number of pods in each domain is within the bounds
// that the proof relies on.
func TestDomainSpreadHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 3))
	names := []string{"a", "b", "c"}
	for round := range 3000 {
		domains := names[:1+r.IntN(3)]
		z := &domainSpread{
			term: &snapshot.SpreadConstraint{MaxSkew: 1 + r.IntN(2)}, apart: r.IntN(5) == 0, members: map[string]bool{},
			eligible: map[string]bool{}, running: map[string]int64{},
		}
		for i := range 1 + r.IntN(5) {
			z.members[fmt.Sprint(i)] = true
		}
		// Of those beyond the members, some have the constraint, too, and need not be placed.
		held, strange := max(0, r.IntN(5)-3), max(0, r.IntN(6)-3)
		members := len(z.members)
		z.pending = int64(members + held + strange)
		for _, domain := range domains {
			z.running[domain] = int64(max(0, r.IntN(6)-3))
			if r.IntN(5) > 0 {
				z.eligible[domain] = true
			}
		}
		z.bound(domains)
		type state struct {
			own, all [3]int64
			strange  int
		}
		seen := map[state]bool{}
		var visit func(x state)
		visit = func(x state) {
			if seen[x] {
				return
			}
			seen[x] = true
			bound := int(x.own[0] + x.own[1] + x.own[2])
			if bound >= members {
				spare := int64(bound - members)
				for i, domain := range domains {
					say := fmt.Sprintf("round %d: %+v, domain %s: %v", round, z, domain, x)
					require.LessOrEqual(t, z.least[domain], max(0, x.own[i]-spare), say)
					require.GreaterOrEqual(t, z.most[domain], min(x.own[i], int64(members)), say)
				}
			}
			low, some := int64(0), false
			for i, domain := range domains {
				if z.eligible[domain] && (!some || x.all[i] < low) {
					low, some = x.all[i], true
				}
			}
			for i := range domains {
				next := x
				next.all[i]++
				joins := !some || x.all[i]+1-low <= int64(z.term.MaxSkew)
				if z.apart {
					joins = x.all[i] == 0
				}
				if bound < members+held && joins {
					own := next
					own.own[i]++
					visit(own)
				}
				if x.strange < strange && (!z.apart || x.own[i] == 0) {
					next.strange++
					visit(next)
				}
			}
		}
		var first state
		for i, domain := range domains {
			first.all[i] = z.running[domain]
		}
		visit(first)
	}
}
