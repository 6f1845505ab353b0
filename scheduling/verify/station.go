package verify

import (
	"maps"
	"math/big"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// station is a running or in-flight node.
type station struct {
	place
	node *corev1.Node
	// free is what running pods and the daemons still to come leave of the
	// allocatable resources; below 0 where a node is overcommitted. left is what the
	// plan leaves of it.
	free, left amounts
	// taken are the ports of running pods, of the daemons still to come, and of the
	// pods that the plan adds.
	taken []port
	// allocatable is what all pods may have, limits how many volumes the node takes by
	// driver, attached the volumes of its pods and of those that the plan adds.
	allocatable amounts
	limits      map[string]int
	attached    attached
}

// newStation describes a node and charges its pods, its coming daemons and its
// pool's usage.
func (w *world) newStation(node *corev1.Node, running []*corev1.Pod) *station {
	pl := w.pools[node.Labels[scheduling.NodePoolLabel]]
	s := &station{node: node, limits: w.storage.limits[node.Name], attached: make(attached)}
	var spec *scheduling.NodePool
	if pl != nil {
		spec = pl.NodePool
	}
	labels := node.Labels
	if inFlight(node) {
		// By the time pods can run there it carries these.
		labels = maps.Clone(labels)
		labels[scheduling.RegisteredLabel], labels[scheduling.InitializedLabel] = "true", "true"
	}
	s.place = place{labels: labels, name: node.Name, taints: nodeTaints(node, spec)}
	capacity, allocatable := roundedUp(node.Status.Capacity), roundedDown(node.Status.Allocatable)
	if inFlight(node) {
		complete(capacity, allocatable, node, w.catalogOf(node.Labels[scheduling.NodePoolLabel]))
	}
	if pl != nil && !leaving(node) {
		pl.usage.add(capacity)
		pl.usage.add(amounts{scheduling.NodesResource: big.NewInt(1)})
	}
	held := amounts{}
	for _, pod := range running {
		held.add(runningRequests(pod))
		s.taken = append(s.taken, hostPorts(&pod.Spec)...)
		s.attached.add(w.mountsOf(pod))
	}
	for _, d := range w.daemons {
		if d.runsOn(&s.place) && !runsAlready(d, running) {
			held.add(d.requests)
			s.taken = append(s.taken, d.ports...)
		}
	}
	s.allocatable, s.free = allocatable, allocatable.minus(held)
	s.left = s.free.clone()
	return s
}

// catalogOf is the catalog of a pool, which need not be there any more.
func (w *world) catalogOf(pool string) *instancetypes.Catalog {
	if own, ok := w.problem.PoolCatalogs[pool]; ok {
		return own
	}
	return w.problem.Catalog
}

func runsAlready(d *daemon, running []*corev1.Pod) bool {
	for _, pod := range running {
		if d.owns(pod) {
			return true
		}
	}
	return false
}

// fillIn completes what a node of a pool reports, see complete.
func fillIn(capacity, allocatable amounts, node *corev1.Node, pl *pool) {
	complete(capacity, allocatable, node, pl.catalog)
}

// complete completes what a node that is still starting reports: a resource that is
// missing or zero has the amount that the catalog promises.
func complete(capacity, allocatable amounts, node *corev1.Node, catalog *instancetypes.Catalog) {
	if catalog == nil {
		return
	}
	t, ok := catalog.Get(node.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return
	}
	// A type that is no longer sold this way still has its usual shape.
	var o offerings.Offering
	for _, sold := range t.Offerings {
		if sold.Zone == node.Labels[corev1.LabelTopologyZone] && string(sold.CapacityType) == node.Labels[scheduling.CapacityTypeLabel] {
			o = sold
			break
		}
	}
	for name, n := range roundedUp(capacityOf(t, o)) {
		if capacity.of(name).Sign() == 0 {
			capacity[name] = n
		}
	}
	for name, n := range allocatableOf(t, o) {
		if allocatable.of(name).Sign() == 0 {
			allocatable[name] = n
		}
	}
}

// holds reports whether the node can take one more pod beside those of the plan.
func (s *station) holds(t *tenant) bool {
	_, busy := clash(t.ports, s.taken)
	_, full := s.attached.excess(t.mounts, s.volumeLimit)
	return !leaving(s.node) && !busy && !full && len(exceeding(t.requests, s.left)) == 0 && s.welcomes(t)
}

// welcomes reports whether labels, taints and volumes let the pod onto the node.
func (s *station) welcomes(t *tenant) bool {
	return len(untolerated(s.taints, t.pod.Spec.Tolerations)) == 0 && s.admits(t.wants) && s.forVolumes().reaches(t.mounts)
}
