package validate

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

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
