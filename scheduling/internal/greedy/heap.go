package greedy

// heap is entries with the least one, by before, first. No two may be equal, so that the order never depends on
// how the heap was built.
type heap[T interface{ before(other T) bool }] []T

// order makes a heap of entries in any order.
func (h heap[T]) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}

// sink moves the entry at i down to its position.
func (h heap[T]) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(h) {
			return
		}
		if next+1 < len(h) && h[next+1].before(h[next]) {
			next++
		}
		if !h[next].before(h[i]) {
			return
		}
		h[i], h[next] = h[next], h[i]
		i = next
	}
}

// pop removes and returns the first entry.
func (h *heap[T]) pop() T {
	old := *h
	first, last := old[0], len(old)-1
	old[0] = old[last]
	*h = old[:last]
	h.sink(0)
	return first
}
