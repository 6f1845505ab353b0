package instance

import (
	"encoding/binary"
	"sync"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// mostThinned is the size of the keys, in bytes, above which remembered answers are dropped.
const mostThinned = 16 << 20

// prunedOffers remembers answers of [model.PruneDominated] for options without groups, because plans that differ in a few pods ask
// about the same offers of a zone many times. It may be used concurrently.
type prunedOffers struct {
	mutex sync.Mutex
	known map[string][]int
	bytes int
}

// undominated is [model.PruneDominated]. The caller must not change the answer.
func (t *prunedOffers) undominated(options []model.Option) []int {
	if len(options) == 0 {
		return nil
	}
	key := binary.AppendUvarint(make([]byte, 0, 32*len(options)), uint64(len(options[0].Room))) // because rooms of one call have equal lengths
	for i := range options {
		o := &options[i]
		key = binary.AppendVarint(key, o.Cost)
		key = binary.AppendVarint(key, int64(o.Supply))
		key = binary.AppendVarint(key, o.SupplyUse)
		key = binary.AppendVarint(key, int64(o.Floor))
		key = binary.AppendUvarint(key, uint64(len(o.Use)))
		for _, n := range o.Use {
			key = binary.AppendVarint(key, n)
		}
		for _, n := range o.Room {
			key = binary.AppendVarint(key, n)
		}
	}
	t.mutex.Lock()
	out, known := t.known[string(key)]
	t.mutex.Unlock()
	if known {
		return out
	}
	out = model.PruneDominated(options)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.known == nil || t.bytes > mostThinned {
		t.known, t.bytes = map[string][]int{}, 0
	}
	t.known[string(key)], t.bytes = out, t.bytes+len(key)
	return out
}
