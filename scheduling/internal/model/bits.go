package model

import (
	"encoding/binary"
	"math/bits"
)

// Bits is a row of bits in words of 64. Rows that are combined have equal length.
type Bits []uint64

// NewBits returns a row that holds n bits, all clear.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Has reports whether bit i is set.
func (b Bits) Has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// Set sets bit i.
func (b Bits) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear clears bit i.
func (b Bits) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }

// Count is the number of bits set.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Any reports whether a bit is set.
func (b Bits) Any() bool {
	for _, w := range b {
		if w != 0 {
			return true
		}
	}
	return false
}

// Contains reports whether every bit of c is set in b.
func (b Bits) Contains(c Bits) bool {
	for i, w := range c {
		if w&^b[i] != 0 {
			return false
		}
	}
	return true
}

// And clears the bits of b that are clear in c.
func (b Bits) And(c Bits) {
	for i := range b {
		b[i] &= c[i]
	}
}

// Or sets the bits of b that are set in c.
func (b Bits) Or(c Bits) {
	for i := range b {
		b[i] |= c[i]
	}
}

// AndNot clears the bits of b that are set in c.
func (b Bits) AndNot(c Bits) {
	for i := range b {
		b[i] &^= c[i]
	}
}

// Clone returns a copy.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// Append appends the row to bytes, so that equal rows of equal length give equal bytes.
func (b Bits) Append(to []byte) []byte {
	for _, w := range b {
		to = binary.LittleEndian.AppendUint64(to, w)
	}
	return to
}

// Each calls f with the index of every set bit, in ascending order.
func (b Bits) Each(f func(i int)) {
	for w, word := range b {
		for word != 0 {
			f(w<<6 + bits.TrailingZeros64(word))
			word &= word - 1
		}
	}
}

// AdmittedRows returns the distinct rows of groups that options admit, of which there are few, and the row
// number of each option.
func (p *Problem) AdmittedRows() (rows []Bits, rowOf []int32) {
	known := map[string]int32{}
	rowOf = make([]int32, len(p.Options))
	var key []byte
	for o := range p.Options {
		key = p.Options[o].Admits.Append(key[:0])
		number, ok := known[string(key)]
		if !ok {
			number = int32(len(rows))
			known[string(key)] = number
			rows = append(rows, p.Options[o].Admits)
		}
		rowOf[o] = number
	}
	return rows, rowOf
}
