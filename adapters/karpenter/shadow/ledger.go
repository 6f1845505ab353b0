package shadow

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// hoursPerMonth is as in all monthly prices.
const hoursPerMonth = 730

// mostPassed bounds the time that counts between two rounds, so that a clock that jumps adds no money.
const mostPassed = 10 * time.Minute

// Key is a NodePool and the cause of a decision.
type Key struct {
	NodePool string
	Cause    Cause
}

// Total is the sum of the compared decisions about a NodePool for a cause.
type Total struct {
	// Decisions is their number.
	Decisions int
	// Karpenter and Plimsoll are the prices of the nodes that each launched and removed, in USD per hour, whether these
	// nodes still run or not.
	Karpenter, Plimsoll Amounts
	// SavedPerHour is how much less the NodePool would cost now, in USD per hour; below 0 if it would cost more. A
	// decision counts in proportion to the price of those of its launched nodes that still run. One that launched none
	// counts until Karpenter launches a node of the NodePool again, because a node that had stayed would be used then.
	SavedPerHour float64
	// Saved and Lost are SavedPerHour over time, in USD: the times when it was above 0, and those when it was below.
	Saved, Lost float64
}

// SavedPerMonth is SavedPerHour for 730 hours.
func (t *Total) SavedPerMonth() float64 { return t.SavedPerHour * hoursPerMonth }

// Amounts are sums of prices in USD per hour.
type Amounts struct{ Launched, Removed offerings.Price }

// ledger has the sums of all decisions. Its lock is apart from that of rounds, because sums are asked for at any time.
type ledger struct {
	mu       sync.Mutex
	at       time.Time
	totals   map[Key]*Total
	entries  []*entry
	counts   map[Cause]map[Outcome]int
	standing Standing
	// unsettled is the number of decisions that are not settled, rejected that of objects that were left out.
	unsettled, rejected int
	duration            map[string]*openmetrics.Buckets // of plans in seconds, by cause
}

// entry is a decision that still counts.
type entry struct {
	cause Cause
	// saved is in USD per hour, by NodePool.
	saved map[string]float64
	// running are the prices of its launched nodes that run, launched is the price of all of them.
	running  map[string]float64
	launched float64
}

// share is the share of the saving that still counts.
func (e *entry) share() float64 {
	if e.launched == 0 {
		return 1
	}
	sum := 0.0
	for _, name := range sortedKeys(e.running) {
		sum += e.running[name]
	}
	return sum / e.launched
}

func newLedger() *ledger {
	l := &ledger{totals: map[Key]*Total{}, counts: map[Cause]map[Outcome]int{}, duration: map[string]*openmetrics.Buckets{}}
	for _, cause := range []Cause{CauseLaunch, CauseConsolidation, CauseDrift} {
		l.counts[cause] = map[Outcome]int{}
	}
	return l
}

// add counts a settled decision, with the NodeClaims that are there.
func (l *ledger) add(d *Decision, claims map[string]*claim) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[d.Cause][d.Outcome]++
	if d.Outcome != OutcomeCompared {
		return
	}
	e := &entry{cause: d.Cause, saved: map[string]float64{}, running: map[string]float64{}}
	for _, n := range d.Karpenter.Launched {
		e.launched += n.Price.USD()
		if c := claims[n.Name]; c != nil && !c.leaving() {
			e.running[n.Name] = n.Price.USD()
		}
	}
	karpenter, plimsoll := d.Karpenter.byPool(), d.Plimsoll.byPool()
	for _, pool := range d.NodePools() {
		t := l.total(Key{pool, d.Cause})
		t.Decisions++
		t.Karpenter.add(&d.Karpenter, pool)
		t.Plimsoll.add(&d.Plimsoll, pool)
		if saved := karpenter[pool] - plimsoll[pool]; saved != 0 {
			e.saved[pool] = saved.USD()
		}
	}
	if len(e.saved) > 0 {
		l.entries = append(l.entries, e)
	}
	l.rates()
}

func (l *ledger) total(k Key) *Total {
	if l.totals[k] == nil {
		l.totals[k] = &Total{}
	}
	return l.totals[k]
}

// add adds the nodes of a pool.
func (a *Amounts) add(s *Side, pool string) {
	of := func(nodes []Node) offerings.Price {
		return total(slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool { return n.NodePool != pool }))
	}
	a.Launched += of(s.Launched)
	a.Removed += of(s.Removed)
}

// gone notes that a NodeClaim is gone, or is being deleted.
func (l *ledger) gone(claim string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		delete(e.running, claim)
	}
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool { return e.launched > 0 && len(e.running) == 0 })
	l.rates()
}

// launched notes that Karpenter launches a node of a NodePool.
func (l *ledger) launched(pool string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.launched == 0 {
			delete(e.saved, pool)
		}
	}
	l.entries = slices.DeleteFunc(l.entries, func(e *entry) bool { return len(e.saved) == 0 })
	l.rates()
}

// rates adds up the savings of the decisions that still count.
func (l *ledger) rates() {
	for _, t := range l.totals {
		t.SavedPerHour = 0
	}
	for _, e := range l.entries {
		share := e.share()
		for pool, saved := range e.saved {
			l.total(Key{pool, e.cause}).SavedPerHour += saved * share
		}
	}
}

// advance counts the time since the last round.
func (l *ledger) advance(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.at.IsZero() {
		hours := min(max(now.Sub(l.at), 0), mostPassed).Hours()
		for _, t := range l.totals {
			t.Saved += max(t.SavedPerHour, 0) * hours
			t.Lost += max(-t.SavedPerHour, 0) * hours
		}
	}
	l.at = now
}

// reject counts an object that is left out.
func (l *ledger) reject() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rejected++
}

// waiting notes how many decisions are not settled.
func (l *ledger) waiting(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unsettled = n
}

// took counts a plan by its cause, and the whole cluster's.
func (l *ledger) took(of string, d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.duration[of] == nil {
		l.duration[of] = &openmetrics.Buckets{Bounds: []float64{0.1, 0.5, 1, 5, 10, 30, 60}}
	}
	l.duration[of].Observe(d.Seconds())
}

// compared notes the price of the whole cluster.
func (l *ledger) compared(s Standing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.standing = s
}

// Totals are the sums of compared decisions since the start, by NodePool and cause.
func (s *Shadow) Totals() map[Key]Total {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	out := map[Key]Total{}
	for k, t := range s.ledger.totals {
		out[k] = *t
	}
	return out
}

// Standing is the price of the whole cluster at the last plan for it.
func (s *Shadow) Standing() Standing {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return s.ledger.standing
}

// Outcomes is how many decisions of a cause had each outcome.
func (s *Shadow) Outcomes(cause Cause) map[Outcome]int {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	return maps.Clone(s.ledger.counts[cause])
}

// sortedTotals are the keys of totals by NodePool and cause.
func (l *ledger) sortedTotals() []Key {
	return slices.SortedFunc(maps.Keys(l.totals), func(a, b Key) int {
		return cmp.Or(cmp.Compare(a.NodePool, b.NodePool), cmp.Compare(a.Cause, b.Cause))
	})
}
