package verify

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// zoneBalance is a constraint of topology spread over zones, as it holds once all pods are
// bound, with what zones owe each other for its pods.
type zoneBalance struct {
	skew          int64
	holders       map[string]bool // placed pods that have it, by name
	counted       map[string]bool // placed pods that it counts
	running       map[string]int64
	level         map[string]bool // the zones of which the emptiest counts
	raised, taken map[string]*big.Int
}

// balanced reports whether a certificate has worths by zone.
func balanced(cert *scheduling.Certificate) bool {
	return len(cert.Zones) > 0 || len(cert.Balances) > 0
}

// balanceBound proves the bound from worths by zone. Whatever the plan, its pods are worth
// in their zones no more than it pays. What they pay beyond that, and what zones get and owe
// each other, is left to the zones; that is bounded zone by zone.
func (j *judge) balanceBound(cert *scheduling.Certificate, claimed offerings.Price) {
	if cert.Kind != assignmentKind || len(cert.Vectors) > 0 || len(cert.Spreads) > 0 {
		j.malformed("zones are for the kind %q, with vectors and values of their own", assignmentKind)
		return
	}
	r := j.newSpreadReader()
	if why := r.unmapped(); why != "" {
		j.malformed("%s", why)
		return
	}
	balances, fine := r.readBalances(cert)
	proofs, read := r.readZones(cert)
	if !fine || !read {
		return
	}
	base := *proofs[r.zones[0]]
	base.zones = proofs
	payers, ok := base.readPayers(cert, balances)
	if !ok {
		return
	}
	reserved, ok := base.checkOffers()
	if !ok {
		return
	}
	sum := new(big.Int).Neg(reserved)
	for _, p := range payers {
		sum.Add(sum, new(big.Int).Mul(p.pays, big.NewInt(p.count)))
	}
	for _, b := range balances {
		for zone, n := range b.running {
			sum.Sub(sum, new(big.Int).Mul(amountOf(b.raised, zone), big.NewInt(n)))
		}
	}
	parts := together(payers, len(balances))
	for _, zone := range r.zones {
		for _, part := range parts {
			if len(part.rules) > mostTogether {
				j.malformed("%d balances are about each other's pods", len(part.rules))
				return
			}
			sum.Sub(sum, part.left(zone, balances, proofs[zone]))
		}
	}
	for _, s := range base.sortedStations() {
		if !leaving(s.node) {
			zone, _ := s.value(corev1.LabelTopologyZone)
			x := proofs[zone]
			sum.Sub(sum, x.least(x.stationLoad(s), new(big.Int)))
		}
	}
	j.proven(wholePrice(sum, base.scale), claimed)
}

func amountOf(values map[string]*big.Int, zone string) *big.Int {
	if v := values[zone]; v != nil {
		return v
	}
	return new(big.Int)
}

// unmapped says where a node has no zone or host name, or an offering no zone.
func (r *spreadReader) unmapped() string {
	for _, s := range r.sortedStations() {
		for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelHostname} {
			if value, ok := s.value(key); !ok || value == "" {
				return fmt.Sprintf("node %s has no %s", s.name, key)
			}
		}
	}
	if len(r.zones) == 0 || slices.Contains(r.zones, "") {
		return "something on sale is in no zone"
	}
	return ""
}

// readZones reads the worths of each zone.
func (r *spreadReader) readZones(cert *scheduling.Certificate) (map[string]*assignmentProof, bool) {
	out, fine := make(map[string]*assignmentProof, len(r.zones)), true
	for _, zone := range r.zones {
		own := cert.Zones[zone]
		pr, ok := r.readAssignment(&scheduling.Certificate{
			Kind: cert.Kind, Values: own.Values, Vectors: own.Vectors, Apart: cert.Apart, Steps: cert.Steps, Scale: cert.Scale,
		})
		out[zone], fine = pr, fine && ok
	}
	for _, zone := range slices.Sorted(maps.Keys(cert.Zones)) {
		if !slices.Contains(r.zones, zone) {
			r.malformed("zones: nothing is in zone %q", zone)
			fine = false
		}
	}
	return out, fine
}

// readBalances reads the constraints.
func (r *spreadReader) readBalances(cert *scheduling.Certificate) ([]*zoneBalance, bool) {
	var out []*zoneBalance
	fine := true
	held := make(map[string]bool)
	for i, named := range cert.Balances {
		raised, ok := r.naturals(fmt.Sprintf("balances[%d]: raised in ", i), named.Raised)
		taken, also := r.naturals(fmt.Sprintf("balances[%d]: taken in ", i), named.Taken)
		b, why := r.readBalance(named)
		if why == "" {
			b.raised, b.taken = raised, taken
			why = b.fault()
		}
		if why == "" {
			why = r.imbalance(b)
		}
		for name := range maps.Keys(held) {
			if why == "" && b.holders[name] {
				why = "it is named before"
			}
		}
		if why != "" {
			r.malformed("balances[%d]: %s", i, why)
		}
		if !ok || !also || why != "" {
			fine = false
			continue
		}
		maps.Copy(held, b.holders)
		out = append(out, b)
	}
	return out, fine
}

// readBalance finds the pods, and where those are that run.
func (r *spreadReader) readBalance(named scheduling.ZoneBalance) (*zoneBalance, string) {
	t := r.pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is no pending pod", named.Pod)
	}
	rule := everywhere(t)
	if rule == nil {
		return nil, fmt.Sprintf("%s is not spread over the zones of all nodes", named.Pod)
	}
	b := &zoneBalance{
		skew: int64(rule.maxSkew), holders: make(map[string]bool), counted: make(map[string]bool),
		running: make(map[string]int64), level: make(map[string]bool),
	}
	placed, same := r.placed(), map[string]bool{rule.pods.text: true}
	var sizes []*tenant
	seen := make(map[string]bool)
	for _, p := range r.sortedPods() {
		if !p.isHeld() && rule.pods.has(p.face) {
			if b.counted[p.name] = true; !placed[p.name] {
				return nil, fmt.Sprintf("it counts %s, which is not placed", p.name)
			}
		}
		own := everywhere(p)
		if own == nil || !placed[p.name] || own.maxSkew != rule.maxSkew || !r.selectsSame(own.pods, rule.pods, same) {
			continue
		}
		b.holders[p.name] = true
		if needs := p.needs() + p.asks(); !seen[needs] {
			seen[needs] = true
			sizes = append(sizes, p)
		}
	}
	for _, s := range r.stations {
		zone, _ := s.value(rule.key)
		b.level[zone] = true
		for _, f := range r.residents[s.name] {
			if rule.pods.has(f) {
				b.running[zone]++
			}
		}
	}
	r.openZones(sizes, b.level)
	return b, ""
}

// everywhere is the constraint of a pod that is over zones, if it looks at all nodes that
// have a zone and a host name.
func everywhere(t *tenant) *spreadRule {
	at := slices.IndexFunc(t.ties.spread, func(s spreadRule) bool { return s.key == corev1.LabelTopologyZone })
	if at < 0 {
		return nil
	}
	rule := &t.ties.spread[at]
	if rule.nodes.shy || slices.ContainsFunc(rule.nodes.keys, func(key string) bool { return key != corev1.LabelTopologyZone && key != corev1.LabelHostname }) {
		return nil
	}
	a := t.pod.Spec.Affinity
	asks := len(t.pod.Spec.NodeSelector) > 0 || a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	if rule.nodes.choosy && asks {
		return nil
	}
	return rule
}

// selectsSame reports whether a set has the same pods as another one, of those that wait or
// run. known has what is known of sets, by text.
func (r *spreadReader) selectsSame(a, b *podSet, known map[string]bool) bool {
	same, ok := known[a.text]
	if !ok {
		same = true
		for f := range r.waiting {
			same = same && a.has(f) == b.has(f)
		}
		for i := range r.judge.residents {
			f := r.judge.residents[i].face
			same = same && a.has(f) == b.has(f)
		}
		known[a.text] = same
	}
	return same
}

// fault says whether zones owe what they must not.
func (b *zoneBalance) fault() string {
	sum := new(big.Int)
	for _, zone := range slices.Sorted(maps.Keys(b.raised)) {
		if !b.level[zone] {
			return fmt.Sprintf("the pods of zone %s need not be looked at", zone)
		}
		sum.Add(sum, b.raised[zone])
	}
	for _, v := range b.taken {
		sum.Sub(sum, v)
	}
	if sum.Sign() < 0 {
		return "more is taken than raised"
	}
	return ""
}

// imbalance says where the plan itself does not keep the constraint.
func (r *spreadReader) imbalance(b *zoneBalance) string {
	if r.topology == nil {
		return "" // the certificate stands alone
	}
	counts, held := maps.Clone(b.running), make(map[string]bool)
	for _, x := range r.booked {
		zone, ok := x.host.value(corev1.LabelTopologyZone)
		if !ok {
			continue
		}
		if b.counted[x.name] {
			counts[zone]++
		}
		held[zone] = held[zone] || b.holders[x.name]
	}
	var faults []string
	for zone := range held {
		for other := range b.level {
			if held[zone] && counts[zone] > counts[other]+b.skew {
				faults = append(faults, fmt.Sprintf("the plan has %d pods that count in %s and %d in %s", counts[zone], zone, counts[other], other))
			}
		}
	}
	if len(faults) == 0 {
		return ""
	}
	return slices.Min(faults)
}

// payer is placed pods that need and ask the same and are about the same constraints.
type payer struct {
	*tenant
	count int64
	pays  *big.Int
	asks  int   // number of the constraint that they have, -1 for none
	among []int // of those that count them
}

// concerns is equal for pods that are about the same constraints.
func concerns(t *tenant, balances []*zoneBalance) string {
	var b strings.Builder
	for i, x := range balances {
		if x.holders[t.name] {
			fmt.Fprintf(&b, "has %d ", i)
		}
		if x.counted[t.name] {
			fmt.Fprintf(&b, "in %d ", i)
		}
	}
	return b.String()
}

// readPayers sorts the placed pods by what they pay. Where the certificate says different
// things about the same, the least counts.
func (pr *assignmentProof) readPayers(cert *scheduling.Certificate, balances []*zoneBalance) ([]*payer, bool) {
	values, ok := pr.naturals("worth of ", cert.Values)
	key := func(t *tenant) string { return concerns(t, balances) + "\n" + pr.belongs(t) + t.needs() + t.asks() }
	pays := make(map[string]*big.Int, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t := pr.pods[name]
		if t == nil {
			pr.malformed("%s is no pending pod", name)
			ok = false
			continue
		}
		if old := pays[key(t)]; old == nil || values[name].Cmp(old) < 0 {
			pays[key(t)] = values[name]
		}
	}
	placed := pr.placed()
	known := make(map[string]*payer)
	var out []*payer
	for _, t := range pr.sortedPods() {
		if !placed[t.name] {
			continue
		}
		p := known[key(t)]
		if p == nil {
			p = &payer{tenant: t, pays: amountOf(pays, key(t)), asks: -1}
			for i, b := range balances {
				if b.holders[t.name] {
					p.asks = i
				}
				if b.counted[t.name] {
					p.among = append(p.among, i)
				}
			}
			known[key(t)] = p
			out = append(out, p)
		}
		p.count++
	}
	return out, ok
}
