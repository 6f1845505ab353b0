package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// domainBalance is a topology spread constraint over domains, as it holds once all pods are bound, with its multipliers by
// domain. Over all domains Σ taken·(count − maxSkew) ≤ Σ raised·count, where count is the number of pods that the constraint
// counts, and a domain without a pod that has the constraint has no part in the left sum.
type domainBalance struct {
	named         string // the pod that the certificate names
	skew          int64
	holders       map[string]bool  // placed pods that have the constraint, by name
	counted       map[string]bool  // placed pods that the constraint counts, by name
	running       map[string]int64 // number of running pods that the constraint counts, by domain
	eligible      map[string]bool  // domains over which the minimum is taken
	raised, taken map[string]*big.Int
}

// byDomain reports whether a certificate has worths by domain.
func byDomain(cert *certificate.Certificate) bool {
	return len(cert.Domains) > 0 || len(cert.Balances) > 0
}

// judgeDomains proves the bound from worths by domain. In each domain the worth of pods is at most the price of their
// machines, whatever the plan. The certificate gives each pod a payment, the same in all domains. The payments of the pods
// of a domain may exceed their worth there, by an amount that is bounded for each domain with the multipliers of the balances.
func judgeDomains(c *Claim, cert *certificate.Certificate) {
	if len(cert.Vectors) > 0 || len(cert.Spreads) > 0 {
		c.malformed("with domains, vectors stand in each domain, and spreads must be empty")
		return
	}
	r := c.spreadReader()
	if why := r.withoutDomain(r.claim.key, corev1.LabelHostname); why != "" {
		c.malformed("%s", why)
		return
	}
	balances, fine := r.readBalances(cert)
	proofs, read := r.readDomains(cert)
	if !fine || !read {
		return
	}
	base := *proofs[r.domains[0]]
	base.domains, base.byDomain = proofs, true
	payers, ok := readPayers(&base, cert, balances)
	if !ok {
		return
	}
	reserved, ok := base.checkMachines()
	if !ok {
		return
	}
	sum, all := newSum(base.bound.scale), new(big.Int)
	for _, p := range payers {
		all.Add(all, new(big.Int).Mul(p.pays, big.NewInt(p.count)))
	}
	sum.add(1, all, "payments of %s", figure(len(c.placed), "pod"))
	base.addFree(sum, reserved)
	for _, b := range balances {
		for _, domain := range slices.Sorted(maps.Keys(b.running)) {
			n := b.running[domain]
			sum.add(-1, new(big.Int).Mul(valueOf(b.raised, domain), big.NewInt(n)), "multiplier of %s, for %d running pods that the spread of pod %s counts", domain, n, b.named)
		}
	}
	left := make(map[string]*big.Int)
	for _, part := range linkedSpreads(payers, len(balances)) {
		if len(part.balances) > mostLinked {
			c.malformed("%d balances concern the same pods, at most %d may", len(part.balances), mostLinked)
			return
		}
		for _, domain := range r.domains {
			left[domain] = new(big.Int).Add(valueOf(left, domain), part.mostLeft(domain, balances, proofs[domain]))
		}
	}
	for _, domain := range r.domains {
		sum.add(-1, valueOf(left, domain), "payments left over in %s at most, above the duals of the pods there", domain)
	}
	c.proven(sum)
}

// withoutDomain says which node lacks one of the labels, or that an offering has no domain; "" if all have a domain.
func (r *spreadReader) withoutDomain(keys ...string) string {
	for _, s := range r.claim.state.SortedNodes() {
		for _, key := range keys {
			if value, ok := s.Value(key); !ok || value == "" {
				return fmt.Sprintf("node %s has no %s", s.Name, key)
			}
		}
	}
	if len(r.domains) == 0 || slices.Contains(r.domains, "") || r.unlabelled {
		return "an offering has no domain"
	}
	return ""
}

// readDomains reads the worths of each domain.
func (r *spreadReader) readDomains(cert *certificate.Certificate) (map[string]*worthProof, bool) {
	out, fine := make(map[string]*worthProof, len(r.domains)), true
	for _, domain := range r.domains {
		own := cert.Domains[domain]
		pr, ok := readCertificate(r.claim, &certificate.Certificate{
			Kind: cert.Kind, Values: own.Values, Vectors: own.Vectors, Apart: cert.Apart, Steps: cert.Steps, Scale: cert.Scale,
		})
		out[domain], fine = pr, fine && ok
	}
	for _, domain := range slices.Sorted(maps.Keys(cert.Domains)) {
		if !slices.Contains(r.domains, domain) {
			r.claim.malformed("domains: %q is no domain of a node or offering", domain)
			fine = false
		}
	}
	return out, fine
}

// readBalances reads the spread constraints with multipliers, and reports whether all entries are valid.
func (r *spreadReader) readBalances(cert *certificate.Certificate) ([]*domainBalance, bool) {
	var out []*domainBalance
	fine := true
	for i, named := range cert.Balances {
		raised, ok := r.claim.naturals(fmt.Sprintf("balances[%d]: raised in ", i), named.Raised)
		taken, also := r.claim.naturals(fmt.Sprintf("balances[%d]: taken in ", i), named.Taken)
		b, why := r.readBalance(named)
		if why == "" {
			b.raised, b.taken = raised, taken
			why = b.fault()
		}
		if why == "" {
			why = r.imbalance(b)
		}
		if why == "" && slices.ContainsFunc(out, func(o *domainBalance) bool { return len(lo.Intersect(lo.Keys(o.holders), lo.Keys(b.holders))) > 0 }) {
			why = "its topology spread is that of an earlier entry"
		}
		if why != "" {
			r.claim.malformed("balances[%d]: %s", i, why)
		}
		if fine = fine && ok && also && why == ""; fine {
			out = append(out, b)
		}
	}
	return out, fine
}

// readBalance finds the pods that have the spread constraint of the named pod, and the pods that it counts; otherwise it
// says why the entry is not valid.
func (r *spreadReader) readBalance(named certificate.DomainBalance) (*domainBalance, string) {
	t := r.claim.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is not a pending pod of the plan", named.Pod)
	}
	term := spreadOverAllNodes(r.claim.key, t)
	if term == nil {
		return nil, fmt.Sprintf("pod %s has no topology spread that counts all nodes", named.Pod)
	}
	b := &domainBalance{named: named.Pod, skew: int64(term.MaxSkew), holders: make(map[string]bool), counted: make(map[string]bool)}
	same, identities := make(map[string]bool), slices.Collect(maps.Keys(r.waiting))
	for _, p := range r.claim.state.Residents {
		identities = append(identities, p.Identity)
	}
	var holders []*snapshot.Pod
	for _, p := range r.claim.placed {
		b.counted[p.Name] = term.Pods.Has(p.Identity)
		if own := spreadOverAllNodes(r.claim.key, p); own != nil && own.MaxSkew == term.MaxSkew && selectsSame(own.Pods, term.Pods, identities, same) {
			b.holders[p.Name] = true
			holders = append(holders, p)
		}
	}
	for _, p := range r.claim.state.SortedPods() {
		if _, placed := b.counted[p.Name]; !placed && !p.IsHeld() && term.Pods.Has(p.Identity) {
			return nil, fmt.Sprintf("it counts pod %s, which is not placed", p.Name)
		}
	}
	b.eligible, b.running = r.countDomains(term, holders)
	return b, ""
}

// spreadOverAllNodes returns the spread constraint of a pod over domains if it counts all nodes with a domain and a host
// name, and nil otherwise, e.g. if its nodeAffinityPolicy leaves nodes out.
func spreadOverAllNodes(key string, t *snapshot.Pod) *snapshot.SpreadConstraint {
	term, apart := domainTerm(key, t)
	if term == nil || apart || term.Nodes.HonorTaints || slices.ContainsFunc(term.Nodes.Keys, func(other string) bool { return other != key && other != corev1.LabelHostname }) {
		return nil
	}
	a := t.Object.Spec.Affinity
	asks := len(t.Object.Spec.NodeSelector) > 0 || a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	if term.Nodes.HonorAffinity && asks {
		return nil
	}
	return term
}

// fault says why the multipliers prove nothing; "" if they may prove a bound.
func (b *domainBalance) fault() string {
	sum := new(big.Int)
	for _, domain := range slices.Sorted(maps.Keys(b.raised)) {
		if !b.eligible[domain] {
			return fmt.Sprintf("raised in %s, which the topology spread does not count", domain)
		}
		sum.Add(sum, b.raised[domain])
	}
	for _, v := range b.taken {
		sum.Sub(sum, v)
	}
	if sum.Sign() < 0 {
		return "the sum of taken exceeds the sum of raised"
	}
	return ""
}

// imbalance says in which domains the plan itself breaks the constraint; "" for none.
func (r *spreadReader) imbalance(b *domainBalance) string {
	counts, held := r.planned(b.counted), r.planned(b.holders)
	for domain, n := range b.running {
		counts[domain] += n
	}
	for _, domain := range slices.Sorted(maps.Keys(held)) {
		for _, other := range slices.Sorted(maps.Keys(b.eligible)) {
			if counts[domain] > counts[other]+b.skew {
				return fmt.Sprintf("the plan breaks maxSkew: %d pods in %s and %d in %s", counts[domain], domain, counts[other], other)
			}
		}
	}
	return ""
}

// payer is a class of placed pods with equal requests and demands that have, and are counted by, the same balances. Balances
// are given by their number.
type payer struct {
	pod   *snapshot.Pod // one of the pods
	count int64
	pays  *big.Int // the payment of each
	asks  int      // the balance that the pods have, -1 for none
	among []int    // the balances that count the pods
}

// about returns the balances that the pods have or are counted by.
func (p *payer) about() []int {
	if p.asks >= 0 {
		return append([]int{p.asks}, p.among...)
	}
	return p.among
}

// readPayers groups the placed pods into payers. Where the certificate states two payments for one of them, the smaller one
// is taken.
func readPayers(pr *worthProof, cert *certificate.Certificate, balances []*domainBalance) ([]*payer, bool) {
	concerns := func(t *snapshot.Pod) (asks int, among []int) {
		asks = -1
		for i, b := range balances {
			if b.holders[t.Name] {
				asks = i
			}
			if b.counted[t.Name] {
				among = append(among, i)
			}
		}
		return asks, among
	}
	key := func(t *snapshot.Pod) string {
		asks, among := concerns(t)
		return fmt.Sprintf("%d %v %s", asks, among, pr.key(t))
	}
	values, ok := pr.claim.naturals("worth of ", cert.Values)
	pays := make(map[string]*big.Int, len(values))
	ok = pr.claim.readWorths(values, pays, key) && ok
	known := make(map[string]*payer)
	var out []*payer
	for _, t := range pr.claim.placed {
		at := key(t)
		p := known[at]
		if p == nil {
			p = &payer{pod: t, pays: valueOf(pays, at)}
			p.asks, p.among = concerns(t)
			known[at] = p
			out = append(out, p)
		}
		p.count++
	}
	return out, ok
}
