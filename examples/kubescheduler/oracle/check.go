package oracle

import (
	"context"
	"math/rand/v2"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Config says how closely to look. The zero value looks at first options only.
type Config struct {
	// Samples is how many times the plan is carried out with other options than the
	// first, drawn at random.
	Samples int
	// Seed is that of the draw.
	Seed uint64
}

// Check asks a scheduler about every pod of a plan: those that are placed, with each
// launch's first option and with samples of the others, and those that are not. It
// returns what the scheduler sees differently; nothing, if all is well. The scheduler
// is emptied first. Problem and plan are not changed. An error means that the plan
// cannot be carried out at all, for example because it names an unknown pod.
func Check(ctx context.Context, s *Scheduler, p *scheduling.Problem, plan *scheduling.Plan, c Config) ([]Disagreement, error) {
	r := &replay{world: newWorld(p), scheduler: s, plan: plan}
	if err := r.run(ctx, nil); err != nil {
		return nil, err
	}
	if err := r.refusals(ctx); err != nil {
		return nil, err
	}
	dice := rand.New(rand.NewPCG(c.Seed, 0)) //nolint:gosec // a sample, not a secret
	for range c.Samples {
		choice, other := sample(dice, plan, r.dependent())
		if !other {
			break
		}
		if err := r.run(ctx, choice); err != nil {
			return nil, err
		}
	}
	return r.found, nil
}

// sample draws an option for every launch. other is false if there is nothing to draw
// from. If pods depend on one another, only one launch gets an option other than its
// first: a plan promises that any launch may fall back, not that all may at once.
func sample(dice *rand.Rand, plan *scheduling.Plan, one bool) (choice []int, other bool) {
	choice = make([]int, len(plan.Launches))
	var open []int
	for i := range plan.Launches {
		if len(plan.Launches[i].Options) > 1 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return choice, false
	}
	if one {
		open = []int{open[dice.IntN(len(open))]}
	}
	for _, i := range open {
		choice[i] = 1 + dice.IntN(len(plan.Launches[i].Options)-1)
	}
	return choice, true
}

// dependent reports whether any pod's place depends on where other pods are, or on
// objects other than nodes.
func (w *world) dependent() bool {
	for _, pod := range w.pending {
		a := pod.Spec.Affinity
		if len(pod.Spec.TopologySpreadConstraints) > 0 || len(pod.Spec.Volumes) > 0 ||
			a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
			return true
		}
	}
	for _, pod := range w.running {
		if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
			return true
		}
	}
	return false
}
