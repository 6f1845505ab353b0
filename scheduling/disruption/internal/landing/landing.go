package landing

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
)

// Cluster is what runs, to begin with.
type Cluster struct {
	// Problem has the nodes, as Running what cannot be evicted, and as Pods what can, as pods without a node.
	Problem scheduling.Problem
	Policy  *scheduling.Policy
	// Home is on which node each of the latter is, by name; Going are those that are being deleted there.
	Home  map[string]string
	Going map[string]bool
}

// Step is machines to buy, pods to evict, in the order of their waves, and nodes to take away.
type Step struct {
	Launches []scheduling.Launch
	Moves    []Move
	Drain    []string
}

// Move takes a pod off a node, in a wave. To is where it lands, "" for nowhere.
type Move struct {
	Pod, From, To string
	Wave          int
}

// Landing is a cluster as it stands after some steps.
type Landing struct {
	*model
	run *binding.Run
	// names are those of all nodes by number, launches among them; launched are the numbers of these.
	names    []string
	launched map[string]int32
	going    map[string]bool
	// dice draws the order of the pods of a wave; nil leaves it as it is.
	dice *rand.Rand
}

// model is what all forks share.
type model struct {
	scheduler *binding.Scheduler
	priority  []int32        // by class
	classes   map[string]int // by pod
	purchases *compile.Launches
}

// New reads a cluster. The error is that of a malformed problem.
func New(x Cluster) (*Landing, error) {
	facts, err := compile.NewFacts(&x.Problem, x.Policy)
	if err != nil {
		return nil, err
	}
	c := facts.Compile(false)
	m := &model{scheduler: binding.New(c), classes: c.ClassByPod(), purchases: compile.NewLaunches(c)}
	for _, class := range c.Planned {
		m.priority = append(m.priority, class.Priority)
	}
	l := &Landing{model: m, run: m.scheduler.Begin(0), names: m.scheduler.Names(), launched: map[string]int32{}, going: x.Going}
	for _, pod := range slices.Sorted(maps.Keys(x.Home)) {
		if n, ok := l.at(x.Home[pod]); ok {
			l.run.PlaceAs(l.class(pod), n, x.Going[pod])
		}
	}
	return l, nil
}

// Fork is the same cluster, to be changed by itself. The seed is that of kube-scheduler's choice among
// nodes of the same score and of the order in which it takes the pods of a wave; with 0 they come as they are
// listed. The fork of nil is nil.
func (l *Landing) Fork(seed uint64) *Landing {
	if l == nil {
		return nil
	}
	f := &Landing{model: l.model, run: l.run.Fork(seed), names: slices.Clip(l.names), launched: maps.Clone(l.launched), going: maps.Clone(l.going)}
	if seed > 0 {
		f.dice = rand.New(rand.NewPCG(seed, 0x77617665)) //nolint:gosec // a model of chance, not a secret
	}
	return f
}

// Take does what a step says, whatever kube-scheduler would do.
func (l *Landing) Take(step *Step) {
	l.join(step.Launches)
	for _, m := range step.Moves {
		l.leave(m.Pod, m.From)
		if n, ok := l.at(m.To); ok {
			l.run.Place(l.class(m.Pod), n)
		}
	}
	l.each(step.Drain, l.run.Leave)
}

// Play carries a step out wave by wave, and tells of its moves where the pods land. Nodes that are closed
// take none in. Pods that have no place when the last wave has left are tried once more when the nodes are gone.
func (l *Landing) Play(step *Step, closed []string) []Move {
	l.join(step.Launches)
	l.each(closed, l.run.Close)
	l.each(step.Drain, l.run.Close)
	out := slices.Clone(step.Moves)
	for first, last := 0, 0; first < len(out); first = last {
		for ; last < len(out) && out[last].Wave == out[first].Wave; last++ {
			l.leave(out[last].Pod, out[last].From)
			out[last].To = ""
		}
		l.bind(out[first:last])
		if last == len(out) {
			l.each(step.Drain, l.run.Leave)
			l.bind(out[first:last])
		}
	}
	return out
}

// Holds are the options of a launch that hold pods, given by name, which land on the first.
func (l *Landing) Holds(launch *scheduling.Launch, pods []string) []scheduling.Option {
	classes := make([]int32, len(pods))
	for i, pod := range pods {
		classes[i] = l.class(pod)
	}
	out := launch.Options[:1:1]
	for i := 1; i < len(launch.Options); i++ {
		if kind, ok := l.kind(launch, i); ok && l.scheduler.Holds(kind, classes) {
			out = append(out, launch.Options[i])
		}
	}
	return out
}

func (l *Landing) class(pod string) int32 { return int32(l.classes[pod]) } //nolint:gosec // classes are few

// at is the number of a node or a launch; ok is false where it is not there.
func (l *Landing) at(name string) (n int32, ok bool) {
	if n, ok = l.launched[name]; ok {
		return n, true
	}
	return l.scheduler.Node(name)
}

// each does something to the nodes of some names that are there.
func (l *Landing) each(names []string, do func(node int32)) {
	for _, name := range names {
		if n, ok := l.at(name); ok {
			do(n)
		}
	}
}

// leave takes a pod off its node.
func (l *Landing) leave(pod, node string) {
	if n, ok := l.at(node); ok {
		l.run.RemoveAs(l.class(pod), n, l.going[pod])
	}
	delete(l.going, pod)
}

// kind is the kind of node that an option of a launch becomes.
func (l *Landing) kind(launch *scheduling.Launch, option int) (int, bool) {
	one := *launch
	one.Options = launch.Options[option : option+1]
	p, ok := l.purchases.Purchase(&one)
	if !ok {
		return 0, false
	}
	return l.scheduler.Labelled(p, launch.Labels), true
}

// join adds the machines of launches.
func (l *Landing) join(launches []scheduling.Launch) {
	for i := range launches {
		if kind, ok := l.kind(&launches[i], 0); ok {
			l.launched[launches[i].Name] = int32(l.run.Join(kind)) //nolint:gosec // nodes are few
			l.names = append(l.names, launches[i].Name)
		}
	}
}

// bind lets kube-scheduler bind the pods of a wave that have no node, the most urgent first.
func (l *Landing) bind(wave []Move) {
	var waiting []*Move
	for i := range wave {
		if wave[i].To == "" {
			waiting = append(waiting, &wave[i])
		}
	}
	if len(waiting) == 0 {
		return
	}
	if l.dice != nil {
		l.dice.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
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
