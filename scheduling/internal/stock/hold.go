package stock

import (
	"cmp"
	"maps"
	"slices"
)

// beyond is how much more is taken than by a first option, account by account; accounts of which less is taken are left out.
func (l ledger) beyond(first ledger) ledger {
	out := ledger{}
	for a, n := range l {
		if more := n - first[a]; more > 0 {
			out[a] = more
		}
	}
	return out
}

// has reports whether the accounts cover everything that is taken from them.
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

// held are, by launch, the options that can be had together: whichever of these each launch is bought at, no account is
// overdrawn. left is the balance of the accounts after each launch's first option, which is always held. more is how much
// more each option takes, by launch and option. The balance is shared by max-min fairness, and the rest goes to launches in
// their order, so that no option that is left out could be held beside the others.
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
	room := make([]ledger, len(more)) // the share that is set aside for each launch
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

// levels are the max-min fair shares, by account: the most that each launch may have. Launches that ask for less get all
// they ask for, and the rest is divided evenly among the others.
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
