package schedulingtest

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// expr is a requirement on a random key, of a kind that pods and pools may both
// ask for. It rarely asks for what no node can have.
func (w *world) expr() requirements.Selector {
	switch w.IntN(9) {
	case 0, 1:
		return w.exprOn(labelKey{corev1.LabelTopologyZone, w.zones})
	case 2:
		return w.exprOn(labelKey{offerings.CapacityTypeLabel, []string{"spot", "on-demand", "reserved"}})
	case 3:
		return w.exprOn(labelKey{corev1.LabelArchStable, []string{"amd64", "amd64", "arm64"}})
	case 4:
		return w.numeric(generationKey, 5, 8)
	case 5:
		return w.numeric(cpuKey, 1, 16)
	case 6:
		return w.exprOn(labelKey{corev1.LabelInstanceTypeStable, w.typeNames()})
	case 7:
		t := pick(w.dice, w.types...)
		return w.exprOn(labelKey{familyKey, []string{t.Labels[familyKey], "m6", "c7"}})
	default:
		return w.customExpr()
	}
}

// customExpr is a requirement on a key that pools alone can give to nodes.
func (w *world) customExpr() requirements.Selector {
	key := pick(w.dice, w.keys...)
	if key.key == "example.com/level" && w.oneIn(2) {
		return w.numeric(key.key, 1, 8)
	}
	return w.exprOn(key)
}

func (w *world) exprOn(k labelKey) requirements.Selector {
	switch w.IntN(8) {
	case 0:
		return Exists(k.key)
	case 1:
		return NotIn(k.key, pick(w.dice, k.values...))
	case 2:
		if w.oneIn(4) {
			return DoesNotExist(k.key)
		}
		return NotIn(k.key, "never")
	case 3:
		return In(k.key, append(some(w.dice, k.values...), "never")...)
	default:
		return In(k.key, some(w.dice, k.values...)...)
	}
}

func (w *world) numeric(key string, lo, hi int) requirements.Selector {
	switch w.IntN(4) {
	case 0:
		return Gt(key, int64(w.between(lo-1, hi-1)))
	case 1:
		return Lt(key, int64(w.between(lo+1, hi+1)))
	case 2:
		return NotIn(key, strconv.Itoa(w.between(lo, hi)))
	default:
		return In(key, strconv.Itoa(w.between(lo, hi)), strconv.Itoa(w.between(lo, hi)))
	}
}

func (w *world) typeNames() []string {
	names := make([]string, 0, len(w.types))
	for _, t := range w.types {
		names = append(names, t.Name)
	}
	return names
}
