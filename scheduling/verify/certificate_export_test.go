package verify

import (
	"fmt"
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// CheckShortcut compares what is said of bare offerings with what is found of the
// machines that pools make of them: what passes as bare passes in every pool. It
// returns how many machines that spared a look at.
func CheckShortcut(p scheduling.Problem, plan *scheduling.Plan) (spared int, err error) {
	j := newJudge(&Report{}, newWorld(p), Checker{}, plan)
	for i := range plan.Launches {
		j.launch(&plan.Launches[i])
	}
	j.stand()
	cert := plan.Summary.Certificate
	var harmless func(bareOffer) bool
	var bears func(*machine) bool
	if cert.Kind == resourceKind {
		values, _ := j.naturals("value of ", cert.Values)
		pr := &proof{judge: j, values: resources(values), scale: uint(cert.Scale), placed: j.placedKinds()}
		harmless, bears = pr.harmless, func(m *machine) bool { return pr.excess(m).Sign() <= 0 }
	} else {
		pr, ok := j.readAssignment(cert)
		if !ok {
			return 0, j.err()
		}
		harmless = pr.harmless
		bears = func(m *machine) bool {
			x := pr.in(m.offering.Zone, true)
			if m.offering.CapacityType != offerings.Reserved {
				return x.bearable(m)
			}
			cost := new(big.Int).Lsh(big.NewInt(int64(m.offering.Price)), pr.scale)
			for _, l := range x.loads(m, pr.roomsByConstraint(m)) {
				if x.least(l, cost).Cmp(cost) > 0 {
					return false
				}
			}
			return true
		}
	}
	known := newBareOffers(harmless)
	for _, pl := range j.sortedPools() {
		for m := range j.offers(pl, fewest) {
			if !known.harmless(m.kind, m.offering) {
				continue
			}
			if spared++; !bears(m) {
				return 0, fmt.Errorf("%s %+v holds too much worth in %s", m.kind.Name, m.offering, pl.Name)
			}
		}
	}
	return spared, nil
}
