package planner

import (
	"context"
	"errors"
	"fmt"

	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/benchmarks/peers/internal/peer"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify"
)

// verifyRefusals is the largest number of pods for which verify also tries unscheduled pods
// on every offering, because that takes most of its time.
const verifyRefusals = 5_000

// Peer is Plimsoll at one effort.
type Peer struct {
	// Title is the name in tables.
	Title  string
	Policy scheduling.Policy
}

// All is Plimsoll at its named efforts, and as it plans where kube-scheduler places the pods.
func All() []Peer {
	return []Peer{
		{"plimsoll fast", scheduling.Policy{Effort: scheduling.EffortFast}},
		{"plimsoll", scheduling.Policy{}},
		{"plimsoll free", scheduling.Policy{Placement: scheduling.PlacementFree}},
		{"plimsoll thorough", scheduling.Policy{Effort: scheduling.EffortThorough}},
	}
}

// Name implements [peer.Peer].
func (p Peer) Name() string { return p.Title }

// Load implements [peer.Peer].
func (p Peer) Load(problem scheduling.Problem) (peer.Run, error) {
	return &run{solver: p.Policy, problem: problem}, nil
}

type run struct {
	solver  scheduling.Policy
	problem scheduling.Problem
	plan    *scheduling.Plan
}

// Solve implements [peer.Run].
func (r *run) Solve(ctx context.Context) error {
	plan, err := provisioning.Planner{Policy: r.solver}.Plan(ctx, r.problem)
	r.plan = plan
	return err
}

// Outcome implements [peer.Run]. A plan that the second opinion rejects is an error.
func (r *run) Outcome() (peer.Outcome, error) {
	checker := verify.Checker{Policy: r.solver, SkipRefusals: len(r.problem.Pods) > verifyRefusals}
	if err := checker.Plan(r.problem, r.plan); err != nil {
		return peer.Outcome{}, err
	}
	if len(r.plan.Existing) > 0 {
		return peer.Outcome{}, errors.New("pods on running nodes are not compared")
	}
	pods := make(map[string]*corev1.Pod, len(r.problem.Pods))
	for _, pod := range r.problem.Pods {
		pods[pod.Namespace+"/"+pod.Name] = pod
	}
	out := peer.Outcome{
		Bound: r.plan.Summary.LowerBoundPerHour,
		Gap:   r.plan.Summary.Gap,
		Late:  r.plan.Summary.Status == scheduling.StatusDeadline,
	}
	for i := range r.plan.Launches {
		l := &r.plan.Launches[i]
		o, err := r.bought(l)
		if err != nil {
			return out, err
		}
		m := peer.Machine{NodePool: l.NodePool, InstanceType: l.Options[0].InstanceType, Offering: o, Labels: l.Labels}
		for _, name := range l.Pods {
			m.Pods = append(m.Pods, pods[name])
		}
		out.Machines = append(out.Machines, m)
	}
	return out, nil
}

// bought finds the offering behind a launch's first option.
func (r *run) bought(l *scheduling.Launch) (offerings.Offering, error) {
	key := l.Options[0].Key()
	o, ok := r.problem.CatalogOf(l.NodePool).Lookup(key)
	if !ok || o.ReservationID != key.ReservationID {
		return o, fmt.Errorf("launch %s: the catalog does not sell %v", l.Name, key)
	}
	return o, nil
}
