package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// refusals asks about the pods that the plan gives up on. The plan must have been
// carried out.
func (r *replay) refusals(ctx context.Context) error {
	asked := map[string]bool{}
	for i, pod := range r.cluster.Left {
		u := &r.plan.Unschedulable[i]
		if hasReason(u, scheduling.ReasonUnsupported) || r.spreadsOverHosts(pod) {
			continue
		}
		alike, err := json.Marshal(likeness{pod.Namespace, pod.Labels, &pod.Spec, u.Reasons})
		if err != nil {
			return err
		}
		if asked[string(alike)] {
			continue
		}
		asked[string(alike)] = true
		if err := errors.Join(r.refusedByNodes(ctx, pod), r.refusedByMachines(ctx, pod, u)); err != nil {
			return err
		}
	}
	return nil
}

// likeness is the key of pods that get the same answers.
type likeness struct {
	Namespace string
	Labels    map[string]string
	Spec      *corev1.PodSpec
	Reasons   []scheduling.ReasonCount
}

// spreadsOverHosts reports whether a hard constraint spreads the pod over hosts. Plans
// bound the pods of one host as if there always were an empty one; kube-scheduler lets
// a host have more where every other has some, too.
func (r *replay) spreadsOverHosts(pod *corev1.Pod) bool {
	constraints := pod.Spec.TopologySpreadConstraints
	if len(constraints) == 0 {
		constraints = r.problem.DefaultSpread
	}
	return slices.ContainsFunc(constraints, func(c corev1.TopologySpreadConstraint) bool {
		return c.TopologyKey == corev1.LabelHostname && c.WhenUnsatisfiable == corev1.DoNotSchedule
	})
}

func hasReason(u *scheduling.Unschedulable, code scheduling.ReasonCode) bool {
	return slices.ContainsFunc(u.Reasons, func(r scheduling.ReasonCount) bool { return r.Code == code })
}

// refusedByNodes asks whether a pod could go onto a node that is there once the plan
// has been carried out. Nodes that are about to go are out of the question, and so is
// room on machines whose pool wants a choice of types: one more pod may spoil it.
func (r *replay) refusedByNodes(ctx context.Context, pod *corev1.Pod) error {
	for i := range r.cluster.Nodes {
		node := &r.cluster.Nodes[i]
		if leaving(node.Node) || node.Launch != nil && wantsChoice(r.pools[node.Launch.NodePool]) {
			continue
		}
		refusal, err := r.scheduler.Admit(ctx, pod, node.Name)
		if err != nil {
			return err
		}
		if refusal == nil {
			r.found = append(r.found, overlooked(pod, node))
		}
	}
	return nil
}

// refusedByMachines notes a disagreement if a pod could go onto an empty machine that a pool
// could buy. It stops at the first such machine.
func (r *replay) refusedByMachines(ctx context.Context, pod *corev1.Pod, u *scheduling.Unschedulable) error {
	s := newShop(r.world, pod)
	for _, pool := range r.problem.NodePools {
		for item := range s.items(pool) {
			if r.excused(u, pool, item.offering) {
				continue
			}
			machines, err := item.machines(r.machineName())
			if err != nil {
				return err
			}
			for _, node := range machines {
				refusal, err := r.tryMachine(ctx, pod, &node)
				if err != nil {
					return err
				}
				if refusal == nil {
					r.found = append(r.found, overlooked(pod, &node))
					return nil
				}
			}
		}
	}
	return nil
}

// machineName is a node name that no node has.
func (r *replay) machineName() string {
	taken := map[string]bool{}
	for i := range r.cluster.Nodes {
		taken[r.cluster.Nodes[i].Name] = true
	}
	return freeName("machine", taken)
}

// tryMachine asks about a pod on a machine that is bought for it alone. A machine that
// is too small for its daemons is refused, too: plans buy none that leave a daemon
// waiting, although kube-scheduler would put pods there.
func (r *replay) tryMachine(ctx context.Context, pod *corev1.Pod, node *Node) (refusal *Refusal, err error) {
	if err := r.scheduler.AddNode(node.Node); err != nil {
		return nil, err
	}
	lack, err := r.startDaemons(ctx, node)
	switch {
	case err != nil:
	case lack != nil:
		refusal = &Refusal{Plugin: names.NodeResourcesFit, Reason: "daemon " + lack.Pod + " does not fit"}
	default:
		refusal, err = r.scheduler.Admit(ctx, pod, node.Name)
	}
	return refusal, errors.Join(err, r.scheduler.RemoveNode(node.Name))
}

// excused reports whether the plan has a reason against buying the offering that kube-scheduler
// does not know: a limit, a reservation or minValues. The plan must state the reason itself.
func (r *replay) excused(u *scheduling.Unschedulable, pool *scheduling.NodePool, o *offering) bool {
	return len(pool.Spec.Limits) > 0 && hasReason(u, scheduling.ReasonLimits) ||
		wantsChoice(pool) && hasReason(u, scheduling.ReasonMinValues) ||
		o.Counted() && hasReason(u, scheduling.ReasonReservation)
}

// wantsChoice reports whether the pool has minValues.
func wantsChoice(pool *scheduling.NodePool) bool {
	return slices.ContainsFunc(pool.Spec.Template.Spec.Requirements, func(s selector) bool { return s.MinValues != nil })
}
