package simulation

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/adapters/controller"
)

// Drains are nodes on their way out, for autoscalers that remove them as Karpenter and Cluster Autoscaler do: taint the
// node, evict all pods as their budgets allow, and terminate the machine once the node is empty.
type Drains struct {
	world *World
	nodes map[string]bool
}

// NewDrains drains nodes of a world.
func NewDrains(w *World) *Drains { return &Drains{world: w, nodes: map[string]bool{}} }

// Begin begins to drain a node.
func (d *Drains) Begin(ctx context.Context, node string) error {
	d.nodes[node] = true
	return d.world.Cluster.SetTaint(ctx, node, controller.Taint(), true)
}

// Has reports whether a node is being drained.
func (d *Drains) Has(node string) bool { return d.nodes[node] }

// Len is the number of nodes that are being drained.
func (d *Drains) Len() int { return len(d.nodes) }

// Advance evicts pods and terminates machines as far as that is possible now.
func (d *Drains) Advance(ctx context.Context) error {
	var errs []error
	for _, node := range slices.Sorted(maps.Keys(d.nodes)) {
		if d.world.Cluster.Nodes[node] == nil {
			delete(d.nodes, node)
			continue
		}
		for _, pod := range d.world.Cluster.On(node) {
			if err := d.world.Cluster.Evict(ctx, pod); !errors.Is(err, controller.ErrEvictionBlocked) {
				errs = append(errs, err)
			}
		}
		if i := d.world.Cloud.Instances[node]; i != nil && len(d.world.Cluster.On(node)) == 0 {
			errs = append(errs, d.world.Cloud.Terminate(ctx, i.Machine))
		}
	}
	return errors.Join(errs...)
}

// Interrupted are the nodes with a notice that are not being drained yet, by name.
func (d *Drains) Interrupted() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.world.Cloud.Instances)) {
		if d.world.Cloud.Instances[name].Machine.Facts.Interruption != nil && d.world.Cluster.Nodes[name] != nil && !d.nodes[name] {
			out = append(out, name)
		}
	}
	return out
}
