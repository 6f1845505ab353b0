package verify

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// The kinds of certificates.
const (
	resourceKind   = "resource"
	assignmentKind = "assignment"
	patternKind    = "pattern"
	coverKind      = "cover"
)

// maxScale bounds the scale of a certificate, so that a forged one cannot ask for
// numbers of any length.
const maxScale = 1024

// bound proves the lower bound anew from the certificate.
func (j *judge) bound() {
	claimed := j.plan.Summary.LowerBoundPerHour
	cert := j.plan.Summary.Certificate
	if cert == nil {
		if claimed > 0 {
			j.add(CertificateMissing, "summary", "lower bound %v without a certificate", claimed)
		}
		return
	}
	if cert.Scale < 0 || cert.Scale > maxScale {
		j.malformed("scale %d is not between 0 and %d", cert.Scale, maxScale)
		return
	}
	switch cert.Kind {
	case resourceKind:
		j.resourceBound(cert, claimed)
	case coverKind:
		j.coverBound(cert, claimed)
	case assignmentKind, patternKind:
		if balanced(cert) {
			j.balanceBound(cert, claimed)
			return
		}
		j.assignmentBound(cert, claimed, nil)
	case partedKind:
		j.partedBound(cert, claimed)
	default:
		j.malformed("unknown kind %q", cert.Kind)
	}
}

func (j *judge) malformed(format string, args ...any) {
	j.add(CertificateMalformed, "certificate", format, args...)
}

// resourceBound proves the bound from values of resources.
func (j *judge) resourceBound(cert *scheduling.Certificate, claimed offerings.Price) {
	values, ok := j.naturals("value of ", cert.Values)
	if len(cert.Vectors) > 0 {
		j.malformed("vectors are for another kind")
		ok = false
	}
	if len(cert.Apart) > 0 || len(cert.Steps) > 0 || len(cert.Spreads) > 0 || balanced(cert) {
		j.malformed("terms, steps and spreads are for another kind")
		ok = false
	}
	if !ok {
		return
	}
	pr := &proof{judge: j, values: resources(values), scale: uint(cert.Scale), placed: j.placedKinds()}
	if !pr.checkOffers() {
		return
	}
	if claim := big.NewInt(int64(claimed)); pr.rough().Cmp(claim) < 0 {
		j.proven(pr.exact(), claimed)
	}
}

// proven compares what is proven with what is claimed.
func (j *judge) proven(bound *big.Int, claimed offerings.Price) {
	if bound.Cmp(big.NewInt(int64(claimed))) < 0 {
		j.add(BoundUnproven, "certificate", "proves %v nano-USD, the lower bound is %v", bound, claimed)
	}
}

// naturals reads numbers by name; they have to be natural numbers.
func (j *judge) naturals(what string, texts map[string]string) (map[string]*big.Int, bool) {
	ok := true
	values := make(map[string]*big.Int, len(texts))
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		v, isNumber := new(big.Int).SetString(texts[name], 10)
		if !isNumber || v.Sign() < 0 {
			j.malformed("%s%s is %q, want a natural number", what, name, texts[name])
			ok = false
			continue
		}
		values[name] = v
	}
	return values, ok
}

// resources are values by the name of a resource.
func resources(values map[string]*big.Int) map[corev1.ResourceName]*big.Int {
	out := make(map[corev1.ResourceName]*big.Int, len(values))
	for name, v := range values {
		out[corev1.ResourceName(name)] = v
	}
	return out
}

// kind is pods that ask for the same.
type kind struct {
	*tenant
	count int64
	total amounts
}

// placed are the names of the pods that the plan places.
func (j *judge) placed() map[string]bool {
	placed := make(map[string]bool)
	for i := range j.plan.Launches {
		for _, name := range j.plan.Launches[i].Pods {
			placed[name] = true
		}
	}
	for _, a := range j.plan.Existing {
		for _, name := range a.Pods {
			placed[name] = true
		}
	}
	return placed
}

// placedKinds groups the pods that the plan places.
func (j *judge) placedKinds() []*kind {
	placed := j.placed()
	return j.kinds(func(t *tenant) bool { return placed[t.name] })
}

// kinds groups the pods that are kept, in order of the first name of each group.
func (j *judge) kinds(keep func(*tenant) bool) []*kind {
	return j.kindsBy(keep, (*tenant).signature)
}

// kindsBy groups them by what is equal for pods of a kind.
func (j *judge) kindsBy(keep func(*tenant) bool, signature func(*tenant) string) []*kind {
	groups := make(map[string]*kind)
	var out []*kind
	for _, t := range j.sortedPods() {
		if !keep(t) {
			continue
		}
		key := signature(t)
		k := groups[key]
		if k == nil {
			k = &kind{tenant: t, total: amounts{}}
			groups[key] = k
			out = append(out, k)
		}
		k.count++
		k.total.add(t.requests)
	}
	return out
}
