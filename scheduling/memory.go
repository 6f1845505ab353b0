package scheduling

// memory is what compilers keep for those that come after them. Nothing of it shows in
// a plan: whatever is there stands for what would be worked out anew.
type memory struct{}

func newMemory() *memory { return &memory{} }

// fork returns a memory of its own that remembers the same.
func (m *memory) fork() *memory {
	c := *m
	return &c
}
