package scheduling

// notes are what others have worked out for what these are notes of: one value of each type.
// What is copied keeps what was noted before, and not what is noted afterwards.
type notes struct{ last *note }

type note struct {
	value any
	next  *note
}

// note keeps a pointer in place of the one of its type before; a nil one forgets that.
func (n *notes) note(value any) { n.last = &note{value, n.last} }

// noted is the pointer that was kept last, nil for none.
func noted[T any](n notes) *T {
	for at := n.last; at != nil; at = at.next {
		if v, ok := at.value.(*T); ok {
			return v
		}
	}
	return nil
}
