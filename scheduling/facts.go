package scheduling

// facts is what is known of a problem before anything is decided.
type facts struct {
	problem  *Problem
	solver   *Policy
	readings *readings
	cluster  *cluster
	// spaces counts the pods that run by namespace; where it is nil, they are in problem.
	spaces map[string]int
	memory *memory
	choice *volumeChoice
	// claims are what has been read of volumes, by choice.
	claims map[*volumeChoice]*volumeIndex
	// terse leaves out reasons and bounds.
	terse bool
	// together proposes what misses a place by the fewest things besides single changes.
	together bool
	// judged is set where plans of several efforts are compared.
	judged bool
	// loose fills nodes that run kind by kind only, and not one by one.
	loose bool
}

// volumes reads the claims of the pods to be placed under a choice, once for each.
func (f *facts) volumes(choice *volumeChoice) *volumeIndex {
	x, ok := f.claims[choice]
	if !ok {
		x = newVolumeIndex(f.problem, f.cluster.claimants(), choice)
		if f.claims == nil {
			f.claims = map[*volumeChoice]*volumeIndex{}
		}
		f.claims[choice] = x
	}
	return x
}

// newFacts reads a problem for a solver, or says what is wrong with it.
func newFacts(p *Problem, s *Policy) (*facts, error) {
	r, err := p.read(s)
	if err != nil {
		return nil, err
	}
	return &facts{problem: p, solver: s, readings: r, cluster: newCluster(p), memory: newMemory()}, nil
}
