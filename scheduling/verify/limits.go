package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// limits checks that launches take no more than is left of limits and reservations: their first options
// together, and with any one launch falling back to another of its options. It notes what that leaves for certain.
func (j *judge) limits() {
	left, taken, worst := j.Left(), snapshot.Amounts{}, snapshot.Amounts{}
	known := slices.DeleteFunc(slices.Clone(j.launches), func(l *launch) bool { return l.first() == nil })
	for _, l := range known {
		taken.Add(l.first().Takes())
	}
	exceeds := func(object string, name corev1.ResourceName, amount *big.Int) {
		if amount.Cmp(left.Of(name)) <= 0 {
			return
		}
		code := Limits
		if strings.Contains(string(name), " of reservation/") {
			code = Reservation
		}
		j.add(code, object, "launches take %v %s, %v are left", amount, name, left.Of(name))
	}
	for _, name := range snapshot.Names(taken) {
		_, object, _ := strings.Cut(string(name), " of ")
		exceeds(object, name, taken.Of(name))
	}
	for _, l := range known {
		for i, n := range l.nodes {
			if n == nil {
				continue
			}
			more := n.Takes().Minus(l.first().Takes())
			worst.Raise(more)
			for _, name := range snapshot.Names(more) {
				if more.Of(name).Sign() > 0 && taken.Of(name).Cmp(left.Of(name)) <= 0 {
					exceeds(fmt.Sprintf("%s/options[%d]", l.object, i), name, new(big.Int).Add(taken.Of(name), more.Of(name)))
				}
			}
		}
	}
	j.slack = left.Minus(taken).Minus(worst)
}
