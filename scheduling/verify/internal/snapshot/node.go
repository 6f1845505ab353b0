package snapshot

import (
	"fmt"
	"maps"
	"math/big"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Node is a node as pods see it: one that runs or starts, or a planned one that a pool could launch.
type Node struct {
	Name   string // "" before it has one
	Object string // names it in messages
	// Labels are the labels that are known, Taints those that a pod must tolerate.
	Labels map[string]string
	Taints []corev1.Taint
	// planned is set for nodes that do not run yet. Their known labels have stable keys, and a pod may ask for them
	// by any alias.
	planned bool
	// Open returns the knowledge about a label that is not among Labels; nil means that all of these are absent.
	Open func(key string) Opening
	Pool *Pool // nil for a running node whose pool is not there
	// Capacity is all of the node, Allocatable the part for pods, Free the part of that which running pods and
	// daemons leave, below 0 where the node is overcommitted. Daemons is the part that the daemons of a planned node
	// request.
	Capacity, Allocatable, Free, Daemons Amounts
	Taken                                []Port // by running pods and daemons
	attached                             attached
	// Running is the object of a node that runs or starts, limits the number of volumes of a driver that it can
	// attach, by driver.
	Running *corev1.Node
	limits  map[string]int
	// listed is the price of a running node in the catalog, for limits on prices; 0 where these do not count it.
	listed *big.Int
	// Kind and Offering are the instance type and offering of a planned node. Clashes are the labels on which its
	// pool or launch disagrees with the catalog, sorted.
	Kind     *instancetypes.InstanceType
	Offering offerings.Offering
	Clashes  []string
}

// NewNode describes a running node with its pods and the daemons that are still to start there.
func (w *State) NewNode(running *corev1.Node, pods []*corev1.Pod) *Node {
	pl, catalog := w.Pools[running.Labels[scheduling.NodePoolLabel]], w.catalogOf(running.Labels[scheduling.NodePoolLabel])
	n := &Node{
		Name: running.Name, Object: "node/" + running.Name, Labels: running.Labels, Pool: pl, Running: running,
		Capacity: RoundedUp(running.Status.Capacity), Allocatable: roundedDown(running.Status.Allocatable),
		limits: w.Reader.storage.limits[running.Name], attached: make(attached), listed: new(big.Int),
	}
	if pl != nil && pl.Limits[scheduling.PriceResource] != nil {
		if _, o, ok := w.Sold(running); ok {
			n.listed.SetInt64(int64(o.Price))
		}
	}
	if InFlight(running) {
		// Once pods can run there it has these labels.
		n.Labels = maps.Clone(n.Labels)
		n.Labels[scheduling.RegisteredLabel], n.Labels[scheduling.InitializedLabel] = "true", "true"
		w.complete(n, catalog)
	}
	n.Taints = nodeTaints(running, ValueOr(pl, Pool{}).Object)
	n.Free = n.Allocatable.Clone()
	for _, pod := range pods {
		n.Hold(runningRequests(pod), hostPorts(&pod.Spec), w.Reader.storage.mountsOf(pod))
	}
	for _, d := range w.Daemons {
		if d.runsOn(n) && !slices.ContainsFunc(pods, d.owns) {
			n.Hold(d.pod.Requests, d.pod.Ports, nil)
		}
	}
	return n
}

// Hold takes the requests, ports and volumes of a pod off the room of the node.
func (n *Node) Hold(requests Amounts, ports []Port, mounts []Mount) {
	for name, amount := range requests {
		n.Free[name] = new(big.Int).Sub(n.Free.Of(name), amount)
	}
	n.Taken = append(slices.Clip(n.Taken), ports...)
	n.attached.add(mounts)
}

// Copied is a copy to which pods can be added.
func (n *Node) Copied() *Node {
	own := *n
	own.Free, own.attached = n.Free.Clone(), make(attached)
	for driver, ids := range n.attached {
		own.attached[driver] = maps.Clone(ids)
	}
	return &own
}

// charge adds the node sign times to the usage of its pool, which limits bound. Nodes that are being deleted use
// nothing.
func (n *Node) charge(sign int64) {
	if n.Pool == nil || n.Running.DeletionTimestamp != nil {
		return
	}
	for name, amount := range n.Capacity.Plus(Amounts{scheduling.NodesResource: big.NewInt(1), scheduling.PriceResource: n.listed}) {
		n.Pool.Usage.Add(Amounts{name: amount.Mul(amount, big.NewInt(sign))})
	}
}

// complete fills in the status of a node that still starts: a resource that is missing or zero has the amount of the
// catalog.
func (w *State) complete(n *Node, catalog *instancetypes.Catalog) {
	if catalog == nil {
		return
	}
	t, ok := catalog.Get(n.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return
	}
	// A type that is no longer sold this way still has its usual shape.
	var o offerings.Offering
	if i := slices.IndexFunc(t.Offerings, func(o offerings.Offering) bool {
		return o.Zone == n.Labels[corev1.LabelTopologyZone] && string(o.CapacityType) == n.Labels[offerings.CapacityTypeLabel]
	}); i >= 0 {
		o = t.Offerings[i]
	}
	fill := func(has, promised Amounts) {
		for name, amount := range promised {
			if has.Of(name).Sign() == 0 {
				has[name] = amount
			}
		}
	}
	promised := w.Types.roomOf(t, o)
	fill(n.Capacity, promised.capacity)
	fill(n.Allocatable, promised.allocatable)
}

// Choices are the labels that a launch puts on its node, and its requirements.
type Choices struct {
	Labels       map[string]string
	Requirements []Expression
}

// DaemonCount says how to count a daemon that asks for a label whose value is chosen at launch.
type DaemonCount int

// Which daemons count.
const (
	DaemonsDecided DaemonCount = iota // all choices are made
	FewestDaemons                     // count a daemon if it runs for every value
	MostDaemons                       // count a daemon if it runs for some value
)

// UnknownHost begins host names that are not known yet, so that no pod can ask for them.
const UnknownHost = "\x00"

// NewPlanned describes the node that the pool launches from the offering, with its daemons.
func (w *State) NewPlanned(pl *Pool, t *instancetypes.InstanceType, o offerings.Offering, made Choices, d DaemonCount) *Node {
	has := w.Types.roomOf(t, o)
	n := &Node{
		Pool: pl, Kind: t, Offering: o, planned: true, Taints: pl.Object.Spec.Template.Spec.Taints, attached: make(attached),
		Capacity: has.capacity, Allocatable: has.allocatable,
		Labels: map[string]string{
			// Every node carries these once it is ready to run anything.
			scheduling.RegisteredLabel:  "true",
			scheduling.InitializedLabel: "true",
			// The node will have a host name, and no pod can name it.
			corev1.LabelHostname: UnknownHost,
		},
	}
	for _, from := range []map[string]string{made.Labels, pl.Given} {
		for key, value := range from {
			n.Labels[requirements.NormalizeKey(key)] = value
		}
	}
	for key, value := range w.Types.soldLabels(t, o) {
		if other, ok := n.Labels[key]; ok && other != value {
			n.Clashes = append(n.Clashes, key)
		}
		n.Labels[key] = value
	}
	slices.Sort(n.Clashes)
	n.Open = func(key string) Opening {
		switch {
		case d == DaemonsDecided && pl.Chooses(key):
			return Opening{}
		case d == FewestDaemons:
			return n.opened(Every, key, made.Requirements)
		default:
			return n.opened(some, key, made.Requirements)
		}
	}
	w.Daemons.start(n)
	// The launch may choose the open labels for the pod that is alone with the node.
	n.Open = func(key string) Opening {
		if d == DaemonsDecided && pl.Chooses(key) {
			return Opening{}
		}
		return n.opened(some, key, nil)
	}
	return n
}

// WithHostName returns a copy of the planned node with a host name of its own, made from object.
func (n *Node) WithHostName(open func(string) Opening, object string) *Node {
	own := *n
	own.Labels, own.Open, own.Object = maps.Clone(n.Labels), open, object
	own.Labels[corev1.LabelHostname] = UnknownHost + object
	return &own
}

// opened returns the knowledge about a label that is chosen at launch, or by the provider; the zero Opening for any
// other label.
func (n *Node) opened(rule Quantifier, key string, asked []Expression) Opening {
	if !n.Pool.Chooses(key) && !n.Pool.Providers(key) {
		return Opening{}
	}
	return Opening{Rule: rule, Known: slices.Concat(About(key, n.Pool.Asks), About(key, asked))}
}

// Title names a planned node in messages.
func (n *Node) Title() string {
	return fmt.Sprintf("%s %s in %s", n.Kind.Name, n.Offering.CapacityType, n.Offering.Zone)
}

// Unmet returns the pool's requirements that the planned node cannot meet.
func (n *Node) Unmet() []Expression {
	return slices.DeleteFunc(slices.Clone(n.Pool.Asks), func(e Expression) bool { return n.Meets(About(e.Key, n.Pool.Asks)) })
}

// Value looks a label up, on a planned node also under the stable key that key is
// an alias of. On a running node kube-scheduler knows no aliases.
func (n *Node) Value(key string) (string, bool) {
	if v, ok := n.Labels[key]; ok || !n.planned {
		return v, ok
	}
	v, ok := n.Labels[requirements.NormalizeKey(key)]
	return v, ok
}

// May returns the values of a label that a planned node may have, none if it lacks the label. known reports whether
// that can be told: the node has the label, or its pool chooses among values that it lists.
func (n *Node) May(key string) (values []string, known bool) {
	if value, ok := n.Value(key); ok {
		return []string{value}, true
	}
	key = requirements.NormalizeKey(key)
	if n.Pool == nil || n.Pool.Providers(key) {
		return nil, false
	}
	if !n.Pool.Chooses(key) {
		return nil, true
	}
	asks := About(key, n.Pool.Asks)
	for _, e := range asks {
		if e.op != requirements.In {
			continue
		}
		known = true
		for _, value := range e.values {
			if AllHold(asks, LabelValue{Value: value}) && !slices.Contains(values, value) {
				values = append(values, value)
			}
		}
	}
	return values, known
}

// Matches reports whether the node meets a term of the selector.
func (n *Node) Matches(sel Selector) bool {
	return slices.ContainsFunc(sel, func(t term) bool { return n.meetsFields(t.fields) && n.Meets(t.Exprs) })
}

// meetsFields reports whether the node satisfies matchFields, each In or NotIn with one value. They know metadata.name
// alone, so that any other field is not satisfied, as no API server lets it pass.
func (n *Node) meetsFields(fields []corev1.NodeSelectorRequirement) bool {
	return !slices.ContainsFunc(fields, func(f corev1.NodeSelectorRequirement) bool {
		named := n.Name != "" && n.Name == f.Values[0]
		return f.Key != "metadata.name" || (f.Operator == corev1.NodeSelectorOpIn) != named
	})
}

// Meets reports whether the node satisfies every expression.
func (n *Node) Meets(exprs []Expression) bool {
	return !slices.ContainsFunc(exprs, func(e Expression) bool {
		if v, ok := n.Value(e.Key); ok {
			return !e.Holds(v, true)
		}
		o := Opening{}
		if n.Open != nil {
			o = n.Open(requirements.NormalizeKey(e.Key))
		}
		if o.Rule == Shut {
			return !e.Holds("", false)
		}
		// All expressions on an open label have to agree on its value.
		return !o.allows(About(e.Key, exprs))
	})
}

// Leaves reports whether the node is being removed: it gets no pods any more.
func (n *Node) Leaves() bool { return n.Running != nil && Leaving(n.Running) }
