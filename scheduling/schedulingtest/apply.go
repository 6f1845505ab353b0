package schedulingtest

import (
	"slices"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Apply returns the cluster after the steps, some time later: drained nodes are removed, launches are ready nodes of
// their names, and evicted pods run on their expected nodes or, without one, are pending. Other pods of drained nodes
// are removed. Nodes that have received pods have a pod event at the cluster's time, reservations have the amounts
// that are left, and claims of ephemeral volumes of evicted pods are removed. The given cluster is not changed, and
// shares the unchanged objects.
//
// It panics if a launch is not in the catalog.
func Apply(c disruption.Cluster, later time.Duration, steps ...disruption.Step) disruption.Cluster {
	c.Nodes, c.Running = slices.Clone(c.Nodes), slices.Clone(c.Running)
	c.Machines, c.Pods = slices.Clone(c.Machines), slices.Clone(c.Pods)
	for i := range steps {
		carryOut(&c, &steps[i])
	}
	c.Now = c.Now.Add(later)
	return c
}

func carryOut(c *disruption.Cluster, step *disruption.Step) {
	used := make(map[string]int64) // amounts that reservations lose
	for i := range step.Launches {
		l := &step.Launches[i]
		node := mustNode(c, l, l.Name)
		node.CreationTimestamp = metav1.NewTime(c.Now)
		c.Nodes = append(c.Nodes, node)
		c.Machines = append(c.Machines, disruption.Machine{Node: l.Name, Created: c.Now, Initialized: c.Now, LastPodEvent: c.Now})
		if id, amount := instancetypes.Draws(c.CatalogOf(l.NodePool), l.Options[0].Key()); id != "" {
			used[id] += amount
		}
	}
	for _, node := range c.Nodes {
		if id, amount := instancetypes.Draws(c.CatalogOf(node.Labels[scheduling.NodePoolLabel]), instancetypes.OfferingOf(node)); id != "" && slices.Contains(step.Drain, node.Name) {
			used[id] -= amount
		}
	}
	moveEvicted(c, step)
	c.Nodes = slices.DeleteFunc(c.Nodes, func(n *corev1.Node) bool { return slices.Contains(step.Drain, n.Name) })
	c.Machines = slices.DeleteFunc(c.Machines, func(m disruption.Machine) bool { return slices.Contains(step.Drain, m.Node) })
	reserve(c, used)
}

// moveEvicted moves the evicted pods, and removes all other pods from the drained nodes.
func moveEvicted(c *disruption.Cluster, step *disruption.Step) {
	to := make(map[string]string, len(step.Evictions))
	received := make(map[string]bool)
	for _, e := range step.Evictions {
		to[e.Pod] = e.To
		received[e.To] = true
	}
	gone := make(map[string]bool, len(step.Drain))
	for _, name := range step.Drain {
		gone[name] = true
	}
	c.Claims = slices.DeleteFunc(slices.Clone(c.Claims), func(claim *corev1.PersistentVolumeClaim) bool {
		owner := metav1.GetControllerOfNoCopy(claim)
		_, moves := to[claim.Namespace+"/"+lo.FromPtr(owner).Name]
		return moves && owner.Kind == "Pod"
	})
	running := c.Running[:0:0]
	for _, pod := range c.Running {
		target, moves := to[scheduling.PodName(pod)]
		switch {
		case moves && target != "":
			pod = runs(pod, target, c.Now)
			pod.DeletionTimestamp, pod.Finalizers = nil, nil
			running = append(running, pod)
		case moves:
			waits := pod.DeepCopy()
			waits.Spec.NodeName, waits.DeletionTimestamp, waits.Finalizers = "", nil, nil
			waits.Status = corev1.PodStatus{Phase: corev1.PodPending}
			c.Pods = append(c.Pods, waits)
		case !gone[pod.Spec.NodeName]:
			running = append(running, pod)
		}
	}
	c.Running = running
	for i := range c.Machines {
		if received[c.Machines[i].Node] {
			c.Machines[i].LastPodEvent = c.Now
		}
	}
}

// reserve subtracts amounts from reservations, in every catalog.
func reserve(c *disruption.Cluster, used map[string]int64) {
	if len(used) == 0 {
		return
	}
	counted := func(old *instancetypes.Catalog) *instancetypes.Catalog {
		if old == nil {
			return nil
		}
		var types []*instancetypes.InstanceType
		for t := range old.All() {
			t = t.DeepCopy()
			for i := range t.Offerings {
				if o := &t.Offerings[i]; o.Counted() {
					o.ReservationCount = max(o.ReservationCount-used[o.ReservationID], 0)
				}
			}
			types = append(types, t)
		}
		return MustCatalog(types...)
	}
	c.Catalog = counted(c.Catalog)
	pools := make(map[string]*instancetypes.Catalog, len(c.PoolCatalogs))
	for name, old := range c.PoolCatalogs {
		pools[name] = counted(old)
	}
	c.PoolCatalogs = pools
}
