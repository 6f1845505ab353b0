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
	waiting      map[*snapshot.Identity]int64 // number of pending pods that a plan may place
	sales        []saleInDomain
	domains      []string // domains with nodes, and where pools may launch
	unlabelled   bool     // pools may launch machines without a domain
	undetermined string   // title of a machine that may be in any domain; "" for none
}

// saleInDomain is the machines that a pool may launch in a domain, even as the first launch, if the same daemons run there
// for all values of its open labels.
type saleInDomain struct {
	pool     *snapshot.Pool
	domain   string
	machines []*snapshot.Node
}

// spreadReader returns the reader of the claim, made once.
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

// countDomains returns the domains over which a constraint of the pods takes the minimum, and the number of running pods that
// it counts in each. These are the domains with nodes that it counts, and the domains where a pool could launch a machine for
// one of the pods, with as many instance types as its minValues demand.
func (r *spreadReader) countDomains(term *snapshot.SpreadConstraint, pods []*snapshot.Pod) (domains map[string]bool, running map[string]int64) {
	domains, running = make(map[string]bool), make(map[string]int64)
	domainOf := make(map[string]string) // by node
	for _, s := range r.claim.state.Nodes {
		if domain, ok := s.Value(term.Key); ok && term.Nodes.Passes(s) {
			domains[domain], domainOf[s.Name] = true, domain
		}
	}
	for _, p := range r.claim.state.Residents {
		if domain, ok := domainOf[p.Node]; ok && term.Pods.Has(p.Identity) {
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

// domainTerm returns the topology term over domains that bounds how many pods like the pod a domain has, nil for none: a
// topology spread constraint, or else, with apart set, a term of anti-affinity that selects the pod itself.
func domainTerm(key string, t *snapshot.Pod) (term *snapshot.SpreadConstraint, apart bool) {
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

// domainSpread is placed pods with the same term over domains: a spread constraint, which counts them, and then equal
// demands on their nodes; or an anti-affinity term that keeps them apart. A certificate lowers their worth in some domains.
type domainSpread struct {
	named   string // the pod that the certificate names
	term    *snapshot.SpreadConstraint
	apart   bool
	members map[string]bool // by name
	// less is the amount off the worth of least pods in a domain, further that of the pods beyond least; nil if the same.
	less, further map[string]*big.Int
	// eligible are the domains over which the minimum is taken, running the number of running pods that the term counts, by
	// domain, pending the number of pending ones. least and most bound the number of the placed pods in a domain.
	eligible    map[string]bool
	running     map[string]int64
	pending     int64
	least, most map[string]int64
}

// readSpreads reads the spreads of a certificate, and reports whether all entries are valid.
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

// read finds the placed pods that have the term of the named pod, and the pods that the term counts; otherwise it says why the
// entry is not valid.
func (r *spreadReader) read(named certificate.DomainSpread) (*domainSpread, string) {
	t := r.claim.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is not a pending pod of the plan", named.Pod)
	}
	term, apart := domainTerm(r.claim.key, t)
	switch {
	case term == nil:
		return nil, fmt.Sprintf("pod %s has no topology spread or anti-affinity over the domains", named.Pod)
	case !term.Pods.Has(t.Identity):
		return nil, fmt.Sprintf("the term of pod %s does not select the pod itself", named.Pod)
	case !apart && len(t.Mounts) > 0:
		return nil, fmt.Sprintf("pod %s has volumes", named.Pod)
	case apart && r.withoutDomain(r.claim.key) != "":
		return nil, r.withoutDomain(r.claim.key)
	}
	z := &domainSpread{named: named.Pod, term: term, apart: apart, members: make(map[string]bool)}
	var members []*snapshot.Pod
	for _, p := range r.claim.placed {
		if own, _ := domainTerm(r.claim.key, p); own != nil && own.Text == term.Text && (apart || p.Asks() == t.Asks()) && term.Pods.Has(p.Identity) {
			z.members[p.Name] = true
			members = append(members, p)
		}
	}
	for f, n := range r.waiting {
		if term.Pods.Has(f) {
			z.pending += n
		}
	}
	z.eligible, z.running = r.countDomains(term, members)
	return z, ""
}

// bound sets least and most: how many of the pods each domain has in every plan that keeps the term.
func (z *domainSpread) bound(domains []string) {
	z.least, z.most = make(map[string]int64), make(map[string]int64)
	pods := int64(len(z.members))
	if z.apart {
		for _, domain := range domains {
			z.most[domain] = max(0, min(pods, 1-z.running[domain]))
		}
	} else {
		z.boundEach(domains, pods)
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

// boundEach bounds the number of pods in each domain by a spread constraint, without regard to the bounds of other domains.
func (z *domainSpread) boundEach(domains []string, pods int64) {
	skew := int64(z.term.MaxSkew)
	// When the last of the pods binds to a domain, each eligible domain has at least as many pods as this one less the
	// skew. Only pending pods can have filled them up.
	for _, domain := range domains {
		z.most[domain] = 0
		for n := pods; n > 0; n-- {
			top, missing := z.running[domain]+n, n
			for other := range z.eligible {
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
	// If the emptiest eligible domain has low pods in the end, no domain has more than low and the skew, and that domain has
	// no more than low. As long as this does not suffice for all of the pods, low must be higher.
	if len(z.eligible) == 0 {
		return
	}
	low := lo.Min(lo.Map(lo.Keys(z.eligible), func(domain string, _ int) int64 { return z.running[domain] }))
	for ; ; low++ {
		room := -skew
		for _, domain := range domains {
			room += max(0, low+skew-z.running[domain])
		}
		if room >= pods {
			break
		}
	}
	for domain := range z.eligible {
		z.least[domain] = min(z.most[domain], max(0, low-z.running[domain]-(z.pending-pods)))
	}
}

// beyond returns the number of pods that are not bound to any one domain by least.
func (z *domainSpread) beyond() int64 {
	return int64(len(z.members)) - lo.Sum(lo.Values(z.least))
}

// breach says in which domain the plan itself breaks the bounds; "" for none.
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

// selectsSame reports whether two selectors select the same pods among the given ones. known are the answers so far, by the
// text of the first selector.
func selectsSame(a, b *snapshot.PodSelector, pods []*snapshot.Identity, known map[string]bool) bool {
	same, ok := known[a.Text]
	if !ok {
		same = !slices.ContainsFunc(pods, func(f *snapshot.Identity) bool { return a.Has(f) != b.Has(f) })
		known[a.Text] = same
	}
	return same
}

// largestLoss returns the most that is taken off the worth of the pods, in whichever domains within the bounds they are.
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
