package cluster

import "slices"

// numbers are lists of numbers by domain. A fork shares those to which neither has added.
type numbers struct {
	lists [][]int64
	own   []bool
}

func newNumbers(n int) numbers { return numbers{make([][]int64, n), make([]bool, n)} }

func (x *numbers) fork() numbers {
	clear(x.own)
	return numbers{slices.Clone(x.lists), make([]bool, len(x.own))}
}

func (x *numbers) add(list int, domain int32, n int64) {
	if domain < 0 {
		return
	}
	if !x.own[list] {
		x.lists[list], x.own[list] = slices.Clone(x.lists[list]), true
	}
	if more := int(domain) + 1 - len(x.lists[list]); more > 0 {
		x.lists[list] = append(x.lists[list], make([]int64, more)...)
	}
	x.lists[list][domain] += n
}

func (x *numbers) at(list int, domain int32) int64 {
	if domain < 0 || int(domain) >= len(x.lists[list]) {
		return 0
	}
	return x.lists[list][domain]
}
