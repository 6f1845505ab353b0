package schedulingtest

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/internal/dice"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Size bounds a random problem. The numbers drawn lie between 0 (1 for pods, types and zones) and the bound. A bound of
// 0 is the default, a negative one is none of these objects.
type Size struct {
	Pods       int // default 40
	Types      int // default 12
	Pools      int // default 4
	Nodes      int // default 4
	DaemonSets int // default 3
	Zones      int // default 3, at most 26
	// TopologyTerms adds spread, affinity, anti-affinity, preferences, volume claims and default spread
	// constraints. Without it a seed gives the same problem without these.
	TopologyTerms bool
}

func (s Size) orDefaults() Size {
	return Size{
		Pods:          max(cmp.Or(s.Pods, 40), 1),
		Types:         max(cmp.Or(s.Types, 12), 1),
		Pools:         max(cmp.Or(s.Pools, 4), 0),
		Nodes:         max(cmp.Or(s.Nodes, 4), 0),
		DaemonSets:    max(cmp.Or(s.DaemonSets, 3), 0),
		Zones:         min(max(cmp.Or(s.Zones, 3), 1), 26),
		TopologyTerms: s.TopologyTerms,
	}
}

// Random returns a valid problem that mixes every constraint between one pod and one node: requests of all shapes,
// selectors and affinity with OR terms, taints and tolerations, host ports, DaemonSets that run on some nodes only,
// limits, weights, minValues, reservations, offerings that are out of stock, nodes that run, start and are being
// removed, and devices; with [Size.TopologyTerms] also constraints between pods, and volumes. Most pods of most
// problems can be placed. The same seed and size give the same problem.
func Random(seed uint64, size Size) scheduling.Problem {
	w := newGenerator(seed, size.orDefaults())
	p := scheduling.Problem{Now: time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)}
	m := &market{base: w}
	w.types = m.instanceTypes()
	p.Catalog = MustCatalog(w.types...)
	w.pools = m.nodePools()
	p.NodePools = w.pools
	if w.dice.OneIn(10) && len(w.pools) > 0 && len(w.types) > 1 {
		// The node class of this pool selects only some of the types.
		p.PoolCatalogs = map[string]*instancetypes.Catalog{
			w.pools[0].Name: MustCatalog(w.types[:len(w.types)/2]...),
		}
	}
	w.openAPool(p)
	x := &objects{base: w, market: m}
	p.DaemonSets = x.daemonSets()
	p.Nodes, p.Running = x.nodes()
	p.Pods = x.pods()
	if w.dice.OneIn(6) {
		p.Unavailable = w.unavailable(p.Now)
	}
	if size.TopologyTerms {
		(&relations{base: w}).relate(&p)
	}
	return p
}

// openAPool makes sure that some pool can launch a node: a problem in which none can is refused as malformed.
func (w *generator) openAPool(p scheduling.Problem) {
	for _, pool := range w.pools {
		if pool.Spec.Replicas != nil {
			continue // it launches nothing
		}
		set, err := requirements.FromSelectors(pool.Spec.Template.Spec.Requirements)
		if err != nil {
			continue
		}
		for t := range p.CatalogOf(pool.Name).All() {
			for _, o := range t.Offerings {
				if set.Overlaps(requirements.FromLabels(t.NodeLabels(o))) == nil {
					return
				}
			}
		}
	}
	for _, pool := range w.pools {
		pool.Spec.Template.Spec.Requirements = nil
	}
}

// generator has the facts that all parts of one random problem share, and draws requirements about them.
type generator struct {
	dice  dice.Dice
	size  Size
	zones []string
	types []*instancetypes.InstanceType
	pools []*scheduling.NodePool
	// ports says that this problem has host ports; in every problem, they would dominate the large ones.
	ports bool
	// keys are the custom label keys that this problem uses.
	keys []labelKey
}

func newGenerator(seed uint64, size Size) *generator {
	w := &generator{dice: dice.New(seed), size: size}
	for i := range w.dice.Between(1, size.Zones) {
		w.zones = append(w.zones, "zone-"+string(rune('a'+i)))
	}
	w.ports = w.dice.OneIn(3)
	w.keys = dice.Some(w.dice, customKeys()...)
	return w
}

// labelKey is a key with the values that random objects use for it.
type labelKey struct {
	key    string
	values []string
}

// customKeys returns keys that no provider knows: only pools can give nodes these labels.
func customKeys() []labelKey {
	return []labelKey{
		{"example.com/disk", []string{"ssd", "hdd", "none"}},
		{"example.com/team", []string{"red", "green", "blue"}},
		{"example.com/level", []string{"1", "3", "5", "8"}},
	}
}

// unavailable is a record of failed offerings, a few of which failed so long ago that they no longer count.
func (w *generator) unavailable(now time.Time) *offerings.Unavailable {
	u := &offerings.Unavailable{}
	for range w.dice.Between(1, 3) {
		t := dice.Pick(w.dice, w.types...)
		key := offerings.Key{
			InstanceType: dice.Pick(w.dice, t.Name, t.Name, ""),
			Zone:         dice.Pick(w.dice, append(w.zones, "")...),
			CapacityType: dice.Pick(w.dice, offerings.Spot, offerings.OnDemand),
		}
		if key.InstanceType == "" && key.Zone == "" {
			key.CapacityType = offerings.Spot
		}
		u.Mark(key, now.Add(-time.Duration(w.dice.Between(0, 5))*time.Minute), 0)
	}
	return u
}

// expr draws a requirement on a random key, which pods and pools may both have. Few of them match no node.
func (w *generator) expr() requirements.Selector {
	switch w.dice.IntN(9) {
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
		t := dice.Pick(w.dice, w.types...)
		return w.exprOn(labelKey{familyKey, []string{t.Labels[familyKey], "m6", "c7"}})
	default:
		return w.customExpr()
	}
}

// customExpr is a requirement on a key that pools alone can give to nodes.
func (w *generator) customExpr() requirements.Selector {
	key := dice.Pick(w.dice, w.keys...)
	if key.key == "example.com/level" && w.dice.OneIn(2) {
		return w.numeric(key.key, 1, 8)
	}
	return w.exprOn(key)
}

func (w *generator) exprOn(k labelKey) requirements.Selector {
	switch w.dice.IntN(8) {
	case 0:
		return Exists(k.key)
	case 1:
		return NotIn(k.key, dice.Pick(w.dice, k.values...))
	case 2:
		if w.dice.OneIn(4) {
			return DoesNotExist(k.key)
		}
		return NotIn(k.key, "never")
	case 3:
		return In(k.key, append(dice.Some(w.dice, k.values...), "never")...)
	default:
		return In(k.key, dice.Some(w.dice, k.values...)...)
	}
}

func (w *generator) numeric(key string, lo, hi int) requirements.Selector {
	switch w.dice.IntN(4) {
	case 0:
		return Gt(key, int64(w.dice.Between(lo-1, hi-1)))
	case 1:
		return Lt(key, int64(w.dice.Between(lo+1, hi+1)))
	case 2:
		return NotIn(key, strconv.Itoa(w.dice.Between(lo, hi)))
	default:
		return In(key, strconv.Itoa(w.dice.Between(lo, hi)), strconv.Itoa(w.dice.Between(lo, hi)))
	}
}

func (w *generator) typeNames() []string {
	names := make([]string, 0, len(w.types))
	for _, t := range w.types {
		names = append(names, t.Name)
	}
	return names
}
