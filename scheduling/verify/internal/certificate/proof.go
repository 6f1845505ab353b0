package certificate

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// worthProof is one attempt to prove a lower bound from worths of pods.
//
// Take any vector of values of resources. The pods on a machine request no more than its capacity, so that their
// requests have at most the value of that. Worth of a pod beyond the value of its requests counts once for each such
// pod that the machine can hold. The sum bounds the worth of any pods that fit on the machine together, whatever the
// vector; so any vector will do whose sum is at most the price, for each machine another one. Where none does and the
// certificate says so, the patterns themselves are tried. Then the worth of all placed pods is at most the price of
// any plan, plus the worth that running nodes hold, plus the worth that reservations hold above their price. See the
// package's comment for the whole proof.
type worthProof struct {
	claim *Claim
	dims  *dimensions
	// bound bounds the worth of the pods on a machine.
	bound *worthBound
	// spreads take off the worth of pods in some domains. domains are proofs with the worths of each domain: all
	// domains with byDomain, otherwise the domains that machines have been judged in.
	spreads  []*domainSpread
	domains  map[string]*worthProof
	byDomain bool
	// reserved are the amounts that the certificate states for reservations, by ID.
	reserved map[string]*big.Int
	// multipliers are the amounts that counted machines cost more or less.
	multipliers []multiplier
	// worths are the worths of pods, by key.
	worths map[string]*big.Int
	// verdicts are the results of bareWithinPrice, by offering.
	verdicts map[*offerings.Offering]bool
	// known are the prices at which machines that hold the same passed or failed.
	known map[string]*threshold
}

// podClass is placed pods that request the same, bind the same ports and are worth the same.
// They need not ask for the same machines.
type podClass struct {
	size  []int64 // by dimension of the proof
	worth *big.Int
	// single says that no two of the pods can share a machine, because of their host ports.
	single bool
	parts  []part
	// spreads are the numbers of the spreads that the pods are members of. Of a limited class a machine holds no more
	// than most pods.
	spreads []int
	limited bool
	most    int64
}

// part is the pods of a class with a constraint, by its number.
type part struct {
	constraint int
	count      int64
}

// judgeAssignment proves the bound from worths of pods that hold in every domain.
func judgeAssignment(c *Claim, cert *certificate.Certificate, multipliers []multiplier) {
	pr, ok := readCertificate(c, cert)
	if !ok {
		return
	}
	pr.multipliers = multipliers
	reserved, ok := pr.checkMachines()
	if !ok {
		return
	}
	sum := newSum(pr.bound.scale)
	pr.addWorths(sum, cert)
	for _, z := range pr.spreads {
		sum.add(-1, z.largestLoss(), "lower duals in some domains for %s with the terms of pod %s", figure(len(z.members), "pod"), z.named)
	}
	pr.addFree(sum, reserved)
	sum.addMultipliers(multipliers)
	c.proven(sum)
}

// addWorths adds the duals of the placed pods: for each resource with the kind "resource", otherwise of all pods.
func (pr *worthProof) addWorths(s *sum, cert *certificate.Certificate) {
	if cert.Kind != certificate.ResourceKind {
		all := new(big.Int)
		for _, class := range pr.bound.classes {
			all.Add(all, new(big.Int).Mul(class.worth, big.NewInt(class.count(anywhere))))
		}
		s.add(1, all, "prices of the cheapest room for %s", figure(len(pr.claim.placed), "pod"))
		return
	}
	requested := snapshot.Amounts{}
	for _, t := range pr.claim.placed {
		requested.Add(t.Requests)
	}
	for _, name := range snapshot.Names(requested) {
		n := requested.Of(name)
		s.add(1, new(big.Int).Mul(n, valueOf(pr.bound.values[0], string(name))), "price of the cheapest room for %v %s", n, unitOf(name, n))
	}
}

// addFree takes off the duals of the pods that existing nodes and reservations can hold without a price.
func (pr *worthProof) addFree(s *sum, reserved *big.Int) {
	s.add(-1, pr.onNodes(), "free capacity of existing nodes, at the duals of the pods that it could hold")
	s.add(-1, reserved, "reserved capacity, at the duals above its price")
}

// unitOf names an amount of a resource with its base unit.
func unitOf(name corev1.ResourceName, n *big.Int) string {
	switch name {
	case corev1.ResourcePods:
		return lo.Ternary(n.Cmp(big.NewInt(1)) == 0, "pod", "pods")
	case corev1.ResourceCPU:
		return "millicores of cpu"
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return "bytes of " + string(name)
	}
	return string(name)
}

// figure is a number of things, e.g. "1 pod" or "2 pods".
func figure(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// readCertificate reads the certificate, and reports whether all of it is valid.
func readCertificate(c *Claim, cert *certificate.Certificate) (*worthProof, bool) {
	dims := &dimensions{names: c.requested()}
	resources := len(dims.names)
	ok := dims.readMeasures(c, cert)
	spreads, read := readSpreads(c, cert)
	ok = ok && read
	pr := &worthProof{
		claim: c, dims: dims, spreads: spreads, domains: make(map[string]*worthProof), worths: make(map[string]*big.Int),
		bound:    &worthBound{dims: dims, scale: uint(cert.Scale), patterns: cert.Kind == certificate.PatternKind, tries: new(int)},
		verdicts: make(map[*offerings.Offering]bool), known: make(map[string]*threshold),
	}
	values, fine := pr.claim.naturals("value of ", cert.Values)
	ok = ok && fine
	pr.reserved, fine = pr.claim.naturals("reserved: amount of ", cert.Reserved)
	ok = ok && fine
	worth := func(t *snapshot.Pod) *big.Int { return pr.worthAt(t) }
	if cert.Kind == certificate.ResourceKind {
		pr.bound.values = []map[string]*big.Int{values}
		worth = func(t *snapshot.Pod) *big.Int {
			sum := new(big.Int)
			for name, n := range t.Requests {
				sum.Add(sum, new(big.Int).Mul(n, valueOf(values, string(name))))
			}
			return sum
		}
	} else {
		ok = pr.claim.readWorths(values, pr.worths, pr.key) && ok
		for i, texts := range cert.Vectors {
			v, fine := pr.claim.naturals(fmt.Sprintf("vectors[%d]: value of ", i), texts)
			pr.bound.values, ok = append(pr.bound.values, v), ok && fine
		}
	}
	if !ok {
		return nil, false
	}
	if !pr.classify(resources, worth) {
		c.malformed("the requests of the placed pods exceed an int64")
		return nil, false
	}
	pr.bound.evaluate()
	return pr, true
}

// readWorths adds the worths of the pods that the certificate names to worths, by their keys. Where it states two for one key,
// the smaller one is taken.
func (c *Claim) readWorths(values, worths map[string]*big.Int, key func(t *snapshot.Pod) string) bool {
	ok := true
	for _, name := range slices.Sorted(maps.Keys(values)) {
		t, v := c.state.Pods[name], values[name]
		if t == nil {
			c.malformed("%s is not a pending pod of the plan", name)
			ok = false
			continue
		}
		if old := worths[key(t)]; old == nil || v.Cmp(old) < 0 {
			worths[key(t)] = v
		}
	}
	return ok
}

// key is equal for pods that the proof cannot tell apart.
func (pr *worthProof) key(t *snapshot.Pod) string {
	return pr.dims.belongs(t, pr.spreads) + t.Needs() + t.Asks()
}

// worthAt returns the worth of a pod, 0 where the certificate states none.
func (pr *worthProof) worthAt(t *snapshot.Pod) *big.Int { return valueOf(pr.worths, pr.key(t)) }

// classify sorts the placed pods. It reports whether all sums are numbers that the proof can
// handle.
func (pr *worthProof) classify(resources int, worth func(t *snapshot.Pod) *big.Int) bool {
	type place struct {
		class *podClass
		part  int
	}
	alike, classes := make(map[string]place), make(map[string]*podClass)
	total := snapshot.Amounts{}
	for _, t := range pr.claim.placed {
		total.Add(t.Requests)
		at, known := alike[pr.key(t)]
		if !known {
			value := worth(t)
			key := fmt.Sprintf("%s %s %v %q", pr.dims.belongs(t, pr.spreads), t.Needs(), value, t.Binds())
			s := classes[key]
			if s == nil {
				s = &podClass{worth: value, single: len(t.Ports) > 0, spreads: pr.spreadsOf(t)}
				for _, name := range pr.dims.names[:resources] {
					s.size = append(s.size, t.Requests.Of(name).Int64())
				}
				for _, m := range pr.dims.measures {
					s.size = append(s.size, m.request(t))
				}
				classes[key] = s
				pr.bound.classes = append(pr.bound.classes, s)
			}
			at = place{s, len(s.parts)}
			s.parts = append(s.parts, part{constraint: pr.claim.constraint[t.Asks()]})
			alike[pr.key(t)] = at
		}
		at.class.parts[at.part].count++
	}
	for _, n := range total {
		if !n.IsInt64() {
			return false
		}
	}
	return true
}

// anywhere admits pods of every constraint.
func anywhere(int) bool { return true }

// count returns the number of pods with a constraint that mayBe admits.
func (s *podClass) count(mayBe func(constraint int) bool) int64 {
	var n int64
	for _, p := range s.parts {
		if mayBe(p.constraint) {
			n += p.count
		}
	}
	return n
}

// onNodes returns the most worth that running nodes may hold.
func (pr *worthProof) onNodes() *big.Int {
	sum := new(big.Int)
	for _, s := range pr.claim.state.SortedNodes() {
		if s.Leaves() {
			continue
		}
		domain, ok := s.Value(pr.claim.key)
		x, admitted := pr.inDomain(domain, ok), make([]bool, len(pr.claim.constraints))
		for i, t := range pr.claim.constraints {
			admitted[i] = s.Admits(t, snapshot.LastingFilters)
		}
		sum.Add(sum, x.bound.tightest(x.loadOf(x.dims.room(s), func(_ *podClass, c int) bool { return admitted[c] }), new(big.Int)))
	}
	return sum
}
