package binding

// asking is after how many pods it is asked whether it is Late.
const asking = 64

// Bind takes the pods of a queue, given by class, in turn, again and again until none of them
// can be bound any more. to is the node of each, -1 for those that wait; the others are
// passed over. drawn, where it is not nil, gets whether chance decided among nodes of the
// same score. It returns how many are left, who may have a place yet where it was Late.
func (r *Run) Bind(queue, to []int32, drawn []bool) (left int) {
	for i := range to {
		if to[i] < 0 {
			left++
		}
	}
	hopeless := make([]bool, len(r.s.classes))
	for again := true; again && left > 0; {
		again = false
		for i, c := range queue {
			if to[i] >= 0 || hopeless[c] {
				continue
			}
			if r.Late != nil && i%asking == 0 && r.Late() {
				return left
			}
			n, chance := r.choose(c)
			if n < 0 {
				// Where only other pods take room, a pod that has no place now will have none.
				hopeless[c] = !r.s.classes[c].pods.HasRequired()
				continue
			}
			r.Place(c, n)
			to[i] = n
			if drawn != nil {
				drawn[i] = chance
			}
			left--
			again = true
		}
	}
	return left
}
