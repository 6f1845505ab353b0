package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// spreadReader reads the constraints over domains of a certificate, with the domains and the machines on sale there.
type spreadReader struct {
	claim        *Claim
	waiting      map[*snapshot.Identity]int64 // pods that may still be placed
	sales        []saleInDomain
	domains      []string // domains with nodes, and where pools may launch
	unlabelled   bool     // pools may buy machines that are in none
	undetermined string   // a machine that may be in any
}

// saleInDomain is the machines that a pool may launch in a domain, even as the first launch, if the same daemons run there
// for all values of its open labels.
type saleInDomain struct {
	pool     *snapshot.Pool
	domain   string
	machines []*snapshot.Node
}

func (c *Claim) spreadReader() *spreadReader {
	if c.spreads != nil {
		return c.spreads
	}
	r := &spreadReader{claim: c, waiting: make(map[*snapshot.Identity]int64)}
	c.spreads = r
	for _, t := range c.state.Pods {
		if !t.IsHeld() {
			r.waiting[t.Identity]++
		}
	}
	domains, left := make(map[string]bool), c.state.Left()
	for _, pl := range c.state.SortedPools() {
		byDomain := make(map[string][]*snapshot.Node)
		for m := range c.state.Offers(pl, snapshot.MostDaemons, nil) {
			in, known := m.May(c.key)
			if r.unlabelled = r.unlabelled || len(in) == 0; !known {
				r.undetermined = m.Title()
			}
			suits := !c.state.Daemons.Differ(pl) && m.Affordable(left) &&
				(m.Offering.CapacityType != offerings.Spot || c.state.Policy.Flexibility == scheduling.Flexibility{})
			for _, domain := range in {
				if domains[domain] = true; suits {
					byDomain[domain] = append(byDomain[domain], m)
				}
			}
		}
		for domain, machines := range byDomain {
			r.sales = append(r.sales, saleInDomain{pl, domain, machines})
		}
	}
	for _, s := range c.state.Nodes {
		if domain, ok := s.Value(c.key); ok {
			domains[domain] = true
		}
	}
	r.domains = slices.Sorted(maps.Keys(domains))
	return r
}

// look returns the domains that a constraint of the pods counts, and the running pods that it selects in each:
// domains with nodes that it counts, and those where a pool could launch a machine for one of the pods, with as many
// instance types as its minValues demand.
func (r *spreadReader) look(rule *snapshot.SpreadConstraint, pods []*snapshot.Pod) (domains map[string]bool, running map[string]int64) {
	domains, running = make(map[string]bool), make(map[string]int64)
	domainOf := make(map[string]string) // by node
	for _, s := range r.claim.state.Nodes {
		if domain, ok := s.Value(rule.Key); ok && rule.Nodes.Passes(s) {
			domains[domain], domainOf[s.Name] = true, domain
		}
	}
	for _, p := range r.claim.state.Residents {
		if domain, ok := domainOf[p.Node]; ok && rule.Pods.Has(p.Identity) {
			running[domain]++
		}
	}
	kinds := snapshot.KindsOf(pods)
	for _, s := range r.sales {
		least := s.pool.MinValues()
		if !r.claim.state.Policy.StrictMinValues() {
			least = nil
		}
		domains[s.domain] = domains[s.domain] || slices.ContainsFunc(kinds, func(k *snapshot.Kind) bool {
			there := k.Within(r.claim.key, s.domain)
			// Volumes are left out, because their numbers differ among pods of a kind.
			suits := func(m *snapshot.Node) bool { return m.Admits(there, snapshot.AllFilters&^snapshot.NodeVolumeLimits) }
			if len(least) == 0 {
				return slices.ContainsFunc(s.machines, suits)
			}
			return snapshot.Enough(lo.Filter(s.machines, func(m *snapshot.Node, _ int) bool { return suits(m) }), least)
		})
		if !domains[s.domain] {
			delete(domains, s.domain)
		}
	}
	return domains, running
}

// domainRule is the constraint of a pod over domains that must hold, nil for none: a spread, or else
// the term of anti-affinity by which it is kept apart from its like.
func domainRule(key string, t *snapshot.Pod) (rule *snapshot.SpreadConstraint, apart bool) {
	for i := range t.Terms.Spread {
		if t.Terms.Spread[i].Key == key {
			return &t.Terms.Spread[i], false
		}
	}
	for _, a := range t.Terms.AntiAffinity {
		if a.Key == key && a.Pods.Has(t.Identity) {
			return &snapshot.SpreadConstraint{Pods: a.Pods, Key: a.Key, Text: a.Text}, true
		}
	}
	return nil, false
}

// domainSpread is placed pods that one spread constraint, which selects them, spreads over domains, with equal
// demands on their nodes; or pods that one anti-affinity term keeps apart. Their worth is less in some domains.
type domainSpread struct {
	named   string // the pod that the certificate names
	rule    *snapshot.SpreadConstraint
	apart   bool
	members map[string]bool // by name
	less    map[string]*big.Int
	further map[string]*big.Int // nil where all are worth the same
	// counts are the domains of which every plan takes the minimum, running the number of running pods that count, by
	// domain.
	counts      map[string]bool
	running     map[string]int64
	pending     int64 // pods that wait and count
	least, most map[string]int64
}

// readSpreads reads them. It reports whether they can be.
func readSpreads(c *Claim, cert *certificate.Certificate) (spreads []*domainSpread, fine bool) {
	fine = true
	for i, named := range cert.Spreads {
		r := c.spreadReader()
		less, ok := r.claim.naturals(fmt.Sprintf("spreads[%d]: less in ", i), named.Less)
		var further map[string]*big.Int
		if named.Further != nil {
			also := false
			further, also = r.claim.naturals(fmt.Sprintf("spreads[%d]: less for further pods in ", i), named.Further)
			ok = ok && also
		}
		z, why := r.read(named)
		if why == "" {
			z.less, z.further = less, further
			z.bound(r.domains)
			why = r.breach(z)
		}
		if why != "" {
			r.claim.malformed("spreads[%d]: %s", i, why)
		}
		if fine = fine && ok && why == ""; fine {
			spreads = append(spreads, z)
		}
	}
	return spreads, fine
}

// read finds the pods, and where pods count that they are counted with.
func (r *spreadReader) read(named certificate.DomainSpread) (*domainSpread, string) {
	t := r.claim.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is not a pending pod of the plan", named.Pod)
	}
	rule, apart := domainRule(r.claim.key, t)
	switch {
	case rule == nil:
		return nil, fmt.Sprintf("pod %s has no topology spread or anti-affinity over the domains", named.Pod)
	case !rule.Pods.Has(t.Identity):
		return nil, fmt.Sprintf("the term of pod %s does not select the pod itself", named.Pod)
	case !apart && len(t.Mounts) > 0:
		return nil, fmt.Sprintf("pod %s has volumes", named.Pod)
	case apart && r.unmapped(r.claim.key) != "":
		return nil, r.unmapped(r.claim.key)
	}
	z := &domainSpread{named: named.Pod, rule: rule, apart: apart, members: make(map[string]bool)}
	var members []*snapshot.Pod
	for _, p := range r.claim.placed {
		if own, _ := domainRule(r.claim.key, p); own != nil && own.Text == rule.Text && (apart || p.Asks() == t.Asks()) && rule.Pods.Has(p.Identity) {
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

// bound works out how many of the pods may be in each domain, in every plan that keeps the
// constraint over the domains that count.
func (z *domainSpread) bound(domains []string) {
	z.least, z.most = make(map[string]int64), make(map[string]int64)
	pods := int64(len(z.members))
	if z.apart {
		for _, domain := range domains {
			z.most[domain] = max(0, min(pods, 1-z.running[domain]))
		}
	} else {
		z.level(domains, pods)
	}
	// The number in a domain is bounded by the numbers that the other domains must and may have.
	atLeast, atMost := int64(0), int64(0)
	for _, domain := range domains {
		atLeast += z.least[domain]
		atMost += z.most[domain]
	}
	for _, domain := range domains {
		low, high := z.least[domain], z.most[domain]
		z.most[domain] = max(low, min(high, pods-(atLeast-low)))
		z.least[domain] = min(z.most[domain], max(low, pods-(atMost-high)))
	}
}

// level bounds the numbers for a spread, each domain by itself.
func (z *domainSpread) level(domains []string, pods int64) {
	skew := int64(z.rule.MaxSkew)
	// Once the last of the pods has bound to a domain, no domain that counts has fewer pods than
	// this one without the skew.
	for _, domain := range domains {
		z.most[domain] = 0
		for n := pods; n > 0; n-- {
			top, missing := z.running[domain]+n, n
			for other := range z.counts {
				if other != domain {
					missing += max(0, top-skew-z.running[other])
				}
			}
			if missing <= z.pending {
				z.most[domain] = n
				break
			}
		}
	}
	// If the emptiest domain that counts has so many in the end, no domain can have taken more
	// of the pods than fill it up to that and the skew, and that domain itself no skew. As
	// long as that is not enough for all of them, it has more.
	if len(z.counts) == 0 {
		return
	}
	low := lo.Min(lo.Map(lo.Keys(z.counts), func(domain string, _ int) int64 { return z.running[domain] }))
	for ; ; low++ {
		room := -skew
		for _, domain := range domains {
			room += max(0, low+skew-z.running[domain])
		}
		if room >= pods {
			break
		}
	}
	for domain := range z.counts {
		z.least[domain] = min(z.most[domain], max(0, low-z.running[domain]-(z.pending-pods)))
	}
}

// beyond returns the number of pods that are not bound to any one domain by least.
func (z *domainSpread) beyond() int64 {
	return int64(len(z.members)) - lo.Sum(lo.Values(z.least))
}

// breach returns a domain in which the plan itself breaks the bounds; "" for none.
func (r *spreadReader) breach(z *domainSpread) string {
	if r.claim.at == nil {
		return "" // the certificate stands alone
	}
	counts := r.planned(z.members)
	for _, domain := range r.domains {
		if n := counts[domain]; n < z.least[domain] || n > z.most[domain] {
			return fmt.Sprintf("the plan has %d of its pods in %s, outside of %d to %d", n, domain, z.least[domain], z.most[domain])
		}
	}
	return ""
}

// planned counts some pods by the domain in which the plan has them.
func (r *spreadReader) planned(pods map[string]bool) map[string]int64 {
	counts := make(map[string]int64)
	for name, at := range r.claim.at {
		if domain, ok := at.Value(r.claim.key); ok && pods[name] {
			counts[domain]++
		}
	}
	return counts
}

// selectsSame reports whether two sets select the same of some pods. known are the answers so far, by the text of the
// first set.
func selectsSame(a, b *snapshot.PodSelector, pods []*snapshot.Identity, known map[string]bool) bool {
	same, ok := known[a.Text]
	if !ok {
		same = !slices.ContainsFunc(pods, func(f *snapshot.Identity) bool { return a.Has(f) != b.Has(f) })
		known[a.Text] = same
	}
	return same
}

// largestLoss returns the most by which the worth of the pods is less, wherever they are.
func (z *domainSpread) largestLoss() *big.Int {
	sum := new(big.Int)
	for domain, less := range z.less {
		sum.Add(sum, new(big.Int).Mul(less, big.NewInt(z.least[domain])))
	}
	further := z.further
	if further == nil {
		further = z.less
	}
	left := z.beyond()
	for _, domain := range slices.SortedFunc(maps.Keys(further), func(a, b string) int { return further[b].Cmp(further[a]) }) {
		n := max(0, min(left, z.most[domain]-z.least[domain]))
		left -= n
		sum.Add(sum, new(big.Int).Mul(further[domain], big.NewInt(n)))
	}
	return sum
}
