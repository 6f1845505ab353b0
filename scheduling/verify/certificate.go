package verify

import (
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// resourceKind is the one kind of certificate there is.
const resourceKind = "resource"

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
	values, ok := j.certificateValues(cert)
	if !ok {
		return
	}
	pr := &proof{judge: j, values: values, scale: uint(cert.Scale), placed: j.placedKinds()}
	if !pr.checkOffers() {
		return
	}
	if claim := big.NewInt(int64(claimed)); pr.rough().Cmp(claim) < 0 {
		if proven := pr.exact(); proven.Cmp(claim) < 0 {
			j.add(BoundUnproven, "certificate", "proves %v nano-USD, the lower bound is %v", proven, claimed)
		}
	}
}

// certificateValues reads the values; they have to be natural numbers.
func (j *judge) certificateValues(cert *scheduling.Certificate) (map[corev1.ResourceName]*big.Int, bool) {
	ok := true
	bad := func(format string, args ...any) {
		j.add(CertificateMalformed, "certificate", format, args...)
		ok = false
	}
	if cert.Kind != resourceKind {
		bad("unknown kind %q", cert.Kind)
	}
	if cert.Scale < 0 || cert.Scale > maxScale {
		bad("scale %d is not between 0 and %d", cert.Scale, maxScale)
	}
	values := make(map[corev1.ResourceName]*big.Int, len(cert.Values))
	for _, name := range slices.Sorted(maps.Keys(cert.Values)) {
		v, isNumber := new(big.Int).SetString(cert.Values[name], 10)
		if !isNumber || v.Sign() < 0 {
			bad("value of %s is %q, want a natural number", name, cert.Values[name])
			continue
		}
		values[corev1.ResourceName(name)] = v
	}
	return values, ok
}

// kind is pods that ask for the same.
type kind struct {
	*tenant
	total amounts
}

// placedKinds groups the pods that the plan places.
func (j *judge) placedKinds() []*kind {
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
	return j.kinds(func(t *tenant) bool { return placed[t.name] })
}

// kinds groups the pods that are kept, in order of the first name of each group.
func (j *judge) kinds(keep func(*tenant) bool) []*kind {
	groups := make(map[string]*kind)
	var out []*kind
	for _, t := range j.sortedPods() {
		if !keep(t) {
			continue
		}
		key := t.signature()
		k := groups[key]
		if k == nil {
			k = &kind{tenant: t, total: amounts{}}
			groups[key] = k
			out = append(out, k)
		}
		k.total.add(t.requests)
	}
	return out
}
