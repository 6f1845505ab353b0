package validate

import (
	"hash/maphash"
	"maps"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Read is Validate; for a solver, it also checks its settings and reads the pods to be placed on the way, so
// that their memory is walked through once.
func Read(p *scheduling.Problem, s *scheduling.Policy) (*podspec.Readings, error) {
	c := NewChecker()
	if s != nil {
		c.List = Faults(s)
	}
	readings := c.AllPods(p, s)
	c.Objects(p)
	c.PoolCatalogs(p)
	c.surroundings(p)
	if len(c.List) == 0 {
		c.Choice(p)
	}
	return readings, c.Err()
}

// PoolCatalogs reports catalogs of pools that are not there.
func (c *Checker) PoolCatalogs(p *scheduling.Problem) {
	if len(p.PoolCatalogs) == 0 {
		return
	}
	pools := map[string]bool{}
	for _, pool := range p.NodePools {
		if pool != nil {
			pools[pool.Name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.PoolCatalogs)) {
		if !pools[name] {
			c.At = Position{List: "poolCatalogs", Name: name}
			c.Add("", "there is no NodePool of this name", "")
		}
	}
}

// Objects checks all objects but pods, each for itself.
func (c *Checker) Objects(p *scheduling.Problem) {
	c.names = NewNameSet(len(p.Nodes))
	for i, n := range p.Nodes {
		if !c.Enter("nodes", i, n == nil) || !c.named(&n.ObjectMeta) {
			continue
		}
		c.amounts(n.Status.Capacity, "status.capacity")
		c.amounts(n.Status.Allocatable, "status.allocatable")
	}
	c.storage(p)
	c.names = NewNameSet(len(p.DaemonSets))
	for i, d := range p.DaemonSets {
		if !c.Enter("daemonsets", i, d == nil) || !c.named(&d.ObjectMeta) {
			continue
		}
		c.spec = "spec.template.spec"
		c.podSpec(&d.Spec.Template.Spec)
	}
	c.names = NewNameSet(len(p.NodePools))
	for i, pool := range p.NodePools {
		if !c.Enter("nodepools", i, pool == nil) || !c.named(&pool.ObjectMeta) {
			continue
		}
		c.nodePool(pool)
	}
}

// Checker walks through a problem. It holds where it is, so that paths need not be
// built before there is a fault.
type Checker struct {
	scheduling.Faults
	At   Position
	spec string // path of the pod spec within the object
	// names are the objects of the kind at hand.
	names *NameSet
	// moulder, where it is set, reads the pods that were checked.
	moulder *podspec.SpecReader
	pods    int // how many it was given
}

// NewChecker returns a checker that has found nothing.
func NewChecker() *Checker {
	c := &Checker{}
	c.Object = c.path
	return c
}

// Position is an entry of one of the problem's lists, by index until its name is known.
type Position struct {
	List            string
	Index           int
	Namespace, Name string
}

// path leads to the object at hand.
func (c *Checker) path() string {
	switch {
	case c.At.Name == "":
		return c.At.List + "[" + strconv.Itoa(c.At.Index) + "]"
	case c.At.Namespace == "":
		return c.At.List + "[" + c.At.Name + "]"
	default:
		return c.At.List + "[" + c.At.Namespace + "/" + c.At.Name + "]"
	}
}

// Enter moves on to an entry, and reports whether there is anything in it.
func (c *Checker) Enter(list string, index int, isNil bool) bool {
	c.At = Position{List: list, Index: index}
	if isNil {
		c.Add("", "is nil", "")
	}
	return !isNil
}

// named takes down the name of the entry. It reports false where there is none.
func (c *Checker) named(meta *metav1.ObjectMeta) bool {
	if meta.Name == "" {
		c.Add("", "is missing", "metadata.name")
		return false
	}
	c.At.Namespace, c.At.Name = meta.Namespace, meta.Name
	c.once()
	return true
}

// once reports an object that was there before, one time.
func (c *Checker) once() {
	if first, again := c.names.Add(types.NamespacedName{Namespace: c.At.Namespace, Name: c.At.Name}); !first && !again {
		c.Add("", "is there more than once", "")
	}
}

// join completes readings from those of several moulders, whose pods follow each other.
// The first one's numbers stand.
func join(r *podspec.Readings, parts []*Checker, none *podspec.SpecReader) *podspec.Readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.moulder
		if m == nil {
			continue
		}
		if at == 0 {
			all, at = m, part.pods
			continue
		}
		numbers := make([]int32, len(m.PodSpecKeys))
		for i, x := range m.PodSpecKeys {
			numbers[i] = all.Read(x.Pod)
		}
		of := r.Of[at : at+part.pods]
		for i, n := range of {
			if n >= 0 {
				of[i] = numbers[n]
			}
		}
		at += part.pods
	}
	r.Table, r.PodSpecKeys = all.Table, all.PodSpecKeys
	return r
}

// NameSet is a set of object names, for the hundreds of thousands that a problem
// may hold: a table of hashes with open addressing, which takes a third of the
// time and memory of a map.
type NameSet struct {
	seed  maphash.Seed
	Slots []NameSlot // a power of two, at most half full
	Keys  []types.NamespacedName
	twice map[types.NamespacedName]bool
}

// NameSlot is a place in the table of a NameSet.
type NameSlot struct {
	Hash uint32
	Key  int32 // number of the key, counting from 1; 0 is a free slot
}

// NewNameSet makes room for so many names.
func NewNameSet(size int) *NameSet {
	slots := 16
	for slots < 2*size {
		slots *= 2
	}
	return &NameSet{seed: maphash.MakeSeed(), Slots: make([]NameSlot, slots), Keys: make([]types.NamespacedName, 0, size)}
}

// Add adds a name. first is false for a name that was there, and again is true for
// one that was found there before.
func (s *NameSet) Add(key types.NamespacedName) (first, again bool) {
	if 2*len(s.Keys) >= len(s.Slots) {
		s.grow()
	}
	hash := s.hash(key)
	slot := s.Find(key, hash)
	if slot.Key > 0 {
		again = s.twice[key]
		if s.twice == nil {
			s.twice = map[types.NamespacedName]bool{}
		}
		s.twice[key] = true
		return false, again
	}
	s.Keys = append(s.Keys, key)
	*slot = NameSlot{Hash: hash, Key: int32(len(s.Keys))}
	return true, false
}

func (s *NameSet) hash(key types.NamespacedName) uint32 {
	h := maphash.String(s.seed, key.Name) ^ 3*maphash.String(s.seed, key.Namespace)
	return uint32(h ^ h>>32)
}

// Find returns the slot of the key, or the free one where it belongs.
func (s *NameSet) Find(key types.NamespacedName, hash uint32) *NameSlot {
	mask := uint32(len(s.Slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := &s.Slots[i]
		if slot.Key == 0 || slot.Hash == hash && s.Keys[slot.Key-1] == key {
			return slot
		}
	}
}

func (s *NameSet) grow() {
	s.Slots = make([]NameSlot, 2*len(s.Slots))
	for i, key := range s.Keys {
		hash := s.hash(key)
		*s.Find(key, hash) = NameSlot{Hash: hash, Key: int32(i + 1)}
	}
}

// What the API server says of labels, in one sentence each.
const (
	NotALabelKey = "is no label key: an optional DNS name and a slash, then up to 63 letters, digits, " +
		"'-', '_' or '.' with a letter or digit at both ends"
	NotALabelValue = "is no label value: up to 63 letters, digits, '-', '_' or '.' with a letter or digit at both ends"
)

// LabelValue reports whether s may be the value of a label.
func LabelValue(s string) bool { return requirements.ValidLabelValue(s) }

// LabelKey reports whether s may be the key of a label.
func LabelKey(s string) bool { return requirements.ValidLabelKey(s) }
