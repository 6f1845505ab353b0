package verify

import (
	"math"
	"slices"
	"strconv"
)

// opening is what is known about a label whose value is not fixed.
type opening struct {
	rule  quantifier
	known []expression
}

// quantifier says which of the values that an open label may take have to suit.
type quantifier int

const (
	shut  quantifier = iota // the label is absent
	some                    // one value that can be chosen
	every                   // all values, since somebody else chooses
)

// allows tries the values that the label may take under what is known about it. It
// is enough to try those that somebody names, the integers next to them, one that
// nobody names, and no label at all: all others behave like one of these. Where
// every value has to suit there must be one at least.
func (o opening) allows(exprs []expression) bool {
	found := false
	for _, c := range candidates(o.known, exprs) {
		if !allHold(o.known, c) {
			continue
		}
		suits := allHold(exprs, c)
		if suits != (o.rule == every) {
			return suits
		}
		found = true
	}
	return found && o.rule == every
}

// candidate is a value that an open label may take; absent is no label at all.
type candidate struct {
	value  string
	absent bool
}

func allHold(exprs []expression, c candidate) bool {
	return !slices.ContainsFunc(exprs, func(e expression) bool { return !e.holds(c.value, !c.absent) })
}

func candidates(lists ...[]expression) []candidate {
	all := []candidate{{absent: true}, {value: unnamed(lists...)}, {value: "0"}}
	for _, exprs := range lists {
		for _, e := range exprs {
			for _, v := range e.values {
				all = append(all, candidate{value: v})
				n, err := strconv.ParseInt(v, 10, 64)
				if err != nil {
					continue
				}
				if n > 0 { // labels cannot start with a minus
					all = append(all, candidate{value: strconv.FormatInt(n-1, 10)})
				}
				if n >= 0 && n < math.MaxInt64 {
					all = append(all, candidate{value: strconv.FormatInt(n+1, 10)})
				}
			}
		}
	}
	return all
}

// unnamed returns a value that is no number and that nobody names.
func unnamed(lists ...[]expression) string {
	value := "other"
	for slices.ContainsFunc(lists, func(exprs []expression) bool {
		return slices.ContainsFunc(exprs, func(e expression) bool { return slices.Contains(e.values, value) })
	}) {
		value += "x"
	}
	return value
}
