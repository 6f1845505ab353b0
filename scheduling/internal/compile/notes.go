package compile

// Notes are what others have worked out for what these are notes of: one value of each type.
// What is copied keeps what was noted before, and not what is noted afterwards.
type Notes struct{ last *note }

type note struct {
	value any
	next  *note
}

// Note keeps a pointer in place of the one of its type before; a nil one forgets that.
func (n *Notes) Note(value any) { n.last = &note{value, n.last} }

// Noted is the pointer that was kept last, nil for none.
func Noted[T any](n Notes) *T {
	for at := n.last; at != nil; at = at.next {
		if v, ok := at.value.(*T); ok {
			return v
		}
	}
	return nil
}
