package snapshot

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Amounts are whole base units per resource: millicores of CPU, nano-USD of limits on prices, bytes of memory
// and storage, pods, devices. A resource that is absent is 0. The numbers have no
// size limit, so that no sum can overflow.
type Amounts map[corev1.ResourceName]*big.Int

// maxExponent bounds the power of ten that a quantity may be written with.
const maxExponent = 100

// RoundedUp returns a list in base units, fractions rounded up, as kube-scheduler rounds the requests of a pod.
func RoundedUp(list corev1.ResourceList) Amounts { return units(list, true) }

// roundedDown returns a list in base units, fractions dropped, as kube-scheduler rounds the capacity of a node.
func roundedDown(list corev1.ResourceList) Amounts { return units(list, false) }

func units(list corev1.ResourceList, up bool) Amounts {
	a := make(Amounts, len(list))
	for name, q := range list {
		a[name] = baseUnits(name, q, up)
	}
	return a
}

func baseUnits(name corev1.ResourceName, q resource.Quantity, up bool) *big.Int {
	own := q.DeepCopy() // AsDec changes its receiver's form
	dec := own.AsDec()
	n := new(big.Int).Set(dec.UnscaledBig())
	// The value is n ÷ 10^scale. Beyond the clamp, which no real quantity reaches,
	// numbers would only grow longer.
	scale := min(max(int64(dec.Scale()), -maxExponent), maxExponent)
	switch name {
	case corev1.ResourceCPU:
		scale -= 3
	case scheduling.PriceResource:
		scale -= 9
	}
	if scale <= 0 {
		return n.Mul(n, powerOfTen(-scale))
	}
	quotient, rest := n.DivMod(n, powerOfTen(scale), new(big.Int)) // rounds down, rest ≥ 0
	if up && rest.Sign() > 0 {
		quotient.Add(quotient, big.NewInt(1))
	}
	return quotient
}

func powerOfTen(n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
}

// Of returns the amount of one resource, for reading only.
func (a Amounts) Of(name corev1.ResourceName) *big.Int {
	if n, ok := a[name]; ok {
		return n
	}
	return new(big.Int)
}

// Plus returns the sum as a new map.
func (a Amounts) Plus(b Amounts) Amounts {
	sum := a.Clone()
	sum.Add(b)
	return sum
}

// Minus returns the difference as a new map; it may go below 0.
func (a Amounts) Minus(b Amounts) Amounts {
	diff := a.Clone()
	for name, n := range b {
		diff[name] = new(big.Int).Sub(diff.Of(name), n)
	}
	return diff
}

// Add adds b in place.
func (a Amounts) Add(b Amounts) {
	for name, n := range b {
		if have, ok := a[name]; ok {
			have.Add(have, n)
		} else {
			a[name] = new(big.Int).Set(n)
		}
	}
}

// Raise lifts a in place to the larger of both sides, resource by resource.
func (a Amounts) Raise(b Amounts) {
	for name, n := range b {
		if have, ok := a[name]; !ok || n.Cmp(have) > 0 {
			a[name] = new(big.Int).Set(n)
		}
	}
}

// Clone is a copy.
func (a Amounts) Clone() Amounts {
	c := make(Amounts, len(a))
	for name, n := range a {
		c[name] = new(big.Int).Set(n)
	}
	return c
}

// Names returns the resources that either side mentions, sorted.
func Names(sides ...Amounts) []corev1.ResourceName {
	all := make(map[corev1.ResourceName]bool)
	for _, side := range sides {
		for name := range side {
			all[name] = true
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b corev1.ResourceName) int {
		return strings.Compare(string(a), string(b))
	})
}

// Exceeding returns the resources of which need is above 0 and above have, sorted. A resource that is not requested
// cannot be short, as in kube-scheduler.
func Exceeding(need, have Amounts) []corev1.ResourceName {
	var short []corev1.ResourceName
	for name, n := range need {
		if n.Sign() > 0 && n.Cmp(have.Of(name)) > 0 {
			short = append(short, name)
		}
	}
	slices.Sort(short)
	return short
}

// USD writes an amount of nano-USD in USD, with nine decimals.
func USD(nano *big.Int) string { return new(big.Rat).SetFrac(nano, big.NewInt(1e9)).FloatString(9) }
