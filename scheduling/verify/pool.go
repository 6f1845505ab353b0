package verify

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// pool is a NodePool with what it may buy.
type pool struct {
	*scheduling.NodePool
	catalog *instancetypes.Catalog
	// given are the labels that every node of the pool gets from the pool.
	given map[string]string
	// asks are the pool's requirements.
	asks []expression
	// sold are the label keys that some type or offering of the catalog carries.
	sold map[string]bool
	// set are the label keys that some NodePool of the problem puts on its nodes.
	set map[string]bool
	// usage is the capacity of the pool's nodes, with their number.
	usage amounts
	// closed says why nothing may be launched; "" if something may.
	closed string
}

func (w *world) newPool(np *scheduling.NodePool) *pool {
	template := &np.Spec.Template
	pl := &pool{
		NodePool: np, catalog: w.catalogOf(np.Name), asks: fromSelectors(template.Spec.Requirements), usage: amounts{},
		given: make(map[string]string), sold: make(map[string]bool), set: make(map[string]bool),
	}
	for key, value := range template.Metadata.Labels {
		pl.given[requirements.NormalizeKey(key)] = value
	}
	pl.given[scheduling.NodePoolLabel] = np.Name
	if ref := template.Spec.NodeClassRef; ref != nil && ref.Group != "" && ref.Kind != "" && ref.Name != "" {
		pl.given[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	for t := range pl.catalog.All() {
		for key := range t.Labels {
			pl.sold[requirements.NormalizeKey(key)] = true
		}
		for _, o := range t.Offerings {
			for key := range o.NodeLabels() {
				pl.sold[requirements.NormalizeKey(key)] = true
			}
		}
	}
	switch {
	case np.Spec.Replicas != nil:
		pl.closed = "is static"
	case np.DeletionTimestamp != nil:
		pl.closed = "is being deleted"
	}
	return pl
}

// catalogOf is the catalog of a pool, which need not be there any more.
func (w *world) catalogOf(pool string) *instancetypes.Catalog {
	if own, ok := w.problem.PoolCatalogs[pool]; ok {
		return own
	}
	return w.problem.Catalog
}

// offers yields everything that the pool may buy now, in order of type and offering,
// reservations that have no machine left excepted.
func (w *world) offers(pl *pool, d doubt) iter.Seq[*node] {
	return func(yield func(*node) bool) {
		if pl.closed != "" {
			return
		}
		for t := range pl.catalog.All() {
			for _, o := range t.Offerings {
				if w.unavailable(t, o) != "" || w.excluded(t, o) != "" || o.CapacityType == offerings.Reserved && w.reservations[o.ReservationID] <= 0 {
					continue
				}
				n := w.newPlanned(pl, t, o, choices{}, d)
				if len(n.clashes) == 0 && len(n.unmet()) == 0 && !yield(n) {
					return
				}
			}
		}
	}
}

// unavailable says why the offering cannot be bought now; "" if it can.
func (w *world) unavailable(t *instancetypes.InstanceType, o offerings.Offering) string {
	switch {
	case o.Unavailable:
		return "is marked unavailable in the catalog"
	case w.problem.Unavailable.Has(o.Key(t.Name), w.problem.Now):
		return "failed lately"
	default:
		return ""
	}
}

// providers reports whether the label, if a node has it, comes from the provider
// although nobody else says so: a well-known key that no type and no offering of the
// catalog carries, and no NodePool sets. Whoever asks for it is believed.
func (pl *pool) providers(key string) bool {
	normal := requirements.NormalizeKey(key)
	return requirements.WellKnown().Has(key) && !pl.sold[normal] && !pl.set[normal]
}

// chooses reports whether the pool leaves the value of the label to be chosen for
// each launch: a key of its requirements that is nobody else's to set.
func (pl *pool) chooses(key string) bool {
	return !requirements.WellKnown().Has(key) && !pl.sold[key] && len(about(key, pl.asks)) > 0
}

// undecided reports whether the pool asks for a label of which the value is chosen for each
// launch.
func (pl *pool) undecided() bool {
	return slices.ContainsFunc(pl.asks, func(e expression) bool { return pl.chooses(requirements.NormalizeKey(e.key)) })
}

// minValues returns the number of distinct values that the options of a launch must
// keep, by label key.
func (pl *pool) minValues() map[string]int {
	least := make(map[string]int)
	for _, s := range pl.Spec.Template.Spec.Requirements {
		if key := requirements.NormalizeKey(s.Key); s.MinValues != nil && *s.MinValues > least[key] {
			least[key] = *s.MinValues
		}
	}
	return least
}

// enough reports whether the nodes offer the number of values wanted of each key.
func enough(nodes []*node, least map[string]int) bool {
	for key, n := range least {
		if distinct(nodes, key) < n {
			return false
		}
	}
	return true
}

func distinct(nodes []*node, key string) int {
	seen := make(map[string]bool)
	for _, n := range nodes {
		if n == nil {
			continue
		}
		if v, ok := n.labels[requirements.NormalizeKey(key)]; ok {
			seen[v] = true
		}
	}
	return len(seen)
}

// limits are the pool's limits in base units, fractions dropped.
func (pl *pool) limits() amounts { return roundedDown(pl.Spec.Limits) }

func (pl *pool) weight() int32 { return said(pl.Spec.Weight, 0) }

// prefersOthers reports whether the pool has a PreferNoSchedule taint that is not
// tolerated.
func (pl *pool) prefersOthers(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(pl.Spec.Template.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule && !tolerated(taint, tolerations)
	})
}

// capacityOf returns what a machine has: the type's capacity, where the offering
// does not say otherwise.
func capacityOf(t *instancetypes.InstanceType, o offerings.Offering) corev1.ResourceList {
	list := corev1.ResourceList{}
	maps.Copy(list, t.Capacity)
	maps.Copy(list, o.Capacity)
	return list
}

// allocatableOf returns what a machine has for pods: capacity less what kubelet,
// system and eviction threshold keep, memory also less huge pages, never below 0.
func allocatableOf(t *instancetypes.InstanceType, o offerings.Offering) amounts {
	capacity := capacityOf(t, o)
	left := make(corev1.ResourceList, len(capacity))
	for name, q := range capacity {
		free := q.DeepCopy()
		if kept, ok := o.Overhead[name]; ok {
			free.Sub(kept)
		} else {
			free.Sub(t.Overhead.KubeReserved[name])
			free.Sub(t.Overhead.SystemReserved[name])
			free.Sub(t.Overhead.EvictionThreshold[name])
		}
		if name == corev1.ResourceMemory {
			for other, pages := range capacity {
				if strings.HasPrefix(string(other), corev1.ResourceHugePagesPrefix) {
					free.Sub(pages)
				}
			}
		}
		if free.Sign() < 0 {
			free = resource.Quantity{}
		}
		left[name] = free
	}
	return roundedDown(left)
}

// findOffering returns how the type is sold in that way.
func findOffering(t *instancetypes.InstanceType, zone string, capacityType offerings.CapacityType, reservation string) (offerings.Offering, bool) {
	for _, o := range t.Offerings {
		if o.Zone == zone && o.CapacityType == capacityType && o.ReservationID == reservation {
			return o, true
		}
	}
	return offerings.Offering{}, false
}

// above says which limits a total exceeds; "" for none. Meeting one exactly is fine.
func above(total, limits amounts) string {
	var parts []string
	for _, name := range names(limits) {
		if total.of(name).Cmp(limits.of(name)) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %v exceeds the limit of %v", name, total.of(name), limits.of(name)))
		}
	}
	return strings.Join(parts, ", ")
}
