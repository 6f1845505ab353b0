package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
	st "github.com/plimsoll-go/plimsoll/scheduling/schedulingtest"
)

// faults are how often something goes wrong, each as a probability per call or tick.
type faults struct {
	launchFails, launchLost   float64 // an error before, and after the machine was started
	noCapacity                float64
	neverJoins, joinsLate     float64
	machineLost               float64 // per tick, for machines without a node
	listFails, listLags       float64
	terminateFails            float64
	evictFails, taintFails    float64
	nominateFails             float64
	nodeDeleted, interruption float64 // per tick and node
	eventTwice, eventLost     float64
	restart, clockJumps       float64
}

// instance is a machine of the world.
type instance struct {
	order   Order
	name    string
	started int // tick
	joins   int // tick; below 0 never
	joined  bool
	notice  int // tick at which it is taken away; 0 is no notice
}

// app is a deployment.
type app struct {
	name        string
	cpu, memory string
	replicas    int
	spread      bool
	apart       bool
}

// world is a cluster and a cloud. It implements Provider, Evictor and Nominator.
type world struct {
	dice      *rand.Rand
	faults    faults
	tick      int
	skew      time.Duration // of the controller's clock
	catalog   *instancetypes.Catalog
	apps      []app
	pods      map[string]*corev1.Pod
	nodes     map[string]*corev1.Node
	instances map[string]*instance // by order
	version   int
	serial    int
	tell      func(o metav1.Object, deleted bool)
	// seenLost says that events were lost, so that the whole state has to be told again.
	lost bool
	// forPod are the orders for each pod, by UID.
	forPod map[types.UID][]string
	// untainted are the nodes that pods were evicted from while kube-scheduler could bind others to them.
	untainted []string
	twice     []string
}

const tickLength = 30 * time.Second

var errCloud = errors.New("the cloud does not answer")

func (w *world) roll(p float64) bool { return p > 0 && w.dice.Float64() < p }

func (w *world) now() time.Time {
	return time.Date(2026, time.November, 16, 0, 0, 0, 0, time.UTC).Add(time.Duration(w.tick) * tickLength)
}

// clock is the time as the controller reads it.
func (w *world) clock() time.Time { return w.now().Add(w.skew) }

func (w *world) put(o metav1.Object) {
	w.version++
	o.SetResourceVersion(fmt.Sprint(w.version))
	switch o := o.(type) {
	case *corev1.Pod:
		w.pods[scheduling.PodName(o)] = o
	case *corev1.Node:
		w.nodes[o.Name] = o
	}
	w.send(o, false)
}

func (w *world) del(o metav1.Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		delete(w.pods, scheduling.PodName(o))
	case *corev1.Node:
		delete(w.nodes, o.Name)
		for _, pod := range w.on(o.Name) {
			w.del(pod)
		}
	}
	w.send(o, true)
}

func (w *world) send(o metav1.Object, deleted bool) {
	if w.roll(w.faults.eventLost) {
		w.lost = true
		return
	}
	w.tell(o, deleted)
	if w.roll(w.faults.eventTwice) {
		w.tell(o, deleted)
	}
}

func (w *world) on(node string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		if w.pods[name].Spec.NodeName == node {
			out = append(out, w.pods[name])
		}
	}
	return out
}

// Launch starts a machine.
func (w *world) Launch(_ context.Context, order Order) (string, error) {
	if i := w.instances[order.ID]; i != nil {
		return i.name, nil
	}
	if w.roll(w.faults.launchFails) {
		return "", errCloud
	}
	if w.roll(w.faults.noCapacity) {
		return "", fmt.Errorf("%s: %w", order.Option.InstanceType, ErrInsufficientCapacity)
	}
	w.serial++
	i := &instance{order: order, name: fmt.Sprintf("i-%04d", w.serial), started: w.tick, joins: w.tick + 1 + w.dice.IntN(4)}
	switch {
	case w.roll(w.faults.neverJoins):
		i.joins = -1
	case w.roll(w.faults.joinsLate):
		i.joins = w.tick + 20 + w.dice.IntN(30)
	}
	w.instances[order.ID] = i
	for _, pod := range order.Launch.Pods {
		p := w.pods[pod]
		if p == nil || p.Spec.NodeName != "" {
			continue
		}
		if p.Spec.Affinity != nil || len(p.Spec.TopologySpreadConstraints) > 0 {
			continue // kube-scheduler may bind the others of its app so that it has to go elsewhere
		}
		for _, id := range w.forPod[p.UID] {
			if other := w.instances[id]; other != nil && !other.joined && sameRun(id, order.ID) {
				w.twice = append(w.twice, fmt.Sprintf("tick %d: %s and %s for pod %s", w.tick, id, order.ID, pod))
			}
		}
		w.forPod[p.UID] = append(w.forPod[p.UID], order.ID)
	}
	if w.roll(w.faults.launchLost) {
		return "", errCloud
	}
	return i.name, nil
}

func sameRun(a, b string) bool { return a[:len("run-0000")] == b[:len("run-0000")] }

// Terminate stops a machine. Its node goes with it.
func (w *world) Terminate(_ context.Context, m Machine) error {
	if w.roll(w.faults.terminateFails) {
		return errCloud
	}
	w.stop(m.Order.ID)
	return nil
}

func (w *world) stop(id string) {
	i := w.instances[id]
	if i == nil {
		return
	}
	delete(w.instances, id)
	if n := w.nodes[i.name]; n != nil {
		w.del(n)
	}
}

// Machines lists the machines; those that have just started may be missing.
func (w *world) Machines(context.Context) ([]Machine, error) {
	if w.roll(w.faults.listFails) {
		return nil, errCloud
	}
	var out []Machine
	for _, id := range slices.Sorted(maps.Keys(w.instances)) {
		i := w.instances[id]
		if w.tick-i.started <= 1 && w.roll(w.faults.listLags) {
			continue
		}
		order := i.order
		order.Launch.Pods, order.Launch.Options = nil, nil
		m := Machine{Name: i.name, Order: order, Created: w.now().Add(time.Duration(i.started-w.tick) * tickLength)}
		if i.notice > 0 {
			m.Facts.Interruption = &disruption.Interruption{At: w.now().Add(time.Duration(i.notice-w.tick) * tickLength), Kind: "spot"}
		}
		out = append(out, m)
	}
	return out, nil
}

// SetTaint sets or removes a taint of the controller.
func (w *world) SetTaint(_ context.Context, node string, taint corev1.Taint, on bool) error {
	n := w.nodes[node]
	if n == nil {
		return nil
	}
	if w.roll(w.faults.taintFails) {
		return errCloud
	}
	n = n.DeepCopy()
	ApplyTaint(n, taint, on)
	w.put(n)
	return nil
}

// Evict evicts a pod if its app's budget allows: one pod of each app may be away. The pod stops until the next tick, and its
// successor comes at once.
func (w *world) Evict(_ context.Context, pod *corev1.Pod) error {
	p := w.pods[scheduling.PodName(pod)]
	if p == nil || p.UID != pod.UID || p.DeletionTimestamp != nil {
		return nil
	}
	if w.roll(w.faults.evictFails) {
		return errCloud
	}
	if n := w.nodes[p.Spec.NodeName]; n != nil && !HasTaint(n, Taint()) {
		w.untainted = append(w.untainted, n.Name)
	}
	for _, other := range w.pods {
		if other.Labels["app"] == p.Labels["app"] && other.Spec.NodeName == "" {
			return ErrEvictionBlocked
		}
	}
	p = p.DeepCopy()
	now := metav1.NewTime(w.now())
	p.DeletionTimestamp = &now
	w.put(p)
	w.replicate()
	return nil
}

// Nominate writes a pod's status.nominatedNodeName.
func (w *world) Nominate(_ context.Context, pod *corev1.Pod, node string) error {
	p := w.pods[scheduling.PodName(pod)]
	if p == nil || p.UID != pod.UID || p.Spec.NodeName != "" {
		return nil
	}
	if w.roll(w.faults.nominateFails) {
		return errCloud
	}
	p = p.DeepCopy()
	p.Status.NominatedNodeName = node
	w.put(p)
	return nil
}

// replicate makes and removes pods as their controllers do.
func (w *world) replicate() {
	for _, a := range w.apps {
		var mine []*corev1.Pod
		for _, name := range slices.Sorted(maps.Keys(w.pods)) {
			if w.pods[name].Labels["app"] == a.name && w.pods[name].DeletionTimestamp == nil {
				mine = append(mine, w.pods[name])
			}
		}
		for len(mine) > a.replicas {
			w.del(mine[len(mine)-1])
			mine = mine[:len(mine)-1]
		}
		for n := len(mine); n < a.replicas; n++ {
			w.serial++
			w.put(w.pod(&a))
		}
	}
}

func (w *world) pod(a *app) *corev1.Pod {
	opts := []st.PodOption{st.Label("app", a.name), st.OwnedBy("ReplicaSet", a.name), st.Requests(
		st.ResourceAmount{Name: corev1.ResourceCPU, Quantity: resource.MustParse(a.cpu)},
		st.ResourceAmount{Name: corev1.ResourceMemory, Quantity: resource.MustParse(a.memory)})}
	if a.spread {
		opts = append(opts, st.Spread(corev1.LabelTopologyZone, st.Skew(1)))
	}
	if a.apart {
		opts = append(opts, st.Apart(corev1.LabelHostname))
	}
	p := st.Pod(fmt.Sprintf("%s-%d", a.name, w.serial), opts...)
	p.Namespace = "default"
	p.UID = types.UID(fmt.Sprintf("pod-%d", w.serial))
	for i := range p.OwnerReferences {
		p.OwnerReferences[i].UID = types.UID("rs-" + a.name)
		p.OwnerReferences[i].Controller = new(bool)
		*p.OwnerReferences[i].Controller = true
	}
	return p
}

// budgets are the PodDisruptionBudgets of the apps.
func (w *world) budgets() []metav1.Object {
	var out []metav1.Object
	for _, a := range w.apps {
		b := st.DisruptionBudget(a.name, map[string]string{"app": a.name}, intstr.FromInt32(1))
		b.Namespace, b.ResourceVersion = "default", "1"
		out = append(out, b)
	}
	return out
}

// step lets one tick pass.
func (w *world) step() {
	w.tick++
	for _, id := range slices.Sorted(maps.Keys(w.instances)) {
		i := w.instances[id]
		switch {
		case i.notice > 0 && w.tick >= i.notice:
			w.stop(id)
		case !i.joined && w.roll(w.faults.machineLost):
			w.stop(id)
		case !i.joined && i.joins >= 0 && w.tick >= i.joins:
			i.joined = true
			w.join(i)
		case i.joined && w.nodes[i.name] != nil && w.roll(w.faults.nodeDeleted):
			w.del(w.nodes[i.name])
		case i.joined && i.notice == 0 && w.roll(w.faults.interruption):
			i.notice = w.tick + 4
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		if p := w.pods[name]; p.DeletionTimestamp != nil && p.DeletionTimestamp.Time.Before(w.now()) {
			w.del(p)
		}
	}
	w.replicate()
	w.schedule()
}

// join makes the node of a machine.
func (w *world) join(i *instance) {
	node, err := i.order.Launch.Node(i.name, &i.order.Option, w.catalog)
	if err != nil {
		panic(err)
	}
	delete(node.Labels, scheduling.InitializedLabel)
	delete(node.Labels, scheduling.RegisteredLabel)
	node.Spec.Taints = append(node.Spec.Taints, i.order.Launch.StartupTaints...)
	node.UID = types.UID("node-" + i.name)
	node.Status.Conditions[0].LastTransitionTime = metav1.NewTime(w.now())
	w.put(node)
}

// schedule binds pods as kube-scheduler would. A pod that fits no node loses its nomination.
func (w *world) schedule() {
	p := scheduling.Problem{Catalog: w.catalog}
	for _, name := range slices.Sorted(maps.Keys(w.pods)) {
		if pod := w.pods[name]; pod.Spec.NodeName == "" {
			p.Pods = append(p.Pods, pod)
		} else {
			p.Running = append(p.Running, pod)
		}
	}
	if len(p.Pods) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		p.Nodes = append(p.Nodes, w.nodes[name])
	}
	bindings, err := provisioning.Bind(p, uint64(w.tick))
	if err != nil {
		panic(err)
	}
	for _, b := range bindings {
		pod := w.pods[b.Pod.String()].DeepCopy()
		nominated := pod.Status.NominatedNodeName
		pod.Status.NominatedNodeName = ""
		if b.Node == "" {
			if nominated != "" {
				w.put(pod)
			}
			continue
		}
		pod.Spec.NodeName = b.Node
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{
			{Type: corev1.PodReady, Status: corev1.ConditionTrue},
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(w.now())},
		}
		w.put(pod)
	}
}

// all are the objects of the cluster.
func (w *world) all() []metav1.Object {
	out := w.budgets()
	for _, n := range w.nodes {
		out = append(out, n)
	}
	for _, p := range w.pods {
		out = append(out, p)
	}
	return out
}

// cpu is how many millicores the machines of the world have that no step empties.
func (w *world) cpu() int64 {
	var sum int64
	for _, i := range w.instances {
		n := w.nodes[i.name]
		if i.notice > 0 || n != nil && HasTaint(n, Taint()) || i.joined && n == nil {
			continue
		}
		t, _ := w.catalog.Get(i.order.Option.InstanceType)
		q := t.Capacity[corev1.ResourceCPU]
		sum += q.MilliValue()
	}
	return sum
}
