package landing

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/instance"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Cluster is the cluster before any step.
type Cluster struct {
	// Problem has the nodes, the pods that cannot be evicted as Running, and no Pods.
	Problem scheduling.Problem
	Policy  *scheduling.Policy
	// Movable are the pods that can be evicted, each on its node. Waiting are pods that are on no node.
	Movable, Waiting []*corev1.Pod
	// Expected are the Movable pods that are not on their node yet: by name, the node on which they run until then,
	// "" for none.
	Expected map[string]string
}

// Step has the machines to launch, the pods to evict, in the order of their waves, and the nodes to remove.
type Step struct {
	Launches []scheduling.Launch
	Moves    []Move
	Drain    []string
}

// Move takes a pod off a node, in a wave. To is the node to which it is bound, "" for none.
type Move struct {
	Pod, From, To string
	Wave          int
}

// Landing is a cluster after some steps.
type Landing struct {
	*model
	run *binding.Run
	// names are the names of all nodes by number, launches included; launched are the numbers of launches.
	names    []string
	launched map[string]int32
	running  map[string]runningState
	expected map[string]expected // by pod that has not moved
	virtual  map[string]string   // the nodes of virtual pods, by pod
	// random draws the order of the pods of a wave; nil leaves it as it is.
	random *rand.Rand
}

// expected is the node to which a pod will be bound, and the node on which it runs until then, "" for none.
type expected struct {
	node int32
	from string
}

// runningState is the difference between a running pod and a new pod of its class: it is being deleted, or holds more
// than its requests, by number of resource, e.g. while it is resized in place. A pod that has moved has none.
type runningState struct {
	going bool
	more  []int64
}

// model is shared by all forks.
type model struct {
	scheduler *binding.Scheduler
	priority  []int32        // by class
	classes   map[string]int // by pod
	launches  *instance.Launches
}

// New reads a cluster. The error is that of a malformed problem.
func New(x Cluster) (*Landing, error) {
	for _, pod := range x.Movable {
		x.Problem.Pods = append(x.Problem.Pods, scheduling.Successor(pod, ""))
	}
	x.Problem.Pods = append(x.Problem.Pods, x.Waiting...)
	facts, err := instance.NewFacts(&x.Problem, x.Policy)
	if err != nil {
		return nil, err
	}
	c := facts.Compile(false)
	m := &model{scheduler: binding.New(c), classes: c.ClassByPod(), launches: instance.NewLaunches(c)}
	for _, class := range c.Planned {
		m.priority = append(m.priority, class.Priority)
	}
	l := &Landing{model: m, run: m.scheduler.Begin(0), names: m.scheduler.Model.Names(), launched: map[string]int32{}, running: map[string]runningState{}, expected: map[string]expected{}, virtual: map[string]string{}}
	for _, pod := range x.Movable {
		n, ok := l.nodeNumber(pod.Spec.NodeName)
		if !ok {
			continue
		}
		name := podspec.PodName(pod)
		f := runningState{going: pod.DeletionTimestamp != nil, more: heldBeyond(pod, l.class(name) >= 0, c.Table)}
		if f.going || f.more != nil {
			l.running[name] = f
		}
		if scheduling.IsVirtual(pod) {
			l.virtual[name] = pod.Spec.NodeName
		}
		l.arrive(name, n)
		if home, waits := x.Expected[name]; waits {
			l.expected[name] = expected{n, home}
		}
	}
	return l, nil
}

// heldBeyond is the capacity that a running pod holds and that its class does not count, by number of resource: of a pod
// without a class all that it holds, otherwise the difference to the requests of a new pod, which is nil unless the pod is
// resized in place. Resources that no pod requests are left out.
func heldBeyond(pod *corev1.Pod, hasClass bool, table *podspec.ResourceTable) []int64 {
	if hasClass && !podspec.Resized(pod) {
		return nil
	}
	r := podspec.RequestReader{Table: podspec.NewResourceTable()}
	out := make([]int64, len(table.Names))
	add := func(requests []int64, sign int64) {
		for d, n := range requests {
			if to, asked := table.Index[r.Table.Names[d]]; asked {
				out[to] += sign * n
			}
		}
	}
	add(r.ReadRunning(pod), 1)
	if hasClass {
		add(r.Read(&pod.Spec), -1)
	}
	return out
}

// Fork is an independent copy. With a seed, kube-scheduler's choice among nodes of the same score and the order of
// pods in a wave are random; with 0 pods come as they are listed. The fork of nil is nil.
func (l *Landing) Fork(seed uint64) *Landing {
	if l == nil {
		return nil
	}
	f := &Landing{model: l.model, run: l.run.Fork(seed), names: slices.Clip(l.names), launched: maps.Clone(l.launched), running: maps.Clone(l.running), expected: maps.Clone(l.expected), virtual: maps.Clone(l.virtual)}
	if seed > 0 {
		f.random = rand.New(rand.NewPCG(seed, 0x77617665)) //nolint:gosec // a model of chance, not a secret
	}
	return f
}

// Take makes the moves of a step as they are, without kube-scheduler.
func (l *Landing) Take(step *Step) {
	l.addLaunches(step.Launches)
	for _, m := range step.Moves {
		l.leave(m.Pod, m.From)
		if n, ok := l.nodeNumber(m.To); ok {
			l.arrive(m.Pod, n)
		}
		if _, is := l.virtual[m.Pod]; is {
			l.keepRoom(m)
		}
	}
	l.forEachNode(step.Drain, l.run.Leave)
}

// Play carries a step out wave by wave, and returns its moves with the nodes to which kube-scheduler binds the pods.
// Closed nodes take none in. Pods without a node after the last wave are tried once more when the drained nodes are
// gone. kube-scheduler does not know virtual pods, so that pods are bound to the room of these, too; then the moves of virtual
// pods follow whose room is no longer on their node, by name, in the last wave.
func (l *Landing) Play(step *Step, closed []string) []Move {
	l.addLaunches(step.Launches)
	l.forEachNode(closed, l.run.Close)
	l.forEachNode(step.Drain, l.run.Close)
	for pod, node := range l.virtual {
		if n, ok := l.nodeNumber(node); ok {
			l.removeFrom(pod, n)
		}
	}
	out := slices.DeleteFunc(slices.Clone(step.Moves), func(m Move) bool { _, is := l.virtual[m.Pod]; return is })
	for first, last := 0, 0; first < len(out); first = last {
		for ; last < len(out) && out[last].Wave == out[first].Wave; last++ {
			l.leave(out[last].Pod, out[last].From)
			out[last].To = ""
		}
		l.bind(out[first:last])
		if last == len(out) {
			l.forEachNode(step.Drain, l.run.Leave)
			l.bind(out[first:last])
		}
	}
	if len(l.virtual) == 0 {
		return out
	}
	if len(out) == 0 {
		l.forEachNode(step.Drain, l.run.Leave)
	}
	last := 1
	for _, m := range out {
		last = max(last, m.Wave)
	}
	return append(out, l.restoreRoom(step.Drain, closed, last)...)
}

// keepRoom notes where a virtual pod is now. One that has no room any more is forgotten, as a real pod that pends is.
func (l *Landing) keepRoom(m Move) {
	if m.To == "" {
		delete(l.virtual, m.Pod)
		return
	}
	l.virtual[m.Pod] = m.To
}

// restoreRoom puts the virtual pods, which are on no node, onto their nodes or, where these are drained or have no room for them
// any more, onto others, and returns the moves of the latter. A closed node keeps those that it has.
func (l *Landing) restoreRoom(drained, closed []string, wave int) (moves []Move) {
	for _, pod := range slices.Sorted(maps.Keys(l.virtual)) {
		node := l.virtual[pod]
		n, ok := l.nodeNumber(node)
		c := l.class(pod)
		if ok && c >= 0 && !slices.Contains(drained, node) && (slices.Contains(closed, node) || l.run.Admits(c, n)) {
			l.arrive(pod, n)
			continue
		}
		moves = append(moves, Move{Pod: pod, From: node, Wave: wave})
	}
	l.bind(moves)
	for _, m := range moves {
		l.keepRoom(m)
	}
	return moves
}

// Holds are the options of a launch that hold the pods of these names; the first always does.
func (l *Landing) Holds(launch *scheduling.Launch, pods []string) []scheduling.LaunchOption {
	classes := make([]int32, len(pods))
	for i, pod := range pods {
		classes[i] = l.class(pod)
	}
	out := launch.Options[:1:1]
	for i := 1; i < len(launch.Options); i++ {
		if kind, ok := l.launchKind(launch, i); ok && l.scheduler.Model.Holds(kind, classes) {
			out = append(out, launch.Options[i])
		}
	}
	return out
}

// class is the number of a pod's class, -1 for a pod that cannot be scheduled again, e.g. because it claims an
// unknown device.
func (m *model) class(pod string) int32 {
	if c, ok := m.classes[pod]; ok {
		return int32(c) //nolint:gosec // classes are few
	}
	return -1
}

// nodeNumber is the number of a node or launch; ok is false if there is none of the name.
func (l *Landing) nodeNumber(name string) (n int32, ok bool) { return l.number(l.launched, name) }

// number is the number of a node or of a launch among some; ok is false if there is none of the name.
func (m *model) number(launched map[string]int32, name string) (n int32, ok bool) {
	if n, ok = launched[name]; ok {
		return n, true
	}
	return m.scheduler.Model.Node(name)
}

// forEachNode calls a function for each named node that exists.
func (l *Landing) forEachNode(names []string, do func(node int32)) {
	for _, name := range names {
		if n, ok := l.nodeNumber(name); ok {
			do(n)
		}
	}
}

// arrive puts a pod that is on no node onto one.
func (l *Landing) arrive(pod string, n int32) {
	f := l.running[pod]
	if c := l.class(pod); c >= 0 {
		l.run.PlaceAs(c, n, f.going)
	}
	l.run.Hold(n, f.more, 1)
}

// leave takes a pod off its node for good: on its next node it is a new pod.
func (l *Landing) leave(pod, node string) {
	if n, ok := l.nodeNumber(node); ok {
		l.removeFrom(pod, n)
	}
	delete(l.running, pod)
	delete(l.expected, pod)
}

// removeFrom takes a pod off a node.
func (l *Landing) removeFrom(pod string, n int32) {
	f := l.running[pod]
	if c := l.class(pod); c >= 0 {
		l.run.RemoveAs(c, n, f.going)
	}
	l.run.Hold(n, f.more, -1)
}

// launchKind is the kind of node that an option of a launch becomes; ok is false if the catalog does not have it.
func (m *model) launchKind(launch *scheduling.Launch, option int) (int, bool) {
	one := *launch
	one.Options = launch.Options[option : option+1]
	p, ok := m.launches.OfferOf(&one)
	if !ok {
		return 0, false
	}
	return m.scheduler.Labelled(p, launch.Labels), true
}

// addLaunches adds the machines of launches.
func (l *Landing) addLaunches(launches []scheduling.Launch) {
	for i := range launches {
		if kind, ok := l.launchKind(&launches[i], 0); ok {
			l.launched[launches[i].Name] = int32(l.run.Join(kind)) //nolint:gosec // nodes are few
			l.names = append(l.names, launches[i].Name)
		}
	}
}

// bind lets kube-scheduler bind the pods of a wave that have no node, the highest priority first.
func (l *Landing) bind(wave []Move) {
	var waiting []*Move
	for i := range wave {
		if wave[i].To == "" && l.class(wave[i].Pod) >= 0 {
			waiting = append(waiting, &wave[i])
		}
	}
	if len(waiting) == 0 {
		return
	}
	if l.random != nil {
		l.random.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	}
	slices.SortStableFunc(waiting, func(a, b *Move) int {
		return cmp.Compare(l.priority[l.class(b.Pod)], l.priority[l.class(a.Pod)])
	})
	queue, to := make([]int32, len(waiting)), make([]int32, len(waiting))
	for i, m := range waiting {
		queue[i], to[i] = l.class(m.Pod), -1
	}
	l.run.Bind(queue, to, nil)
	for i, m := range waiting {
		if to[i] >= 0 {
			m.To = l.names[to[i]]
		}
	}
}
