package scheduling

// facts is what is known of a problem before anything is decided.
type facts struct {
	problem  *Problem
	solver   *Solver
	readings *readings
	cluster  *cluster
	// spaces counts the pods that run by namespace; where it is nil, they are in problem.
	spaces map[string]int
	memory *memory
	choice *volumeChoice
	// terse leaves out reasons and bounds.
	terse bool
}

// newFacts reads a problem for a solver, or says what is wrong with it.
func newFacts(p *Problem, s *Solver) (*facts, error) {
	r, err := p.read(s)
	if err != nil {
		return nil, err
	}
	return &facts{problem: p, solver: s, readings: r, cluster: newCluster(p), memory: newMemory()}, nil
}
