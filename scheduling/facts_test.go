package scheduling

// compile compiles a valid problem for tests.
func compile(p *Problem, s *Policy, cautious bool) *compiler {
	facts, err := newFacts(p, s)
	if err != nil {
		panic(err)
	}
	return facts.compile(cautious)
}
