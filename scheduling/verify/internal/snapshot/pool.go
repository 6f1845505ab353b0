package snapshot

import (
	"iter"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Pool is a NodePool with its catalog, labels and requirements.
type Pool struct {
	Object  *scheduling.NodePool
	Catalog *instancetypes.Catalog
	// Given are the labels that every node of the pool gets from the pool.
	Given map[string]string
	// Asks are the pool's requirements.
	Asks []Expression
	// sold are the label keys that some type or offering of the catalog carries.
	sold map[string]bool
	// set are the label keys that some NodePool of the problem puts on its nodes.
	set map[string]bool
	// Limits are the limits of its spec in base units, fractions dropped; Usage is the capacity of the pool's nodes,
	// with their number.
	Limits, Usage Amounts
	// Closed says why the pool launches nothing; "" if it may launch.
	Closed string
}

func (w *State) newPool(np *scheduling.NodePool) *Pool {
	template := &np.Spec.Template
	pl := &Pool{
		Object: np, Catalog: w.catalogOf(np.Name), Asks: FromSelectors(template.Spec.Requirements), Limits: roundedDown(np.Spec.Limits), Usage: Amounts{},
		Given: make(map[string]string), sold: make(map[string]bool), set: make(map[string]bool),
	}
	for key, value := range template.Metadata.Labels {
		pl.Given[requirements.NormalizeKey(key)] = value
	}
	pl.Given[scheduling.NodePoolLabel] = np.Name
	if ref := template.Spec.NodeClassRef; ref != nil && ref.Group != "" && ref.Kind != "" && ref.Name != "" {
		pl.Given[ref.Group+"/"+strings.ToLower(ref.Kind)] = ref.Name
	}
	for t := range pl.Catalog.All() {
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
		pl.Closed = "is static"
	case np.DeletionTimestamp != nil:
		pl.Closed = "is being deleted"
	}
	return pl
}

// catalogOf returns the catalog of a pool, also of one that is not in the problem.
func (w *State) catalogOf(pool string) *instancetypes.Catalog {
	if own, ok := w.Problem.PoolCatalogs[pool]; ok {
		return own
	}
	return w.Problem.Catalog
}

// Offers yields a planned node for each offering that the pool may launch now, in order of type and offering, without
// those for which skip reports true. Reservations with too little left for a node are left out. skip may be nil.
func (w *State) Offers(pl *Pool, d DaemonCount, skip func(t *instancetypes.InstanceType, o *offerings.Offering) bool) iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		if pl.Closed != "" {
			return
		}
		for t := range pl.Catalog.All() {
			for i := range t.Offerings {
				o := &t.Offerings[i]
				if w.Unavailable(t, *o) != "" || w.Policy.Excluded(t, *o) != "" || w.Reservations[o.ReservationID] < o.UsePerNode() {
					continue
				}
				if skip != nil && skip(t, o) {
					continue
				}
				key := offerKey{pl, o, d}
				n := w.offers[key]
				if n == nil {
					n = w.NewPlanned(pl, t, *o, Choices{}, d)
					w.offers[key] = n
				}
				if len(n.Clashes) == 0 && len(n.Unmet()) == 0 && !yield(n) {
					return
				}
			}
		}
	}
}

// offerKey tells planned nodes of pools apart.
type offerKey struct {
	pool  *Pool
	offer *offerings.Offering
	d     DaemonCount
}

// Unavailable says why the offering cannot be bought now; "" if it can.
func (w *State) Unavailable(t *instancetypes.InstanceType, o offerings.Offering) string {
	switch {
	case o.Unavailable:
		return "is marked unavailable in the catalog"
	case w.Problem.Unavailable.Has(o.Key(t.Name), w.Problem.Now):
		return "is unavailable because a recent launch failed"
	default:
		return ""
	}
}

// Providers reports whether the provider may set the label on nodes although no object states it: a well-known key
// that no type and no offering of the catalog carries, and no NodePool sets. A pod that asks for it is believed.
func (pl *Pool) Providers(key string) bool {
	normal := requirements.NormalizeKey(key)
	return requirements.WellKnown().Has(key) && !pl.sold[normal] && !pl.set[normal]
}

// Chooses reports whether the pool chooses the value of the label for each launch: a key of its requirements that
// neither its own labels, nor the catalog, nor the provider sets.
func (pl *Pool) Chooses(key string) bool {
	_, given := pl.Given[key]
	return !given && !requirements.WellKnown().Has(key) && !pl.sold[key] && len(About(key, pl.Asks)) > 0
}

// Undecided reports whether the pool asks for a label of which the value is chosen for each
// launch.
func (pl *Pool) Undecided() bool {
	return slices.ContainsFunc(pl.Asks, func(e Expression) bool { return pl.Chooses(requirements.NormalizeKey(e.Key)) })
}

// MinValues returns the number of distinct values that the options of a launch must
// keep, by label key.
func (pl *Pool) MinValues() map[string]int {
	least := make(map[string]int)
	for _, s := range pl.Object.Spec.Template.Spec.Requirements {
		if key := requirements.NormalizeKey(s.Key); s.MinValues != nil && *s.MinValues > least[key] {
			least[key] = *s.MinValues
		}
	}
	return least
}

// Enough reports whether the nodes offer the number of values wanted of each key.
func Enough(nodes []*Node, least map[string]int) bool {
	for key, n := range least {
		if Distinct(nodes, key) < n {
			return false
		}
	}
	return true
}

// Distinct is how many values the nodes have of a label.
func Distinct(nodes []*Node, key string) int {
	seen := make(map[string]bool)
	for _, n := range nodes {
		if n == nil {
			continue
		}
		if v, ok := n.Labels[requirements.NormalizeKey(key)]; ok {
			seen[v] = true
		}
	}
	return len(seen)
}

// Weight is the pool's weight, 0 if it states none.
func (pl *Pool) Weight() int32 { return ValueOr(pl.Object.Spec.Weight, 0) }

// PrefersOthers reports whether the pool has a PreferNoSchedule taint that is not
// tolerated.
func (pl *Pool) PrefersOthers(tolerations []corev1.Toleration) bool {
	return slices.ContainsFunc(pl.Object.Spec.Template.Spec.Taints, func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule && !Tolerated(taint, tolerations)
	})
}

// FindOffering returns how the type is sold in that way.
func FindOffering(t *instancetypes.InstanceType, zone string, capacityType offerings.CapacityType, reservation string) (offerings.Offering, bool) {
	for _, o := range t.Offerings {
		if o.Zone == zone && o.CapacityType == capacityType && o.ReservationID == reservation {
			return o, true
		}
	}
	return offerings.Offering{}, false
}

// share names a resource that the pool limits among the amounts of [State.Left].
func (pl *Pool) share(name corev1.ResourceName) corev1.ResourceName {
	return name + " of nodepool/" + corev1.ResourceName(pl.Object.Name)
}

// Sold returns the type of a running node and its offering, on sale or not; false where the catalog does not have it. A node
// without the id of a reservation or commitment has the offering without one, or else the one whose id is first, and an unknown id counts
// only for capacity type reserved.
func (w *State) Sold(node *corev1.Node) (t *instancetypes.InstanceType, o offerings.Offering, ok bool) {
	labels := StableLabels(node.Labels)
	t, ok = w.catalogOf(labels[scheduling.NodePoolLabel]).Get(labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return nil, o, false
	}
	id, best := ReservationOf(node), (*offerings.Offering)(nil)
	for i := range t.Offerings {
		x := &t.Offerings[i]
		if x.Zone != labels[corev1.LabelTopologyZone] || string(x.CapacityType) != labels[offerings.CapacityTypeLabel] {
			continue
		}
		switch {
		case x.ReservationID == id:
			return t, *x, true
		case id != "" && x.CapacityType == offerings.Reserved:
		case best == nil || x.ReservationID < best.ReservationID:
			best = x
		}
	}
	if best == nil {
		return nil, o, false
	}
	return t, *best, true
}

// reservation names the amount of a reservation.
func reservation(id string) corev1.ResourceName {
	return "units of reservation/" + corev1.ResourceName(id)
}

// ReservationOf returns the reservation that a running node is in, by its label, or the commitment that it draws on, by its
// annotation; "" for none.
func ReservationOf(node *corev1.Node) string {
	if id := node.Labels[offerings.ReservationIDLabel]; id != "" {
		return id
	}
	return node.Annotations[offerings.CommitmentAnnotation]
}

// Drawn returns the reservation or commitment of a running node, see [ReservationOf], and the amount that it takes of it: that of its
// offering, 1 where the catalog does not have it. The id is "" for none.
func (w *State) Drawn(node *corev1.Node) (id string, amount int64) {
	labels := StableLabels(node.Labels)
	if id = ReservationOf(node); id == "" {
		return "", 0
	}
	if t, ok := w.catalogOf(labels[scheduling.NodePoolLabel]).Get(labels[corev1.LabelInstanceTypeStable]); ok {
		if o, ok := FindOffering(t, labels[offerings.ZoneLabel], offerings.CapacityType(labels[offerings.CapacityTypeLabel]), id); ok {
			return id, o.UsePerNode()
		}
	}
	return id, 1
}

// Left returns the amounts that all launches share: the limits of pools less the usage of their nodes, and the
// amounts left of reservations.
func (w *State) Left() Amounts {
	left := Amounts{}
	for _, pl := range w.Pools {
		for name, n := range pl.Limits {
			left[pl.share(name)] = new(big.Int).Sub(n, pl.Usage.Of(name))
		}
	}
	for id, n := range w.Reservations {
		left[reservation(id)] = big.NewInt(n)
	}
	return left
}

// Takes returns the part of [State.Left] that launching the planned node takes; for reading only.
func (n *Node) Takes() Amounts {
	out := Amounts{}
	for name := range n.Pool.Limits {
		switch name {
		case scheduling.NodesResource:
			out[n.Pool.share(name)] = big.NewInt(1)
		case scheduling.PriceResource:
			out[n.Pool.share(name)] = big.NewInt(int64(n.Offering.Price))
		default:
			out[n.Pool.share(name)] = n.Capacity.Of(name)
		}
	}
	if id := n.Offering.ReservationID; id != "" {
		out[reservation(id)] = big.NewInt(n.Offering.UsePerNode())
	}
	return out
}

// Affordable reports whether the amounts left of [State.Left] suffice for the planned node, and its daemons fit it.
func (n *Node) Affordable(left Amounts) bool {
	for name, amount := range n.Takes() {
		if amount.Cmp(left.Of(name)) > 0 {
			return false
		}
	}
	return len(Exceeding(n.Daemons, n.Allocatable)) == 0
}
