package search

import (
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// machine is one bundle of equal machines of the answer.
type machine struct {
	template int
	first    int // place of the offer that is bought in its template's list
	bare     int // how many of the first places there are known not to hold its pods
	load     []int64
	groups   model.Bits
	items    []model.Item
	count    int64
	turn     int   // in the diversified ranking
	places   []int // of its options
}

// nearlyAll is the percentage of a machine's room that an option must have that stands for all of
// it: machines of one size differ by the resources that their systems reserve.
const nearlyAll = 98
