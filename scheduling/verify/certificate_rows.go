package verify

import (
	"fmt"
	"math"
	"math/big"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// rowsProof is what machines hold by rows, each of which has worths of its own. What a machine
// may hold is worked out once for all of them: sorts are pods that are worth the same by every
// row.
type rowsProof struct {
	*assignmentProof
	rows  []*assignmentProof
	cases []provenCase
	known map[string]*holdings
}

// holdings are what machines hold at most that have the same room for the same pods: for each
// load that they may have, by row, in parts of a nano-USD.
type holdings struct {
	loads    [][]uint64
	verdicts map[offerings.Price]bool
}

// endless stands for more than there are numbers for.
const endless = 1 << 62

// readRows reads the rows. It reports whether all of them can be read.
func (j *judge) readRows(cert *scheduling.Certificate) (*rowsProof, bool) {
	frame := &assignmentProof{judge: j, scale: uint(cert.Scale), worths: make(map[string]*assignmentProof)}
	if len(cert.Spreads) > 0 || balanced(cert) || len(cert.Vectors) > 0 || len(cert.Tolls) > 0 {
		j.malformed("vectors, spreads and tolls are for another kind")
		return nil, false
	}
	var ok bool
	if frame.measures, ok = j.readMeasures(cert); !ok {
		return nil, false
	}
	worths := make([]map[string]*big.Int, len(cert.Rows))
	for i, row := range cert.Rows {
		if worths[i], ok = frame.readWorths(&scheduling.Certificate{Values: row.Values}); !ok {
			return nil, false
		}
	}
	placed := j.placed()
	kinds := j.kindsBy(func(t *tenant) bool { return placed[t.name] }, func(t *tenant) string { return t.signature() })
	frame.names = requested(kinds)
	lists, alike := sameWorths(worths)
	if !frame.readSorts(kinds, alike) {
		j.malformed("the placed pods request too much to be counted")
		return nil, false
	}
	pr := &rowsProof{assignmentProof: frame, known: make(map[string]*holdings)}
	for i, row := range cert.Rows {
		x := *frame
		x.sorts = make([]*sort, len(frame.sorts))
		for k, s := range frame.sorts {
			own := *s
			own.worth = lists[s.worth.Int64()][i]
			x.sorts[k] = &own
		}
		for k, texts := range row.Vectors {
			v, ok := j.naturals(fmt.Sprintf("rows[%d]: vectors[%d]: value of ", i, k), texts)
			if !ok {
				return nil, false
			}
			x.values = append(x.values, resources(v))
		}
		x.weigh()
		pr.rows = append(pr.rows, &x)
	}
	return pr, true
}

// sameWorths numbers pods that are worth the same by every row, from 1 on; 0 is for those worth
// nothing by any. lists are what those of each number are worth, by row.
func sameWorths(rows []map[string]*big.Int) (lists [][]*big.Int, numbers map[string]*big.Int) {
	nothing := make([]*big.Int, len(rows))
	for i := range nothing {
		nothing[i] = new(big.Int)
	}
	lists, numbers = [][]*big.Int{nothing}, make(map[string]*big.Int)
	known := make(map[string]*big.Int)
	for _, row := range rows {
		for key := range row {
			if numbers[key] != nil {
				continue
			}
			list := make([]*big.Int, len(rows))
			for i := range rows {
				if list[i] = rows[i][key]; list[i] == nil {
					list[i] = new(big.Int)
				}
			}
			text := fmt.Sprint(list)
			if known[text] == nil {
				known[text] = big.NewInt(int64(len(lists)))
				lists = append(lists, list)
			}
			numbers[key] = known[text]
		}
	}
	return lists, numbers
}

// holdings are the worth that a load can have at most, by row, as far as their vectors tell.
func (pr *rowsProof) holdings(l load) []uint64 {
	out := make([]uint64, len(pr.rows))
	if len(l.pods) == 0 {
		return out
	}
	// All terms are at least 0, so that each of them and each sum adds at most so much to what
	// rounding took away before.
	safe := 1 + float64(len(l.pods)+len(l.room)+8)*0x1p-50
	for i, x := range pr.rows {
		least := math.Inf(1)
		for _, v := range x.vectors {
			least = min(least, x.about(l, v, least))
		}
		if len(x.vectors) == 0 {
			least = x.about(l, x.valuation(nil), least)
		}
		if h := math.Ceil(math.Ldexp(least*safe, scheduling.HeldScale-int(x.scale))); h < endless {
			out[i] = uint64(h)
		} else {
			out[i] = endless
		}
	}
	return out
}

// worth is what all placed pods are worth by each row, less what running nodes may hold of it.
func (pr *rowsProof) worth() []*big.Int {
	out := make([]*big.Int, len(pr.rows))
	for i, x := range pr.rows {
		out[i] = new(big.Int)
		for _, s := range x.sorts {
			out[i].Add(out[i], new(big.Int).Mul(s.worth, big.NewInt(s.count(anywhere))))
		}
	}
	for _, s := range pr.sortedStations() {
		if leaving(s.node) {
			continue
		}
		l := pr.stationLoad(s)
		if len(l.pods) == 0 {
			continue
		}
		for i, x := range pr.rows {
			out[i].Sub(out[i], x.least(l, new(big.Int)))
		}
	}
	return out
}
