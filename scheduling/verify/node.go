package verify

import (
	"cmp"
	"fmt"
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

// node is what pods see of a node: one that runs or is starting, or one that a pool could buy.
type node struct {
	name   string // "" before it has one
	object string // names it in messages
	// labels are those that are known, taints those that count.
	labels map[string]string
	taints []corev1.Taint
	// planned is set for nodes that do not run yet: what is known of their labels are the
	// stable keys, and a pod may ask for them by any alias.
	planned bool
	// open says what is known about a label that is not among labels; nil means that
	// such a label is absent.
	open func(key string) opening
	pool *pool // nil for a running node that no pool owns which is there
	// capacity is what it has, allocatable what all pods may have, free what running pods and
	// daemons leave of that; below 0 where a node is overcommitted. daemons is what the daemons
	// of a planned node take.
	capacity, allocatable, free, daemons amounts
	taken                                []port // by running pods and daemons
	attached                             attached
	// running is the node itself, limits how many volumes of a driver it says that it takes.
	running *corev1.Node
	limits  map[string]int
	// kind and offering are what is bought for a planned node, clashes the labels on which pool
	// or launch and catalog disagree, sorted.
	kind     *instancetypes.InstanceType
	offering offerings.Offering
	clashes  []string
}

// newNode describes a running node with its pods and the daemons that are still to come.
func (w *world) newNode(running *corev1.Node, pods []*corev1.Pod) *node {
	pl, catalog := w.pools[running.Labels[scheduling.NodePoolLabel]], w.catalogOf(running.Labels[scheduling.NodePoolLabel])
	n := &node{
		name: running.Name, object: "node/" + running.Name, labels: running.Labels, pool: pl, running: running,
		capacity: roundedUp(running.Status.Capacity), allocatable: roundedDown(running.Status.Allocatable),
		limits: w.storage.limits[running.Name], attached: make(attached),
	}
	if inFlight(running) {
		// By the time pods can run there it carries these.
		n.labels = maps.Clone(n.labels)
		n.labels[scheduling.RegisteredLabel], n.labels[scheduling.InitializedLabel] = "true", "true"
		n.complete(catalog)
	}
	n.taints = nodeTaints(running, said(pl, pool{}).NodePool)
	n.free = n.allocatable.clone()
	for _, pod := range pods {
		n.hold(runningRequests(pod), hostPorts(&pod.Spec), w.mountsOf(pod))
	}
	for _, d := range w.daemons {
		if d.runsOn(n) && !slices.ContainsFunc(pods, d.owns) {
			n.hold(d.requests, d.ports, nil)
		}
	}
	return n
}

// hold takes what a pod needs off what is free.
func (n *node) hold(requests amounts, ports []port, mounts []mount) {
	for name, amount := range requests {
		n.free[name] = new(big.Int).Sub(n.free.of(name), amount)
	}
	n.taken = append(slices.Clip(n.taken), ports...)
	n.attached.add(mounts)
}

// copied is a copy to which pods can be added.
func (n *node) copied() *node {
	own := *n
	own.free, own.attached = n.free.clone(), make(attached)
	for driver, ids := range n.attached {
		own.attached[driver] = maps.Clone(ids)
	}
	return &own
}

// charge adds the node to what its pool uses of its limits, or takes it off again.
func (n *node) charge(sign int64) {
	if n.pool == nil || leaving(n.running) {
		return
	}
	for name, amount := range n.capacity.plus(amounts{scheduling.NodesResource: big.NewInt(1)}) {
		n.pool.usage.add(amounts{name: amount.Mul(amount, big.NewInt(sign))})
	}
}

// complete completes what a node that is still starting reports: a resource that is
// missing or zero has the amount that the catalog promises.
func (n *node) complete(catalog *instancetypes.Catalog) {
	if catalog == nil {
		return
	}
	t, ok := catalog.Get(n.labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return
	}
	// A type that is no longer sold this way still has its usual shape.
	var o offerings.Offering
	if i := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool {
		return o.Zone == n.labels[corev1.LabelTopologyZone] && string(o.CapacityType) == n.labels[scheduling.CapacityTypeLabel]
	}); i >= 0 {
		o = t.Offerings[i]
	}
	fill := func(has, promised amounts) {
		for name, amount := range promised {
			if has.of(name).Sign() == 0 {
				has[name] = amount
			}
		}
	}
	fill(n.capacity, roundedUp(capacityOf(t, o)))
	fill(n.allocatable, allocatableOf(t, o))
}

// choices are what a launch fixes: the labels that it puts on the node, and its requirements.
type choices struct {
	labels       map[string]string
	requirements []expression
}

// doubt says what to make of a daemon that asks for a label whose value is chosen
// only when a node is bought.
type doubt int

const (
	settled doubt = iota // all choices are made
	fewest               // count the daemons that run whatever is chosen
	most                 // count the daemons that may run
)

// nobodys begins host names that nobody can ask for.
const nobodys = "\x00"

// newPlanned describes what buying the offering for the pool brings.
func (w *world) newPlanned(pl *pool, t *instancetypes.InstanceType, o offerings.Offering, made choices, d doubt) *node {
	n := &node{
		pool: pl, kind: t, offering: o, planned: true, taints: pl.Spec.Template.Spec.Taints, attached: make(attached),
		capacity: roundedUp(capacityOf(t, o)), allocatable: allocatableOf(t, o),
		labels: map[string]string{
			// Every node carries these once it is ready to run anything.
			scheduling.RegisteredLabel:  "true",
			scheduling.InitializedLabel: "true",
			// There will be a host name, and nobody can name it.
			corev1.LabelHostname: nobodys,
		},
	}
	for _, from := range []map[string]string{made.labels, pl.given} {
		for key, value := range from {
			n.labels[requirements.NormalizeKey(key)] = value
		}
	}
	for key, value := range soldLabels(t, o) {
		if other, ok := n.labels[key]; ok && other != value {
			n.clashes = append(n.clashes, key)
		}
		n.labels[key] = value
	}
	slices.Sort(n.clashes)
	n.open = func(key string) opening {
		switch {
		case d == settled && pl.chooses(key):
			return opening{}
		case d == fewest:
			return n.opened(every, key, made.requirements)
		default:
			return n.opened(some, key, made.requirements)
		}
	}
	n.daemons, n.taken = w.daemonsAt(n)
	n.free = n.allocatable.minus(n.daemons)
	// A pod that is alone with the node may choose what is left open.
	n.open = func(key string) opening {
		if d == settled && pl.chooses(key) {
			return opening{}
		}
		return n.opened(some, key, nil)
	}
	return n
}

// standing is the planned node as it stands, with a host name that nobody else has.
func (n *node) standing(open func(string) opening, object string) *node {
	own := *n
	own.labels, own.open, own.object = maps.Clone(n.labels), open, object
	own.labels[corev1.LabelHostname] = nobodys + object
	return &own
}

// soldLabels are the labels that come with an offering, by their stable keys.
func soldLabels(t *instancetypes.InstanceType, o offerings.Offering) map[string]string {
	sold := make(map[string]string)
	for _, from := range []map[string]string{t.Labels, o.NodeLabels()} {
		for key, value := range from {
			sold[requirements.NormalizeKey(key)] = value
		}
	}
	return sold
}

// opened is what holds of every value, or of some, of a label that is still to be chosen.
func (n *node) opened(rule quantifier, key string, asked []expression) opening {
	if !n.pool.chooses(key) && !n.pool.providers(key) {
		return opening{}
	}
	return opening{rule: rule, known: slices.Concat(about(key, n.pool.asks), about(key, asked))}
}

// title names a planned node in messages.
func (n *node) title() string {
	return fmt.Sprintf("%s %s in %s", n.kind.Name, n.offering.CapacityType, n.offering.Zone)
}

// unmet returns the pool's requirements that the planned node cannot meet.
func (n *node) unmet() []expression {
	return slices.DeleteFunc(slices.Clone(n.pool.asks), func(e expression) bool { return n.meets(about(e.key, n.pool.asks)) })
}

// value looks a label up, on a planned node also under the stable key that key is
// an alias of. On a running node kube-scheduler knows no aliases.
func (n *node) value(key string) (string, bool) {
	if v, ok := n.labels[key]; ok || !n.planned {
		return v, ok
	}
	v, ok := n.labels[requirements.NormalizeKey(key)]
	return v, ok
}

// admits reports whether the selector allows the node.
func (n *node) admits(sel selector) bool {
	return slices.ContainsFunc(sel, func(t term) bool { return n.meetsFields(t.fields) && n.meets(t.exprs) })
}

// meetsFields evaluates matchFields, which know metadata.name with one value only.
func (n *node) meetsFields(fields []corev1.NodeSelectorRequirement) bool {
	return !slices.ContainsFunc(fields, func(f corev1.NodeSelectorRequirement) bool {
		if f.Key != "metadata.name" || len(f.Values) != 1 {
			return true
		}
		same := n.name != "" && n.name == f.Values[0]
		return !(f.Operator == corev1.NodeSelectorOpIn && same || f.Operator == corev1.NodeSelectorOpNotIn && !same)
	})
}

// meets reports whether the node satisfies every expression.
func (n *node) meets(exprs []expression) bool {
	return !slices.ContainsFunc(exprs, func(e expression) bool {
		if v, ok := n.value(e.key); ok {
			return !e.holds(v, true)
		}
		o := opening{}
		if n.open != nil {
			o = n.open(requirements.NormalizeKey(e.key))
		}
		if o.rule == shut {
			return !e.holds("", false)
		}
		// All expressions on an open label have to agree on its value.
		return !o.allows(about(e.key, exprs))
	})
}

// welcomes reports whether labels, taints and volumes let the pod onto the node.
func (n *node) welcomes(t *tenant) bool {
	return len(untolerated(n.taints, t.pod.Spec.Tolerations)) == 0 && n.admits(t.wants) && n.reaches(t.mounts)
}

// holds reports whether the node can take one more pod, however many volumes that brings.
func (n *node) holds(t *tenant) bool {
	_, busy := clash(t.ports, n.taken)
	return !busy && len(exceeding(t.requests, n.free)) == 0 && n.welcomes(t)
}

// leaves reports whether the node is being removed: it gets no pods any more.
func (n *node) leaves() bool { return n.running != nil && leaving(n.running) }

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
		spec := &ds.Spec.Template.Spec
		d := &daemon{
			namespace: cmp.Or(ds.Namespace, metav1.NamespaceDefault), name: ds.Name,
			wants: selectorOf(spec), tolerations: daemonTolerations(spec),
		}
		for _, pod := range w.problem.Running {
			if pod == nil || !d.owns(pod) || finished(pod) {
				continue
			}
			if old := d.newest; old == nil || old.CreationTimestamp.Before(&pod.CreationTimestamp) ||
				old.CreationTimestamp.Equal(&pod.CreationTimestamp) && pod.Name > old.Name {
				d.newest, spec = pod, &pod.Spec
			}
		}
		d.requests, d.ports = effectiveRequests(spec, nil), hostPorts(spec)
		w.daemons = append(w.daemons, d)
	}
	slices.SortFunc(w.daemons, func(a, b *daemon) int {
		return cmp.Or(strings.Compare(a.namespace, b.namespace), strings.Compare(a.name, b.name))
	})
}

// owns reports whether the pod is one of the DaemonSet's.
func (d *daemon) owns(pod *corev1.Pod) bool {
	return owner(pod, "DaemonSet") == d.name && namespaceOf(pod) == d.namespace
}

// daemonTolerations are the template's tolerations and those that the DaemonSet
// controller adds to every pod it makes.
func daemonTolerations(template *corev1.PodSpec) []corev1.Toleration {
	all := slices.Clone(template.Tolerations)
	add := func(effect corev1.TaintEffect, keys ...string) {
		for _, key := range keys {
			all = append(all, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
		}
	}
	add(corev1.TaintEffectNoExecute, corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable)
	add(corev1.TaintEffectNoSchedule, corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable)
	if template.HostNetwork {
		add(corev1.TaintEffectNoSchedule, corev1.TaintNodeNetworkUnavailable)
	}
	return all
}

// runsOn reports whether the daemon runs on the node.
func (d *daemon) runsOn(n *node) bool {
	return len(untolerated(n.taints, d.tolerations)) == 0 && n.admits(d.wants)
}

// daemonsAt returns what the daemons take that run on the node, and their ports.
func (w *world) daemonsAt(n *node) (requests amounts, ports []port) {
	requests = amounts{}
	for _, d := range w.daemons {
		if d.runsOn(n) {
			requests.add(d.requests)
			ports = append(ports, d.ports...)
		}
	}
	return requests, ports
}
