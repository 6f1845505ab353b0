package bound

import "cmp"

// Divided goes on from a bound by telling cases apart, see [Parted], where that is less than
// wanted and there is work for it.
func (x Assigned) Divided(e Effort) Assigned {
	a := x.rest
	x.rest = nil
	if a == nil || e.Cases <= 0 || x.Bound <= 0 || x.Bound >= cmp.Or(e.CasesWanted, e.Wanted) {
		return x
	}
	return a.divided(x, e)
}

// Where pods are spread over domains, cases are sought for the numbers of pods by domain that the
// best worths were sought for. Each of them has tolls of its own: what its worths prove holds
// wherever the pods are.

// proven is what the best worths prove, wherever pods are that are spread.
func (a *assignment) proven() float64 {
	if a.shares == nil {
		return a.best.value
	}
	s := *a.shares
	s.assignment = a
	value, _ := s.proven(a.best)
	return value
}

// certifyCase is certify for prices with the tolls of a case.
func (a *assignment) certifyCase() Assigned {
	if a.shares == nil {
		return a.certify()
	}
	s := *a.shares
	s.assignment, s.best = a, a.best
	s.value, s.tolls = s.proven(a.best)
	return s.certify()
}
