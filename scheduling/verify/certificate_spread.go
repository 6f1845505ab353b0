package verify

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// zoneSpread is placed pods that are spread over zones by one constraint, count for it
// themselves and ask the same of their nodes, and what they are worth less by zone.
type zoneSpread struct {
	rule    *spreadRule
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

// spreadReader is what all spreads of a certificate have in common.
type spreadReader struct {
	*judge
	alike     map[string][]*tenant // placed pods by constraint and what they ask of nodes
	waiting   map[*face]int64
	residents map[string][]*face // by node
	shelves   []shelf
	zones     []string // those with nodes, and where pools may buy
}

// readSpreads reads them. It reports whether they can be.
func (j *judge) readSpreads(cert *scheduling.Certificate) ([]*zoneSpread, bool) {
	if len(cert.Spreads) == 0 {
		return nil, true
	}
	if j.spreads == nil {
		j.spreads = j.newSpreadReader()
	}
	r := j.spreads
	var out []*zoneSpread
	fine := true
	for i, named := range cert.Spreads {
		less, ok := j.naturals(fmt.Sprintf("spreads[%d]: less in ", i), named.Less)
		var further map[string]*big.Int
		if named.Further != nil {
			fine := false
			further, fine = j.naturals(fmt.Sprintf("spreads[%d]: less for further pods in ", i), named.Further)
			ok = ok && fine
		}
		z, why := r.read(named)
		if why != "" {
			j.malformed("spreads[%d]: %s", i, why)
		}
		if !ok || why != "" {
			fine = false
			continue
		}
		z.less, z.further = less, further
		z.bound(r.zones)
		if why := r.breach(z); why != "" {
			j.malformed("spreads[%d]: %s", i, why)
			fine = false
		}
		out = append(out, z)
	}
	return out, fine
}

func (j *judge) newSpreadReader() *spreadReader {
	r := &spreadReader{
		judge: j, alike: make(map[string][]*tenant), waiting: make(map[*face]int64), residents: make(map[string][]*face),
	}
	placed := j.placed()
	for _, t := range j.sortedPods() {
		if !t.isHeld() {
			r.waiting[t.face]++
		}
		if placed[t.name] && len(t.ties.spread) > 0 {
			asks := t.asks()
			for i := range t.ties.spread {
				if s := &t.ties.spread[i]; s.key == corev1.LabelTopologyZone {
					r.alike[s.text()+asks] = append(r.alike[s.text()+asks], t)
				}
			}
		}
	}
	for i := range j.residents {
		r.residents[j.residents[i].node] = append(r.residents[j.residents[i].node], j.residents[i].face)
	}
	zones := make(map[string]bool)
	for _, pl := range j.sortedPools() {
		shelves := make(map[string]*shelf)
		for m := range j.offers(pl, most) {
			zones[m.offering.Zone] = true
			if !undecided(pl) && j.affordableAtFirst(m) && len(exceeding(m.daemons, m.allocatable)) == 0 &&
				(m.offering.CapacityType != offerings.Spot || j.settings.Policy.Flexibility == scheduling.Flexibility{}) {
				if shelves[m.offering.Zone] == nil {
					shelves[m.offering.Zone] = &shelf{pool: pl, zone: m.offering.Zone}
				}
				shelves[m.offering.Zone].machines = append(shelves[m.offering.Zone].machines, m)
			}
		}
		for _, s := range shelves {
			r.shelves = append(r.shelves, *s)
		}
	}
	for _, s := range j.stations {
		if zone, ok := s.value(corev1.LabelTopologyZone); ok {
			zones[zone] = true
		}
	}
	r.zones = slices.Sorted(maps.Keys(zones))
	return r
}

// text is equal for constraints that say the same.
func (r *spreadRule) text() string {
	return fmt.Sprintf("spread %q %d %d (%s) (%s)\n", r.key, r.maxSkew, r.minDomains, r.pods.text, r.nodes.text)
}

// read finds the pods, and where pods count that they are counted with.
func (r *spreadReader) read(named scheduling.ZoneSpread) (*zoneSpread, string) {
	t := r.pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	at := slices.IndexFunc(t.ties.spread, func(s spreadRule) bool { return s.key == corev1.LabelTopologyZone })
	if at < 0 {
		return nil, fmt.Sprintf("%s is not spread over zones", named.Pod)
	}
	rule := &t.ties.spread[at]
	if !rule.pods.has(t.face) {
		return nil, fmt.Sprintf("%s does not count itself", named.Pod)
	}
	if len(t.mounts) > 0 {
		return nil, fmt.Sprintf("%s has volumes", named.Pod)
	}
	z := &zoneSpread{rule: rule, members: make(map[string]bool), counts: make(map[string]bool), running: make(map[string]int64)}
	var sizes []*tenant
	seen := make(map[string]bool)
	for _, p := range r.alike[rule.text()+t.asks()] {
		if !rule.pods.has(p.face) {
			continue
		}
		z.members[p.name] = true
		if needs := p.needs(); !seen[needs] {
			seen[needs] = true
			sizes = append(sizes, p)
		}
	}
	counted := make(map[*face]bool)
	counts := func(f *face) bool {
		is, known := counted[f]
		if !known {
			is = rule.pods.has(f)
			counted[f] = is
		}
		return is
	}
	for f, n := range r.waiting {
		if counts(f) {
			z.pending += n
		}
	}
	for _, s := range r.stations {
		zone, ok := s.value(rule.key)
		if !ok || !rule.nodes.passes(&s.place) {
			continue
		}
		z.counts[zone] = true
		for _, f := range r.residents[s.name] {
			if counts(f) {
				z.running[zone]++
			}
		}
	}
	r.openZones(sizes, z.counts)
	return z, ""
}

// bound works out how many of the pods may be in each zone, in every plan that keeps the
// constraint over the zones that count.
func (z *zoneSpread) bound(zones []string) {
	z.least, z.most = make(map[string]int64), make(map[string]int64)
	pods, skew := int64(len(z.members)), int64(z.rule.maxSkew)
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
	first := true
	var low int64
	for zone := range z.counts {
		if n := z.running[zone]; first || n < low {
			low, first = n, false
		}
	}
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
	z.tighten(zones)
}

// tighten lets each zone have what the others leave to it.
func (z *zoneSpread) tighten(zones []string) {
	pods, atLeast, atMost := int64(len(z.members)), int64(0), int64(0)
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
	n := int64(len(z.members))
	for _, least := range z.least {
		n -= least
	}
	return n
}

// breach says where the plan itself has more or fewer of the pods than it may.
func (r *spreadReader) breach(z *zoneSpread) string {
	if r.topology == nil {
		return "" // the certificate stands alone
	}
	counts := make(map[string]int64)
	for _, b := range r.booked {
		if zone, ok := b.host.value(z.rule.key); ok && z.members[b.name] {
			counts[zone]++
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
func (pr *assignmentProof) spreadsOf(t *tenant) []int {
	var out []int
	for i, z := range pr.spreads {
		if z.members[t.name] {
			out = append(out, i)
		}
	}
	return out
}

// in is the proof with what pods are worth in a zone. Without the label no pod is there
// that is spread over zones.
func (pr *assignmentProof) in(zone string, labelled bool) *assignmentProof {
	if pr.zones != nil {
		return pr.zones[zone]
	}
	if len(pr.spreads) == 0 {
		return pr
	}
	key := zone
	if !labelled {
		key = "\x00"
	}
	if x := pr.worths[key]; x != nil {
		return x
	}
	x := *pr
	x.sorts, x.known = nil, make(map[string]*verdicts)
	for _, s := range pr.sorts {
		x.sorts = append(x.sorts, pr.sortsIn(s, zone, labelled)...)
	}
	x.weigh()
	pr.worths[key] = &x
	return &x
}

// sortsIn is a sort as it is in a zone: two where some of its pods are worth more than those
// beyond them.
func (pr *assignmentProof) sortsIn(s *sort, zone string, labelled bool) []*sort {
	out := []*sort{s}
	for _, n := range s.spreads {
		z := pr.spreads[n]
		var next []*sort
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

// fewer is the sort with so many pods at most, worth so much less.
func (s *sort) fewer(less *big.Int, most int64) *sort {
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
