package explain

import (
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// sizes remembers what explaining one class after another asks again and again: the
// room of every offer, whether a class fits it, whether it can still be bought.
type sizes struct {
	numbers [][]int32 // by template and offer, the number of the room; -1 where daemons overfill it
	blocked [][]int32 // by template and offer, 0 or the place after which blocks says why it cannot be bought
	blocks  []scheduling.Reason
	of      *podspec.PodClass // whose fits are
	fits    []int8            // by number of a room: 0 where it is not known, 1 for yes, -1 for no
}

// roomNumber numbers the room of a machine bought at an offer; -1 where daemons alone
// overfill it.
func (s *scene) roomNumber(ti, o int) int {
	if s.sizes.numbers == nil {
		s.sizes.numbers = make([][]int32, len(s.Templates))
	}
	numbers := s.sizes.numbers[ti]
	if numbers == nil {
		numbers = make([]int32, len(s.Offers.Offers))
		s.Templates[ti].Within.Each(func(o int) {
			numbers[o] = int32(compile.Number(s.Compiler.Rooms, s.Compiler, s.Offers.Offers[o].Shape, s.Offered[ti].Daemons, o))
		})
		s.sizes.numbers[ti] = numbers
	}
	return int(numbers[o])
}

// room is what a machine bought at an offer has for pods; false where daemons alone
// overfill it.
func (s *scene) room(ti, o int) ([]int64, bool) {
	n := s.roomNumber(ti, o)
	if n < 0 {
		return nil, false
	}
	return s.Compiler.Rooms.Rooms[n], true
}

// fitsRoom reports whether a pod of a class fits a room.
func (s *scene) fitsRoom(class *podspec.PodClass, number int) bool {
	if s.sizes.of != class {
		s.sizes.of = class
		clear(s.sizes.fits)
	}
	for len(s.sizes.fits) <= number {
		s.sizes.fits = append(s.sizes.fits, 0)
	}
	if s.sizes.fits[number] == 0 {
		s.sizes.fits[number] = -1
		if model.Fits(s.Compiler.Rooms.Rooms[number], class.Requests) {
			s.sizes.fits[number] = 1
		}
	}
	return s.sizes.fits[number] > 0
}

// holds reports whether a machine bought at an offer has room for a pod of the class.
func (s *scene) holds(class *podspec.PodClass, ti, o int) bool {
	n := s.roomNumber(ti, o)
	return n >= 0 && s.fitsRoom(class, n)
}

// takes reports whether an offer is on sale and has room for a pod of the class.
func (s *scene) takes(class *podspec.PodClass, ti, o int) bool {
	return s.Offers.Offers[o].Launchable && s.holds(class, ti, o)
}

// block says why limits or reservations do not allow one more purchase: 0 if they do,
// else the place in blocks, and one.
func (s *scene) block(ti, o int) int {
	if s.sizes.blocked == nil {
		s.sizes.blocked = make([][]int32, len(s.Templates))
	}
	blocked := s.sizes.blocked[ti]
	if blocked == nil {
		blocked = make([]int32, len(s.Offers.Offers))
		known := map[scheduling.Reason]int32{}
		s.Templates[ti].Within.Each(func(o int) {
			r := s.unaffordable(offers.Purchase{Template: ti, Offer: o})
			if r.Code == "" {
				return
			}
			if known[r] == 0 {
				s.sizes.blocks = append(s.sizes.blocks, r)
				known[r] = int32(len(s.sizes.blocks))
			}
			blocked[o] = known[r]
		})
		s.sizes.blocked[ti] = blocked
	}
	return int(blocked[o])
}

// affords reports whether limits and reservations allow one more purchase.
func (s *scene) affords(ti, o int) bool { return s.block(ti, o) == 0 }

// unaffordable says why limits or reservations do not allow one more purchase; the
// code is empty if they do.
func (s *scene) unaffordable(p offers.Purchase) scheduling.Reason {
	if id := s.ledger.Reservation(p); id != "" && s.ledger.Supply[id] < 1 {
		return scheduling.Reason{Code: scheduling.ReasonReservation, Detail: "reservation " + id + " is used up"}
	}
	pool := s.Templates[p.Template].Pool
	left := s.ledger.Limits[s.Templates[p.Template].Number]
	for d, use := range s.ledger.Use(p) {
		if use > left[d] || left[d] < 0 {
			return scheduling.Reason{Code: scheduling.ReasonLimits, Detail: fmt.Sprintf("node pool %s reaches its limit of %s", pool.Name, compile.LimitedResources(pool)[d])}
		}
	}
	return scheduling.Reason{}
}
