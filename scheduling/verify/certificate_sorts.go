package verify

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// sort is placed pods that request the same, bind the same ports and are worth the
// same. They need not ask for the same machines.
type sort struct {
	size  []int64 // by resource of the proof
	worth *big.Int
	// single says that no two of them can share a machine, for their ports.
	single bool
	parts  []part
	// spreads are the numbers of those that count them. Of a limited sort there are most
	// at one place.
	spreads []int
	limited bool
	most    int64
}

// part is the pods of a sort that have the same constraint.
type part struct {
	constraint int // number
	count      int64
}

// count is the number of pods with a constraint that may be there.
func (s *sort) count(mayBe func(constraint int) bool) int64 {
	var n int64
	for _, p := range s.parts {
		if mayBe(p.constraint) {
			n += p.count
		}
	}
	return n
}

// asks is equal for pods that ask the same of a machine beside room.
func (t *tenant) asks() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q", t.wants, t.binds())
	b.WriteString(tolerationText(t.pod.Spec.Tolerations))
	b.WriteString(mountText(t.mounts))
	return b.String()
}

// binds are the pod's ports, in a form that is equal for equal sets of them.
func (t *tenant) binds() []string {
	out := make([]string, 0, len(t.ports))
	for _, p := range t.ports {
		if everyAddress(p.ip) {
			p.ip = ""
		}
		out = append(out, p.String())
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// needs is equal for pods that request the same.
func (t *tenant) needs() string {
	var b strings.Builder
	for _, name := range names(t.requests) {
		if n := t.requests[name]; n.Sign() > 0 {
			fmt.Fprintf(&b, "%s=%v ", name, n)
		}
	}
	return b.String()
}

// readDuals finds what the pods that the certificate names are worth, by what they
// need and ask; where it says different things about the same, the least counts.
func (pr *assignmentProof) readDuals(cert *scheduling.Certificate) (map[string]*big.Int, bool) {
	values, ok := pr.naturals("worth of ", cert.Values)
	worths := make(map[string]*big.Int, len(values))
	strangers := make([]string, 0)
	for name, v := range values {
		t := pr.pods[name]
		if t == nil {
			strangers = append(strangers, name)
			continue
		}
		key := pr.belongs(t) + t.needs() + t.asks()
		if old := worths[key]; old == nil || v.Cmp(old) < 0 {
			worths[key] = v
		}
	}
	slices.Sort(strangers)
	for _, name := range strangers {
		pr.malformed("%s is no pending pod", name)
		ok = false
	}
	return worths, ok
}

// readSorts sorts the placed pods. It reports whether all sums are numbers that the
// proof can handle.
func (pr *assignmentProof) readSorts(kinds []*kind, worths map[string]*big.Int) bool {
	sorts, constraints := make(map[string]*sort), make(map[string]int)
	totals := make([]*big.Int, len(pr.names))
	for d := range totals {
		totals[d] = new(big.Int)
	}
	for _, k := range kinds {
		asks, needs := k.asks(), k.needs()
		at, known := constraints[asks]
		if !known {
			at = len(pr.constraints)
			constraints[asks] = at
			pr.constraints = append(pr.constraints, k.tenant)
		}
		belongs := pr.belongs(k.tenant)
		worth := worths[belongs+needs+asks]
		if worth == nil {
			worth = new(big.Int)
		}
		key := fmt.Sprintf("%s %s%v %q", belongs, needs, worth, k.binds())
		s := sorts[key]
		if s == nil {
			s = &sort{size: make([]int64, len(pr.names)), worth: worth, single: len(k.ports) > 0, spreads: pr.spreadsOf(k.tenant)}
			for d, name := range pr.names {
				s.size[d] = k.requests.of(name).Int64()
			}
			for _, m := range pr.measures {
				s.size = append(s.size, m.request(k.tenant))
			}
			sorts[key] = s
			pr.sorts = append(pr.sorts, s)
		}
		s.parts = append(s.parts, part{at, k.count})
		for d, name := range pr.names {
			totals[d].Add(totals[d], k.total.of(name))
		}
	}
	return !slices.ContainsFunc(totals, func(n *big.Int) bool { return !n.IsInt64() })
}

// requested are the resources that the kinds request.
func requested(kinds []*kind) []corev1.ResourceName {
	all := amounts{}
	for _, k := range kinds {
		all.raise(k.requests)
	}
	return names(all)
}
