package compile

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/validate"
)

// Facts is what is known of a problem before anything is decided.
type Facts struct {
	Problem  *scheduling.Problem
	Solver   *scheduling.Policy
	Readings *podspec.Readings
	Cluster  *Cluster
	// spaces counts the pods that run by namespace; where it is nil, they are in problem.
	Spaces map[string]int
	Memory *Memory
	Choice *podspec.VolumeChoice
	// claims are what has been read of volumes, by choice.
	claims map[*podspec.VolumeChoice]*podspec.VolumeIndex
	// terse leaves out reasons and bounds.
	Terse bool
	// together proposes what misses a place by the fewest things besides single changes.
	Together bool
	// judged is set where plans of several efforts are compared.
	Judged bool
	// loose fills nodes that run kind by kind only, and not one by one.
	Loose bool
}

// Volumes reads the claims of the pods to be placed under a choice, once for each.
func (f *Facts) Volumes(choice *podspec.VolumeChoice) *podspec.VolumeIndex {
	x, ok := f.claims[choice]
	if !ok {
		x = podspec.NewVolumeIndex(f.Problem, f.Cluster.claimants(), choice)
		if f.claims == nil {
			f.claims = map[*podspec.VolumeChoice]*podspec.VolumeIndex{}
		}
		f.claims[choice] = x
	}
	return x
}

// NewFacts reads a problem for a solver, or says what is wrong with it.
func NewFacts(p *scheduling.Problem, s *scheduling.Policy) (*Facts, error) {
	r, err := validate.Read(p, s)
	if err != nil {
		return nil, err
	}
	return &Facts{Problem: p, Solver: s, Readings: r, Cluster: NewCluster(p), Memory: NewMemory()}, nil
}
