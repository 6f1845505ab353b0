package verify

import (
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// bareOffers answers for offerings as if any pool bought them: no daemon runs there,
// and what pods ask of labels that pools or their providers may set is granted.
// Whatever a pool makes of the offering holds no more, so that what passes like this
// need not be looked at pool by pool.
type bareOffers struct {
	judge func(bareOffer) bool
	// rooms are those of types whose offerings do not differ.
	rooms    map[*instancetypes.InstanceType]amounts
	verdicts map[bareKey]bool
}

// bareOffer is one of them.
type bareOffer struct {
	kind     *instancetypes.InstanceType
	offering offerings.Offering
	room     amounts
}

type bareKey struct {
	kind              *instancetypes.InstanceType
	zone, reservation string
	capacityType      offerings.CapacityType
}

func newBareOffers(judge func(bareOffer) bool) *bareOffers {
	return &bareOffers{judge: judge, rooms: make(map[*instancetypes.InstanceType]amounts), verdicts: make(map[bareKey]bool)}
}

// harmless reports whether no pool can make of the offering a machine that holds more
// worth than it costs.
func (b *bareOffers) harmless(t *instancetypes.InstanceType, o offerings.Offering) bool {
	key := bareKey{t, o.Zone, o.ReservationID, o.CapacityType}
	verdict, known := b.verdicts[key]
	if !known {
		verdict = b.judge(bareOffer{t, o, b.room(t, o)})
		b.verdicts[key] = verdict
	}
	return verdict
}

// room is what the machine has before daemons run there.
func (b *bareOffers) room(t *instancetypes.InstanceType, o offerings.Offering) amounts {
	if len(o.Capacity) > 0 || len(o.Overhead) > 0 {
		return allocatableOf(t, o)
	}
	a, known := b.rooms[t]
	if !known {
		a = allocatableOf(t, o)
		b.rooms[t] = a
	}
	return a
}

// place is what is known of the machine's labels.
func (b *bareOffer) place() *place {
	sold := make(map[string]string)
	for _, from := range []map[string]string{b.kind.Labels, b.offering.NodeLabels()} {
		for key, value := range from {
			sold[requirements.NormalizeKey(key)] = value
		}
	}
	return &place{labels: sold, planned: true, open: func(string) opening { return opening{rule: some} }}
}

// harmless judges by values of resources.
func (pr *proof) harmless(b bareOffer) bool {
	return pr.worth(b.room).Cmp(pr.scaled(pr.objective(b.kind, b.offering))) <= 0
}

// harmless judges by the vectors.
func (pr *assignmentProof) harmless(b bareOffer) bool {
	x := pr.in(b.offering.Zone, true)
	return x != nil && x.harmlessHere(b) // no pool buys in a zone of which nothing is known
}

func (pr *assignmentProof) harmlessHere(b bareOffer) bool {
	room := pr.vector(b.room)
	price, ok := pr.charged(pr.objective(b.kind, b.offering), b.offering.Zone)
	if !ok {
		return false
	}
	if pr.everybodyWithin(room, price) {
		return true
	}
	admitted, key := pr.admittedBy(b, room)
	return pr.judged(key, price, func() bool {
		return pr.within(pr.loadOf(room, func(_ *sort, c int) bool { return admitted[c] }), price)
	})
}

// admittedBy says whose pods of each constraint the offering admits, with a key that is equal for
// those with as much room that admit the same.
func (pr *assignmentProof) admittedBy(b bareOffer, room []int64) (admitted []bool, key []byte) {
	p := b.place()
	admitted, key = make([]bool, len(pr.constraints)), appendRoom([]byte("admitted"), room)
	for i, c := range pr.constraints {
		if admitted[i] = p.admits(c.wants); admitted[i] {
			key = append(key, 1)
		} else {
			key = append(key, 0)
		}
	}
	return admitted, key
}

// everybodyWithin reports whether all pods that fit the room, whether they may be there
// or not, are worth at most the price.
func (pr *assignmentProof) everybodyWithin(room []int64, price offerings.Price) bool {
	return pr.judged(appendRoom(nil, room), price, func() bool {
		return pr.within(pr.loadOf(room, func(*sort, int) bool { return true }), price)
	})
}
