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

// domainBalance is a topology spread constraint over domains, as it holds once all pods are bound, with its
// multipliers: the amounts by which a certificate raises the worth of counted pods in a domain, and takes from
// holders there.
type domainBalance struct {
	named         string // the pod that the certificate names
	skew          int64
	holders       map[string]bool // placed pods that have it, by name
	counted       map[string]bool // placed pods that it counts
	running       map[string]int64
	level         map[string]bool // the domains of which the emptiest counts
	raised, taken map[string]*big.Int
}

// byDomain reports whether a certificate has worths by domain.
func byDomain(cert *certificate.Certificate) bool {
	return len(cert.Domains) > 0 || len(cert.Balances) > 0
}

// judgeDomains proves the bound from worths by domain. In each domain the worth of pods is at most the price of their
// machines, whatever the plan. The certificate lets pods pay amounts of their own; their excess over the worth in a
// domain, with the multipliers of the balances, is bounded domain by domain.
func judgeDomains(c *Claim, cert *certificate.Certificate) {
	if len(cert.Vectors) > 0 || len(cert.Spreads) > 0 {
		c.malformed("with domains, vectors stand in each domain, and spreads must be empty")
		return
	}
	r := c.spreadReader()
	if why := r.unmapped(r.claim.key, corev1.LabelHostname); why != "" {
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
	for _, part := range together(payers, len(balances)) {
		if len(part.rules) > mostTogether {
			c.malformed("%d balances concern the same pods, at most %d may", len(part.rules), mostTogether)
			return
		}
		for _, domain := range r.domains {
			left[domain] = new(big.Int).Add(valueOf(left, domain), part.left(domain, balances, proofs[domain]))
		}
	}
	for _, domain := range r.domains {
		sum.add(-1, valueOf(left, domain), "payments left over in %s at most, above the duals of the pods there", domain)
	}
	c.proven(sum)
}

// unmapped returns a node that lacks one of some labels, or an offering without a domain; "" for none.
func (r *spreadReader) unmapped(keys ...string) string {
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
func (r *spreadReader) readDomains(cert *certificate.Certificate) (map[string]*proof, bool) {
	out, fine := make(map[string]*proof, len(r.domains)), true
	for _, domain := range r.domains {
		own := cert.Domains[domain]
		pr, ok := readProof(r.claim, &certificate.Certificate{
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

// readBalances reads the constraints.
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

// readBalance finds the pods, and where those are that run.
func (r *spreadReader) readBalance(named certificate.DomainBalance) (*domainBalance, string) {
	t := r.claim.state.Pods[named.Pod]
	if t == nil {
		return nil, fmt.Sprintf("%s is not a pending pod of the plan", named.Pod)
	}
	rule := everywhere(r.claim.key, t)
	if rule == nil {
		return nil, fmt.Sprintf("pod %s has no topology spread that counts all nodes", named.Pod)
	}
	b := &domainBalance{named: named.Pod, skew: int64(rule.MaxSkew), holders: make(map[string]bool), counted: make(map[string]bool)}
	same, faces := make(map[string]bool), slices.Collect(maps.Keys(r.waiting))
	for _, p := range r.claim.state.Residents {
		faces = append(faces, p.Identity)
	}
	var holders []*snapshot.Pod
	for _, p := range r.claim.placed {
		b.counted[p.Name] = rule.Pods.Has(p.Identity)
		if own := everywhere(r.claim.key, p); own != nil && own.MaxSkew == rule.MaxSkew && selectsSame(own.Pods, rule.Pods, faces, same) {
			b.holders[p.Name] = true
			holders = append(holders, p)
		}
	}
	for _, p := range r.claim.state.SortedPods() {
		if _, placed := b.counted[p.Name]; !placed && !p.IsHeld() && rule.Pods.Has(p.Identity) {
			return nil, fmt.Sprintf("it counts pod %s, which is not placed", p.Name)
		}
	}
	b.level, b.running = r.look(rule, holders)
	return b, ""
}

// everywhere returns the spread constraint of a pod over domains, if it counts all nodes that have a domain and a
// host name; nil for none.
func everywhere(key string, t *snapshot.Pod) *snapshot.SpreadConstraint {
	rule, apart := domainRule(key, t)
	if rule == nil || apart || rule.Nodes.HonorTaints || slices.ContainsFunc(rule.Nodes.Keys, func(other string) bool { return other != key && other != corev1.LabelHostname }) {
		return nil
	}
	a := t.Object.Spec.Affinity
	asks := len(t.Object.Spec.NodeSelector) > 0 || a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil
	if rule.Nodes.HonorAffinity && asks {
		return nil
	}
	return rule
}

// fault returns why the multipliers prove nothing, "" if they may.
func (b *domainBalance) fault() string {
	sum := new(big.Int)
	for _, domain := range slices.Sorted(maps.Keys(b.raised)) {
		if !b.level[domain] {
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

// imbalance returns where the plan itself breaks the constraint, "" for nowhere.
func (r *spreadReader) imbalance(b *domainBalance) string {
	counts, held := r.planned(b.counted), r.planned(b.holders)
	for domain, n := range b.running {
		counts[domain] += n
	}
	for _, domain := range slices.Sorted(maps.Keys(held)) {
		for _, other := range slices.Sorted(maps.Keys(b.level)) {
			if counts[domain] > counts[other]+b.skew {
				return fmt.Sprintf("the plan breaks maxSkew: %d pods in %s and %d in %s", counts[domain], domain, counts[other], other)
			}
		}
	}
	return ""
}

// payer is placed pods with equal requests and demands that the same constraints concern.
type payer struct {
	pod   *snapshot.Pod
	count int64
	pays  *big.Int
	asks  int   // number of the constraint that they have, -1 for none
	among []int // of those that count them
}

// about are the constraints that concern the pods.
func (p *payer) about() []int {
	if p.asks >= 0 {
		return append([]int{p.asks}, p.among...)
	}
	return p.among
}

// readPayers groups the placed pods by the amount that they pay. Where the certificate states two amounts for one
// group, the least counts.
func readPayers(pr *proof, cert *certificate.Certificate, balances []*domainBalance) ([]*payer, bool) {
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
	ok = pr.claim.readDuals(values, pays, key) && ok
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
