package topology

import "math"

// proofState is the state of the search for a proof. By domain: pods that are proven to bind, whether the pods bind that
// hold the spread there, and whether there are pods without a proof yet. By spread: it is taken to be fine, or the values of
// its domains are out of date.
type proofState struct {
	sure          []int64
	fine, waits   []bool
	forced, stale []bool
	open          []*proofGroup
}

func newProofState(x *reassignment) proofState {
	return proofState{
		sure: make([]int64, len(x.n)), fine: make([]bool, len(x.n)), waits: make([]bool, len(x.n)),
		forced: make([]bool, len(x.spreads)), stale: make([]bool, len(x.spreads)),
	}
}

// missing is how many pods are missing for a proof that all bind in any order. It goes as
// [certifier.doubtful] does. Where it is stuck, pods are taken to be there that some spread
// takes, the one that takes the fewest. It stops at a limit.
func (x *reassignment) missing(limit int64) (lack int64) {
	q := &x.proofState
	copy(q.sure, x.firm)
	clear(q.forced)
	q.open = q.open[:0]
	for _, c := range x.proofGroups {
		if c.pods > 0 {
			q.open = append(q.open, c)
		}
	}
	for k := range x.spreads {
		x.allow(k)
	}
	for len(q.open) > 0 && lack < limit {
		if x.proven() {
			for k, stale := range q.stale {
				if stale {
					x.allow(k)
				}
			}
			continue
		}
		short, k := x.nearest()
		if k < 0 {
			break
		}
		lack += short
		q.forced[k] = true
		x.allow(k)
	}
	return lack
}

// allow finds the domains in which the pods of a spread bind: their count exceeds the sure count of every other domain by at
// most the skew.
func (x *reassignment) allow(k int) {
	q, s := &x.proofState, &x.spreads[k]
	q.stale[k] = false
	least, next, at := int64(math.MaxInt64), int64(math.MaxInt64), int32(-1)
	for d := s.from; d < s.to; d++ {
		switch n := q.sure[d]; {
		case !x.in[d]:
		case n < least:
			least, next, at = n, least, d
		case n < next:
			next = n
		}
	}
	for d := s.from; d < s.to; d++ {
		others := least
		if d == at {
			others = next
		}
		q.fine[d] = q.forced[k] || x.n[d]-s.most <= max(0, others)
	}
}

// proven takes proofGroups for certain that bind wherever they are, and reports whether there were
// any.
func (x *reassignment) proven() (some bool) {
	q := &x.proofState
	left := q.open[:0]
	for _, c := range q.open {
		fine := true
		for _, d := range c.held {
			fine = fine && q.fine[d]
		}
		if !fine {
			left = append(left, c)
			continue
		}
		some = true
		for i, d := range c.at {
			if c.n[i] > 0 {
				q.sure[d] += c.n[i]
				q.stale[x.of[d]] = true
			}
		}
	}
	q.open = left
	return some
}

// nearest is the spread that takes the fewest pods for its own to bind, -1 for none.
func (x *reassignment) nearest() (least int64, spread int) {
	q := &x.proofState
	for _, c := range q.open {
		for _, d := range c.held {
			q.waits[d] = true
		}
	}
	spread = -1
	for k := range x.spreads {
		if short := x.short(k); short > 0 && !q.forced[k] && (spread < 0 || short < least) {
			least, spread = short, k
		}
	}
	return least, spread
}

// short is how many pods a spread takes for those to bind that wait.
func (x *reassignment) short(k int) (sum int64) {
	q, s := &x.proofState, &x.spreads[k]
	high, next, at := int64(0), int64(0), int32(-1)
	for d := s.from; d < s.to; d++ {
		if !q.waits[d] {
			continue
		}
		q.waits[d] = false
		switch n := x.n[d] - s.most; {
		case n > high:
			high, next, at = n, high, d
		case n > next:
			next = n
		}
	}
	for d := s.from; d < s.to; d++ {
		want := high
		if d == at {
			want = next
		}
		if x.in[d] {
			sum += max(0, want-q.sure[d])
		}
	}
	return sum
}
