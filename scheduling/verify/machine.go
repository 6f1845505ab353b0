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

// machine is something that a pool could buy.
type machine struct {
	place
	pool     *pool
	kind     *instancetypes.InstanceType
	offering offerings.Offering
	// capacity is what it has, allocatable what pods and daemons may have of it.
	capacity, allocatable amounts
	// daemons is what the daemons take that run on it, daemonPorts their ports.
	daemons     amounts
	daemonPorts []port
	// clashes are the labels that pool or launch and catalog disagree on, sorted.
	clashes []string
}

// doubt says what to make of a daemon that asks for a label whose value is chosen
// only when a machine is bought.
type doubt int

const (
	settled doubt = iota // all choices are made
	fewest               // count the daemons that run whatever is chosen
	most                 // count the daemons that may run
)

// choices are what a launch fixes: the labels that it puts on the machine, and its
// requirements.
type choices struct {
	labels       map[string]string
	requirements []expression
}

// newMachine describes what buying the offering for the pool brings.
func (w *world) newMachine(pl *pool, t *instancetypes.InstanceType, o offerings.Offering, made choices, d doubt) *machine {
	m := &machine{
		pool:        pl,
		kind:        t,
		offering:    o,
		capacity:    roundedUp(capacityOf(t, o)),
		allocatable: allocatableOf(t, o),
	}
	labels := map[string]string{
		// Every machine carries these once it is ready to run anything.
		scheduling.RegisteredLabel:  "true",
		scheduling.InitializedLabel: "true",
		// There will be a host name, and nobody can name it.
		corev1.LabelHostname: nobodys,
	}
	for _, from := range []map[string]string{made.labels, pl.given} {
		for key, value := range from {
			labels[requirements.NormalizeKey(key)] = value
		}
	}
	sold := make(map[string]string)
	maps.Copy(sold, t.Labels)
	maps.Copy(sold, o.NodeLabels())
	for key, value := range sold {
		key = requirements.NormalizeKey(key)
		if other, ok := labels[key]; ok && other != value {
			m.clashes = append(m.clashes, key)
		}
		labels[key] = value
	}
	slices.Sort(m.clashes)
	m.place = place{labels: labels, taints: pl.Spec.Template.Spec.Taints, planned: true}
	m.daemons, m.daemonPorts = w.daemonsOf(m, made.requirements, d)
	// A pod that is alone with the machine may choose what is left open.
	m.open = func(key string) opening {
		if pl.providers(key) || d != settled && pl.chooses(key) {
			return opening{rule: some, known: about(key, pl.asks)}
		}
		return opening{}
	}
	return m
}

// daemonsOf returns what the daemons take that run on the machine, given what is
// asked of it.
func (w *world) daemonsOf(m *machine, asked []expression, d doubt) (amounts, []port) {
	p := m.place
	switch d {
	case fewest:
		p.open = m.certain(asked)
	case most:
		p.open = m.possible(asked)
	default:
		p.open = func(key string) opening {
			if m.pool.chooses(key) {
				return opening{}
			}
			return m.possible(asked)(key)
		}
	}
	return w.daemonsAt(&p)
}

// certain opens the labels that are still to be chosen to what holds of every value.
func (m *machine) certain(asked []expression) func(string) opening { return m.opened(every, asked) }

// possible opens them to what holds of some value.
func (m *machine) possible(asked []expression) func(string) opening { return m.opened(some, asked) }

func (m *machine) opened(rule quantifier, asked []expression) func(string) opening {
	return func(key string) opening {
		if !m.pool.chooses(key) && !m.pool.providers(key) {
			return opening{}
		}
		return opening{rule: rule, known: slices.Concat(about(key, m.pool.asks), about(key, asked))}
	}
}

// room is what pods may have.
func (m *machine) room() amounts { return m.allocatable.minus(m.daemons) }

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

// unmet returns the pool's requirements that the machine cannot meet.
func (m *machine) unmet() []expression {
	var bad []expression
	for _, e := range m.pool.asks {
		if !m.meets(about(e.key, m.pool.asks)) {
			bad = append(bad, e)
		}
	}
	return bad
}

// offers yields everything that the pool may buy now, in order of type and offering,
// reservations that have no machine left excepted.
func (w *world) offers(pl *pool, d doubt) iter.Seq[*machine] {
	return func(yield func(*machine) bool) {
		if pl.closed != "" {
			return
		}
		for t := range pl.catalog.All() {
			for _, o := range t.Offerings {
				if w.unavailable(t, o) != "" || w.excluded(t, o) != "" || o.CapacityType == offerings.Reserved && w.reservations[o.ReservationID] <= 0 {
					continue
				}
				m := w.newMachine(pl, t, o, choices{}, d)
				if len(m.clashes) == 0 && len(m.unmet()) == 0 && !yield(m) {
					return
				}
			}
		}
	}
}

// title names the machine in messages.
func (m *machine) title() string {
	return fmt.Sprintf("%s %s in %s", m.kind.Name, m.offering.CapacityType, m.offering.Zone)
}

// holdsAlone reports whether the pod could have the machine for itself, however many
// volumes it brings.
func (m *machine) holdsAlone(t *tenant) bool {
	_, busy := clash(t.ports, m.daemonPorts)
	return !busy && len(exceeding(t.requests, m.room())) == 0 &&
		len(untolerated(m.taints, t.pod.Spec.Tolerations)) == 0 && m.admits(t.wants) && m.reaches(t.mounts)
}

// values returns what the machine's label offers towards minValues.
func (m *machine) values(key string) (string, bool) {
	v, ok := m.labels[requirements.NormalizeKey(key)]
	return v, ok
}

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

// capacityOf returns what a machine has: the type's capacity, where the offering
// does not say otherwise.
func capacityOf(t *instancetypes.InstanceType, o offerings.Offering) corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, q := range t.Capacity {
		list[name] = q
	}
	for name, q := range o.Capacity {
		list[name] = q
	}
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
