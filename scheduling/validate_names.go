package scheduling

import "hash/maphash"

// objectKey identifies an object among those of its kind.
type objectKey struct{ namespace, name string }

// nameSet is a set of object names, for the hundreds of thousands that a problem
// may hold: a table of hashes with open addressing, which takes a third of the
// time and memory of a map.
type nameSet struct {
	seed  maphash.Seed
	slots []nameSlot // a power of two, at most half full
	keys  []objectKey
	twice map[objectKey]bool
}

type nameSlot struct {
	hash uint32
	key  int32 // number of the key, counting from 1; 0 is a free slot
}

// newNameSet makes room for so many names.
func newNameSet(size int) *nameSet {
	slots := 16
	for slots < 2*size {
		slots *= 2
	}
	return &nameSet{seed: maphash.MakeSeed(), slots: make([]nameSlot, slots), keys: make([]objectKey, 0, size)}
}

// add adds a name. first is false for a name that was there, and again is true for
// one that was found there before.
func (s *nameSet) add(key objectKey) (first, again bool) {
	if 2*len(s.keys) >= len(s.slots) {
		s.grow()
	}
	hash := s.hash(key)
	slot := s.find(key, hash)
	if slot.key > 0 {
		again = s.twice[key]
		if s.twice == nil {
			s.twice = map[objectKey]bool{}
		}
		s.twice[key] = true
		return false, again
	}
	s.keys = append(s.keys, key)
	*slot = nameSlot{hash: hash, key: int32(len(s.keys))}
	return true, false
}

func (s *nameSet) hash(key objectKey) uint32 {
	h := maphash.String(s.seed, key.name) ^ 3*maphash.String(s.seed, key.namespace)
	return uint32(h ^ h>>32)
}

// find returns the slot of the key, or the free one where it belongs.
func (s *nameSet) find(key objectKey, hash uint32) *nameSlot {
	mask := uint32(len(s.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		slot := &s.slots[i]
		if slot.key == 0 || slot.hash == hash && s.keys[slot.key-1] == key {
			return slot
		}
	}
}

func (s *nameSet) grow() {
	s.slots = make([]nameSlot, 2*len(s.slots))
	for i, key := range s.keys {
		hash := s.hash(key)
		*s.find(key, hash) = nameSlot{hash: hash, key: int32(i + 1)}
	}
}
