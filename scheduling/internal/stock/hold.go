package stock

import (
	"cmp"
	"maps"
	"slices"
)

// beyond is what is taken more than by a first option, as far as it is more.
func (l ledger) beyond(first ledger) ledger {
	out := ledger{}
	for a, n := range l {
		if more := n - first[a]; more > 0 {
			out[a] = more
		}
	}
	return out
}

// has reports whether accounts have what is taken from them.
func (l ledger) has(taken ledger) bool {
	for a, n := range taken {
		if n > l[a] {
			return false
		}
	}
	return true
}

// raise makes the ledger the larger of itself and another one in each account.
func (l ledger) raise(to ledger) {
	for a, n := range to {
		l[a] = max(l[a], n)
	}
}

// held are, by launch, the options that hold together: whichever of these each launch is bought at, accounts have what is
// left of them. more is, by launch and option, what each takes more than the launch's first, which is among them and
// always held. What is left is shared such that the launch with least gets as much as can be (max-min fairness), and then
// launches get, in their order, what is left over: no option that is not held could be held beside the others.
func held(left ledger, more [][]ledger) [][]int {
	most := make([]ledger, len(more))
	for i, options := range more {
		most[i] = ledger{}
		for _, extra := range options {
			most[i].raise(extra)
		}
	}
	level := levels(left, most)
	out, rest := make([][]int, len(more)), maps.Clone(left)
	room := make([]ledger, len(more)) // what is set aside for each launch
	for i, options := range more {
		room[i] = ledger{}
		for x, extra := range options {
			if level.has(extra) {
				out[i] = append(out[i], x)
				room[i].raise(extra)
			}
		}
		for a, n := range room[i] {
			rest[a] -= n
		}
	}
	for i, options := range more {
		if len(out[i]) == len(options) {
			continue
		}
		out[i] = out[i][:0]
		for x, extra := range options {
			if further := extra.beyond(room[i]); rest.has(further) {
				out[i] = append(out[i], x)
				room[i].raise(extra)
				for a, n := range further {
					rest[a] -= n
				}
			}
		}
	}
	return out
}

// levels are, by account, the most that each launch may have such that all launches have what they may, those that ask for
// less having that: what is left is divided among those that ask for more.
func levels(left ledger, most []ledger) ledger {
	asked := map[account][]int64{}
	for _, l := range most {
		for a, n := range l {
			asked[a] = append(asked[a], n)
		}
	}
	out := ledger{}
	for a, list := range asked {
		slices.SortFunc(list, cmp.Compare[int64])
		rest := left[a]
		for i, n := range list {
			share := rest / int64(len(list)-i)
			if out[a] = min(n, share); n > share {
				break // all that come ask for more
			}
			rest -= n
		}
	}
	return out
}
