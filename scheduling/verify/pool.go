package verify

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
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
		NodePool: np,
		catalog:  w.catalogOf(np.Name),
		given:    make(map[string]string),
		asks:     fromSelectors(template.Spec.Requirements),
		sold:     make(map[string]bool),
		set:      make(map[string]bool),
		usage:    amounts{},
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

// limits are the pool's limits in base units, fractions dropped.
func (pl *pool) limits() amounts { return roundedDown(pl.Spec.Limits) }

func (pl *pool) weight() int32 {
	if pl.Spec.Weight == nil {
		return 0
	}
	return *pl.Spec.Weight
}

// prefersOthers reports whether the pool has a PreferNoSchedule taint that is not
// tolerated.
func (pl *pool) prefersOthers(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(pl.Spec.Template.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule &&
			!slices.ContainsFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t, taint) })
	})
}
