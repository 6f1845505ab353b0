package oracle

import (
	"context"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// replay carries a plan out in a scheduler.
type replay struct {
	*world
	scheduler *Scheduler
	plan      *scheduling.Plan
	cluster   *Cluster // of the latest run
	found     []Disagreement
}

// run sets the cluster up, with the chosen option of each launch, and then places the
// pods one after the other.
func (r *replay) run(ctx context.Context, choice []int) error {
	cluster, err := r.carryOut(r.plan, choice)
	if err != nil {
		return err
	}
	r.cluster = cluster
	if err := r.scheduler.Reset(); err != nil {
		return err
	}
	for i := range cluster.Nodes {
		if err := r.add(ctx, &cluster.Nodes[i]); err != nil {
			return err
		}
	}
	return r.place(ctx, cluster.Placements)
}

// add adds a node with its pods. A daemon that does not fit a machine of the plan is a
// disagreement.
func (r *replay) add(ctx context.Context, node *Node) error {
	if err := r.scheduler.AddNode(node.Node); err != nil {
		return err
	}
	for _, pod := range node.Running {
		if err := r.scheduler.Bind(pod, node.Name); err != nil {
			return err
		}
	}
	lack, err := r.startDaemons(ctx, node)
	if lack != nil && node.Launch != nil {
		r.found = append(r.found, *lack)
	}
	return err
}

// startDaemons puts daemons onto a node even if kube-scheduler refuses them, and returns the
// first for which there is too little room. A daemon that another one keeps away, e.g. by a
// host port, is no fault, because plans reserve room for both.
func (r *replay) startDaemons(ctx context.Context, node *Node) (lack *Disagreement, err error) {
	for _, pod := range node.Daemons {
		refusal, err := r.scheduler.Admit(ctx, pod, node.Name)
		if err != nil {
			return nil, err
		}
		if refusal != nil && refusal.Plugin == names.NodeResourcesFit && lack == nil {
			d := refused(Placement{Pod: pod, Node: node.Name}, node.Machine, refusal)
			lack = &d
		}
		if err := r.scheduler.Bind(pod, node.Name); err != nil {
			return nil, err
		}
	}
	return lack, nil
}

// place lets the scheduler admit the pods one after the other. A refused pod is tried
// again after the rest, as long as each round places another pod, because pods may have
// affinity to later pods.
func (r *replay) place(ctx context.Context, placements []Placement) error {
	machines := map[string]string{}
	for i := range r.cluster.Nodes {
		machines[r.cluster.Nodes[i].Name] = r.cluster.Nodes[i].Machine
	}
	for {
		var left []Placement
		var found []Disagreement
		for _, p := range placements {
			refusal, err := r.scheduler.Admit(ctx, p.Pod, p.Node)
			if err != nil {
				return err
			}
			if refusal != nil {
				left = append(left, p)
				found = append(found, refused(p, machines[p.Node], refusal))
				continue
			}
			if err := r.scheduler.Bind(p.Pod, p.Node); err != nil {
				return err
			}
		}
		if len(left) == 0 || len(left) == len(placements) {
			r.found = append(r.found, found...)
			return nil
		}
		placements = left
	}
}
