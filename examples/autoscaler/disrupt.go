package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// disrupt makes plans when it is time to, and carries their steps out. A notice is acted on
// at once; all the rest waits for its time, and for the steps that are under way.
func (l *loop) disrupt(ctx context.Context) error {
	switch {
	case l.noticed:
		l.noticed = false
		if err := l.plan(ctx, &l.forced, disruption.Interrupted); err != nil {
			return err
		}
	case !l.now.Before(l.due) && len(l.forced.steps)+len(l.planned.steps) == 0:
		l.due = l.now.Add(l.opts.every)
		if err := l.plan(ctx, &l.planned); err != nil {
			return err
		}
	}
	for _, q := range []*queue{&l.forced, &l.planned} {
		if err := l.carryOut(q); err != nil {
			return err
		}
	}
	return l.tell()
}

// plan plans disruptions for the given reasons, or for all, and queues the steps.
func (l *loop) plan(ctx context.Context, q *queue, reasons ...disruption.Reason) error {
	if err := l.tell(); err != nil {
		return err
	}
	c := disruption.Cluster{Problem: l.session.Problem(), PodDisruptionBudgets: budgets(), Underway: l.underway()}
	for _, name := range slices.Sorted(maps.Keys(l.cluster.machines)) {
		c.Machines = append(c.Machines, *l.cluster.machines[name])
	}
	planner := disruption.Planner{Policy: scheduling.Policy{Effort: scheduling.EffortFast}, MinSaving: l.opts.saving, Reasons: reasons}
	plan, err := planner.Plan(ctx, c)
	if err != nil {
		return err
	}
	if l.opts.check {
		if err := (verify.StepsChecker{Planner: planner}).Steps(c, plan); err != nil {
			return err
		}
	}
	for i := range plan.Steps {
		if err := l.worthwhile(&plan.Steps[i]); err != nil {
			return err
		}
	}
	if len(reasons) == 0 {
		l.bound = plan.Summary.LowerBoundPerHour
	}
	if len(q.steps) == 0 {
		q.names = map[string]string{}
	}
	q.steps = append(q.steps, plan.Steps...)
	for i := range plan.Steps {
		l.cordon(q, &plan.Steps[i], true) // so that no pods come to nodes that are about to go
	}
	return nil
}

// worthwhile returns an error if a step that only saves money saves less than options.saving
// at its nodes' prices of now.
func (l *loop) worthwhile(step *disruption.Step) error {
	if step.Reason != disruption.Underutilized {
		return nil
	}
	var price offerings.Price
	for _, name := range step.Drain {
		price += l.cloud.price(name)
	}
	share := offerings.Price(l.opts.saving.Share * float64(price))
	if asked := max(l.opts.saving.PerHour, share); step.SavingPerHour < asked {
		return fmt.Errorf("a step that drains %v saves %s per hour, and has to save %s", step.Drain, step.SavingPerHour, asked)
	}
	return nil
}
