package verify

import (
	"cmp"
	"maps"
	"math/big"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
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

// place is what a pod sees of a node: a running one, one that a launch would bring,
// or one that could be bought.
type place struct {
	// labels are those of the concrete node.
	labels map[string]string
	// name is the node's name; "" before it has one.
	name string
	// taints are those that count.
	taints []corev1.Taint
	// planned is set for machines that do not run yet: what is known of their labels
	// are the stable keys, and a pod may ask for them by any alias.
	planned bool
	// open says what is known about a label that is not among labels; nil means that
	// such a label is absent.
	open func(key string) opening
}

// value looks a label up, on a planned machine also under the stable key that key is
// an alias of. On a running node kube-scheduler knows no aliases.
func (p *place) value(key string) (string, bool) {
	if v, ok := p.labels[key]; ok || !p.planned {
		return v, ok
	}
	v, ok := p.labels[requirements.NormalizeKey(key)]
	return v, ok
}

// admits reports whether the selector allows the place.
func (p *place) admits(sel selector) bool {
	return slices.ContainsFunc(sel, func(t term) bool { return p.meetsFields(t.fields) && p.meets(t.exprs) })
}

// meetsFields evaluates matchFields, which know metadata.name with one value only.
func (p *place) meetsFields(fields []corev1.NodeSelectorRequirement) bool {
	for _, f := range fields {
		if f.Key != "metadata.name" || len(f.Values) != 1 {
			return false
		}
		same := p.name != "" && p.name == f.Values[0]
		switch f.Operator {
		case corev1.NodeSelectorOpIn:
			if !same {
				return false
			}
		case corev1.NodeSelectorOpNotIn:
			if same {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// meets reports whether the place satisfies every expression.
func (p *place) meets(exprs []expression) bool {
	for _, e := range exprs {
		if v, ok := p.value(e.key); ok {
			if !e.holds(v, true) {
				return false
			}
			continue
		}
		o := opening{}
		if p.open != nil {
			o = p.open(requirements.NormalizeKey(e.key))
		}
		if o.rule == shut {
			if !e.holds("", false) {
				return false
			}
			continue
		}
		// All expressions on an open label have to agree on its value.
		if !o.allows(about(e.key, exprs)) {
			return false
		}
	}
	return true
}

// daemon is a DaemonSet, seen as the pod that it runs on each node.
type daemon struct {
	namespace, name string
	requests        amounts
	ports           []port
	tolerations     []corev1.Toleration
	wants           selector
	newest          *corev1.Pod // what it needs is read from this pod; nil for its template
}

// readDaemons reads the DaemonSets in order of name. What one needs is what its
// newest living pod asks for, since admission may have changed that; without any,
// what its template asks for.
func (w *world) readDaemons() {
	for _, ds := range w.problem.DaemonSets {
		if ds == nil {
			continue
		}
		template := &ds.Spec.Template.Spec
		d := &daemon{
			namespace: cmp.Or(ds.Namespace, metav1.NamespaceDefault),
			name:      ds.Name,
			wants:     selectorOf(template),
		}
		d.tolerations = daemonTolerations(template)
		spec := template
		for _, pod := range w.problem.Running {
			if pod == nil || !d.owns(pod) || finished(pod) {
				continue
			}
			if old := d.newest; old == nil || old.CreationTimestamp.Before(&pod.CreationTimestamp) ||
				old.CreationTimestamp.Equal(&pod.CreationTimestamp) && pod.Name > old.Name {
				d.newest, spec = pod, &pod.Spec
			}
		}
		d.requests, d.ports = pendingRequests(spec), hostPorts(spec)
		w.daemons = append(w.daemons, d)
	}
	slices.SortFunc(w.daemons, func(a, b *daemon) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// owns reports whether the pod is one of the DaemonSet's.
func (d *daemon) owns(pod *corev1.Pod) bool {
	return owner(pod, "DaemonSet") == d.name && cmp.Or(pod.Namespace, metav1.NamespaceDefault) == d.namespace
}

// daemonTolerations are the template's tolerations and those that the DaemonSet
// controller adds to every pod it makes.
func daemonTolerations(template *corev1.PodSpec) []corev1.Toleration {
	exists := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	all := append(slices.Clone(template.Tolerations),
		exists(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		exists(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		exists(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	)
	if template.HostNetwork {
		all = append(all, exists(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return all
}

// runsOn reports whether the daemon runs at the place.
func (d *daemon) runsOn(p *place) bool {
	return len(untolerated(p.taints, d.tolerations)) == 0 && p.admits(d.wants)
}

// daemonsAt returns the daemons that run at the place, with the sum of their
// requests and their ports.
func (w *world) daemonsAt(p *place) (requests amounts, ports []port) {
	requests = amounts{}
	for _, d := range w.daemons {
		if d.runsOn(p) {
			requests.add(d.requests)
			ports = append(ports, d.ports...)
		}
	}
	return requests, ports
}
