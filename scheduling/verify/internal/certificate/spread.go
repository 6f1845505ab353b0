package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spreadReader is what all constraints over zones of a certificate have in common.
type spreadReader struct {
	*Claim
	waiting   map[*snapshot.Identity]int64    // pods that may still be placed
	residents map[string][]*snapshot.Identity // by node
	shelves   []shelf
	zones     []string // those with nodes, and where pools may buy
	homeless  bool     // pools may buy machines that are in none
	vague     string   // a machine that may be in any
}

// shelf is what a pool may buy in a zone that leaves no label open, even at first.
type shelf struct {
	pool     *snapshot.Pool
	zone     string
	machines []*snapshot.Node
}

func (c *Claim) spreadReader() *spreadReader {
	if c.spreads != nil {
		return c.spreads
	}
	r := &spreadReader{Claim: c, waiting: make(map[*snapshot.Identity]int64), residents: make(map[string][]*snapshot.Identity)}
	c.spreads = r
	for _, t := range c.Pods {
		if !t.IsHeld() {
			r.waiting[t.Face]++
		}
	}
	for _, p := range c.State.Residents {
		r.residents[p.Node] = append(r.residents[p.Node], p.Face)
	}
	zones := make(map[string]bool)
	for _, pl := range c.SortedPools() {
		byZone := make(map[string][]*snapshot.Node)
		for m := range c.Offers(pl, snapshot.MostDaemons, nil) {
			in, known := m.May(c.key)
			if r.homeless = r.homeless || len(in) == 0; !known {
				r.vague = m.Title()
			}
			suits := !c.DaemonsDiffer(pl) && c.affordableAtFirst(m) && len(snapshot.Exceeding(m.Daemons, m.Allocatable)) == 0 &&
				(m.Offering.CapacityType != offerings.Spot || c.Policy.Flexibility == scheduling.Flexibility{})
			for _, zone := range in {
				if zones[zone] = true; suits {
					byZone[zone] = append(byZone[zone], m)
				}
			}
		}
		for zone, machines := range byZone {
			r.shelves = append(r.shelves, shelf{pl, zone, machines})
		}
	}
	for _, s := range c.Nodes {
		if zone, ok := s.Value(c.key); ok {
			zones[zone] = true
		}
	}
	r.zones = slices.Sorted(maps.Keys(zones))
	return r
}

// affordableAtFirst reports whether the limits of the pool allow one such machine beside its
// nodes.
func (c *Claim) affordableAtFirst(m *snapshot.Node) bool {
	total := m.Pool.Usage.Plus(m.Capacity)
	total.Add(snapshot.Amounts{scheduling.NodesResource: big.NewInt(1)})
	return snapshot.Above(total, m.Pool.Limits()) == ""
}

// look finds the zones at which a constraint of pods looks, and how many pods run in each that
// it counts: zones with nodes for it, and those in which one of the pods could have a machine
// of its own, with the choice of others there that its pool's minValues ask for.
func (r *spreadReader) look(rule *snapshot.SpreadConstraint, pods []*snapshot.Pod) (zones map[string]bool, running map[string]int64) {
	zones, running = make(map[string]bool), make(map[string]int64)
	counted := make(map[*snapshot.Identity]bool)
	for _, s := range r.Nodes {
		zone, ok := s.Value(rule.Key)
		if !ok || !rule.Nodes.Passes(s) {
			continue
		}
		zones[zone] = true
		for _, f := range r.residents[s.Name] {
			counts, known := counted[f]
			if !known {
				counts = rule.Pods.Has(f)
				counted[f] = counts
			}
			if counts {
				running[zone]++
			}
		}
	}
	kinds := snapshot.KindsOf(pods)
	for _, s := range r.shelves {
		least := s.pool.MinValues()
		if !r.StrictMinValues() {
			least = nil
		}
		zones[s.zone] = zones[s.zone] || slices.ContainsFunc(kinds, func(k *snapshot.Kind) bool {
			there := k.Within(r.key, s.zone)
			suits := func(m *snapshot.Node, _ int) bool { return m.Holds(there) }
			if len(least) == 0 {
				return slices.ContainsFunc(s.machines, func(m *snapshot.Node) bool { return m.Holds(there) })
			}
			return snapshot.Enough(lo.Filter(s.machines, suits), least)
		})
		if !zones[s.zone] {
			delete(zones, s.zone)
		}
	}
	return zones, running
}

// zoneRule is the constraint of a pod over zones that must hold, nil for none.
func (c *Claim) zoneRule(t *snapshot.Pod) *snapshot.SpreadConstraint {
	for i := range t.Ties.Spread {
		if t.Ties.Spread[i].Key == c.key {
			return &t.Ties.Spread[i]
		}
	}
	return nil
}

// zoneSpread is placed pods that are spread over zones by one constraint, count for it
// themselves and ask the same of their nodes, and what they are worth less by zone.
type zoneSpread struct {
	rule    *snapshot.SpreadConstraint
	members map[string]bool // by name
	less    map[string]*big.Int
	further map[string]*big.Int // nil where all are worth the same
	// counts says of which zones every plan takes the minimum, running how many pods that
	// count run in each zone that there is.
	counts      map[string]bool
	running     map[string]int64
	pending     int64 // pods that wait and count
	least, most map[string]int64
}

// readSpreads reads them. It reports whether they can be.
func (pr *proof) readSpreads(cert *scheduling.Certificate) bool {
	fine := true
	for i, named := range cert.Spreads {
		r := pr.spreadReader()
		less, ok := r.naturals(fmt.Sprintf("spreads[%d]: less in ", i), named.Less)
		var further map[string]*big.Int
		if named.Further != nil {
			also := false
			further, also = r.naturals(fmt.Sprintf("spreads[%d]: less for further pods in ", i), named.Further)
			ok = ok && also
		}
		z, why := r.read(named)
		if why == "" {
			z.less, z.further = less, further
			z.bound(r.zones)
			why = r.breach(z)
		}
		if why != "" {
			r.malformed("spreads[%d]: %s", i, why)
		}
		if fine = fine && ok && why == ""; fine {
			pr.spreads = append(pr.spreads, z)
		}
	}
	return fine
}

// read finds the pods, and where pods count that they are counted with.
func (r *spreadReader) read(named scheduling.ZoneSpread) (*zoneSpread, string) {
	t := r.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	rule := r.zoneRule(t)
	switch {
	case rule == nil:
		return nil, fmt.Sprintf("%s is not spread over zones", named.Pod)
	case !rule.Pods.Has(t.Face):
		return nil, fmt.Sprintf("%s does not count itself", named.Pod)
	case len(t.Mounts) > 0:
		return nil, fmt.Sprintf("%s has volumes", named.Pod)
	}
	z := &zoneSpread{rule: rule, members: make(map[string]bool)}
	var members []*snapshot.Pod
	for _, p := range r.placed {
		if own := r.zoneRule(p); own != nil && own.Text == rule.Text && p.Asks() == t.Asks() && rule.Pods.Has(p.Face) {
			z.members[p.Name] = true
			members = append(members, p)
		}
	}
	for f, n := range r.waiting {
		if rule.Pods.Has(f) {
			z.pending += n
		}
	}
	z.counts, z.running = r.look(rule, members)
	return z, ""
}

// bound works out how many of the pods may be in each zone, in every plan that keeps the
// constraint over the zones that count.
func (z *zoneSpread) bound(zones []string) {
	z.least, z.most = make(map[string]int64), make(map[string]int64)
	pods, skew := int64(len(z.members)), int64(z.rule.MaxSkew)
	// Once the last of the pods has bound to a zone, no zone that counts has fewer pods than
	// this one without the skew.
	for _, zone := range zones {
		z.most[zone] = 0
		for n := pods; n > 0; n-- {
			top, missing := z.running[zone]+n, n
			for other := range z.counts {
				if other != zone {
					missing += max(0, top-skew-z.running[other])
				}
			}
			if missing <= z.pending {
				z.most[zone] = n
				break
			}
		}
	}
	// If the emptiest zone that counts has so many in the end, no zone can have taken more
	// of the pods than fill it up to that and the skew, and that zone itself no skew. As
	// long as that is not enough for all of them, it has more.
	if len(z.counts) == 0 {
		return
	}
	low := lo.Min(lo.Map(lo.Keys(z.counts), func(zone string, _ int) int64 { return z.running[zone] }))
	for ; ; low++ {
		room := -skew
		for _, zone := range zones {
			room += max(0, low+skew-z.running[zone])
		}
		if room >= pods {
			break
		}
	}
	for zone := range z.counts {
		z.least[zone] = min(z.most[zone], max(0, low-z.running[zone]-(z.pending-pods)))
	}
	// Each zone has what the others leave to it.
	atLeast, atMost := int64(0), int64(0)
	for _, zone := range zones {
		atLeast += z.least[zone]
		atMost += z.most[zone]
	}
	for _, zone := range zones {
		low, high := z.least[zone], z.most[zone]
		z.most[zone] = max(low, min(high, pods-(atLeast-low)))
		z.least[zone] = min(z.most[zone], max(low, pods-(atMost-high)))
	}
}

// beyond is how many pods there are that need not be in any one zone.
func (z *zoneSpread) beyond() int64 {
	return int64(len(z.members)) - lo.Sum(lo.Values(z.least))
}

// breach says where the plan itself has more or fewer of the pods than it may.
func (r *spreadReader) breach(z *zoneSpread) string {
	if r.at == nil {
		return "" // the certificate stands alone
	}
	counts := make(map[string]int64)
	for name := range z.members {
		if p := r.at[name]; p != nil {
			if zone, ok := p.Value(z.rule.Key); ok {
				counts[zone]++
			}
		}
	}
	for _, zone := range r.zones {
		if n := counts[zone]; n < z.least[zone] || n > z.most[zone] {
			return fmt.Sprintf("the plan has %d of its pods in %s, bounded by %d and %d", n, zone, z.least[zone], z.most[zone])
		}
	}
	return ""
}

// dearest is what the pods are worth less together, wherever they are.
func (z *zoneSpread) dearest() *big.Int {
	sum := new(big.Int)
	for zone, less := range z.less {
		sum.Add(sum, new(big.Int).Mul(less, big.NewInt(z.least[zone])))
	}
	further := z.further
	if further == nil {
		further = z.less
	}
	left := z.beyond()
	for _, zone := range slices.SortedFunc(maps.Keys(further), func(a, b string) int { return further[b].Cmp(further[a]) }) {
		n := max(0, min(left, z.most[zone]-z.least[zone]))
		left -= n
		sum.Add(sum, new(big.Int).Mul(further[zone], big.NewInt(n)))
	}
	return sum
}

// spreadsOf are the numbers of the spreads that count a pod.
func (pr *proof) spreadsOf(t *snapshot.Pod) []int {
	var out []int
	for i, z := range pr.spreads {
		if z.members[t.Name] {
			out = append(out, i)
		}
	}
	return out
}

// in is the proof with what pods are worth in a zone. Without the label no pod is there
// that is spread over zones.
func (pr *proof) in(zone string, labelled bool) *proof {
	if len(pr.spreads) == 0 && !pr.isZonal {
		return pr
	}
	key := zone
	if !labelled {
		key = snapshot.Nobodys
	}
	if x := pr.zones[key]; x != nil {
		return x
	}
	x := *pr
	x.classes, x.known = nil, make(map[string]*threshold)
	for _, s := range pr.classes {
		x.classes = append(x.classes, pr.classesIn(s, zone, labelled)...)
	}
	x.evaluate()
	pr.zones[key] = &x
	return &x
}

// classesIn is a class as it is in a zone: two where some of its pods are worth more than those
// beyond them.
func (pr *proof) classesIn(s *podClass, zone string, labelled bool) []*podClass {
	out := []*podClass{s}
	for _, n := range s.spreads {
		z := pr.spreads[n]
		var next []*podClass
		for _, s := range out {
			switch {
			case !labelled:
				next = append(next, s.fewer(nil, 0))
			case z.further == nil:
				next = append(next, s.fewer(z.less[zone], z.most[zone]))
			default:
				next = append(next, s.fewer(z.less[zone], z.least[zone]),
					s.fewer(z.further[zone], min(z.beyond(), z.most[zone]-z.least[zone])))
			}
		}
		out = next
	}
	return out
}

// fewer is the class with so many pods at most, worth so much less.
func (s *podClass) fewer(less *big.Int, most int64) *podClass {
	own := *s
	if less != nil {
		if own.worth = new(big.Int).Sub(own.worth, less); own.worth.Sign() < 0 {
			own.worth = new(big.Int)
		}
	}
	if !own.limited || most < own.most {
		own.limited, own.most = true, most
	}
	return &own
}
