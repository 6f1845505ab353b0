package disruption

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/offers"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// landing tells where evicted pods land where kube-scheduler binds them as it likes: it is the cluster as
// it stands, as the model of kube-scheduler sees it.
type landing struct {
	*landingModel
	run *binding.Run
	// names are those of all nodes by number, launches among them; launched are the numbers of these.
	names    []string
	launched map[string]int32
	// going are pods that are being deleted where they are.
	going map[string]bool
}

// landingModel is what all copies of a state share.
type landingModel struct {
	scheduler *binding.Scheduler
	priority  []int32        // by class
	classes   map[string]int // by pod
	purchases *compile.Launches
	kinds     map[boughtKind]int
}

// boughtKind is what a launch buys, with the labels that it gives it.
type boughtKind struct {
	offers.Purchase
	labels string
}

// newLanding reads a cluster. All pods that may be evicted, or are expected on a node, can land; the others are
// part of their nodes.
func newLanding(f *state) (*landing, error) {
	problem := *f.problem
	problem.Pods, problem.Running, problem.Nodes, problem.Nominated = nil, nil, nil, nil
	at, going := map[string]string{}, map[string]bool{}
	for _, s := range f.nodes {
		problem.Nodes = append(problem.Nodes, s.node)
		pods := s.expected
		if !s.going() {
			pods = slices.Concat(s.expected, s.movers)
		}
		for _, pod := range pods {
			name := podspec.PodName(pod)
			if _, known := at[name]; !known {
				at[name] = s.name
				if pod.DeletionTimestamp != nil {
					going[name] = true
				}
				problem.Pods = append(problem.Pods, unbound(pod))
			}
		}
	}
	for _, pod := range slices.Concat(f.cluster.Pods, f.cluster.Running) {
		if _, lands := at[podspec.PodName(pod)]; !lands && pod.Spec.NodeName != "" {
			problem.Running = append(problem.Running, pod)
		}
	}
	facts, err := compile.NewFacts(&problem, &f.planner.Policy)
	if err != nil {
		return nil, err
	}
	c := facts.Compile(false)
	m := &landingModel{scheduler: binding.New(c), classes: c.ClassByPod(), purchases: compile.NewLaunches(c), kinds: map[boughtKind]int{}}
	for _, class := range c.Planned {
		m.priority = append(m.priority, class.Priority)
	}
	l := &landing{landingModel: m, run: m.scheduler.Begin(0), names: m.scheduler.Names(), launched: map[string]int32{}, going: going}
	for _, pod := range slices.Sorted(maps.Keys(at)) {
		l.each([]string{at[pod]}, func(n int32) { l.run.PlaceAs(l.class(pod), n, going[pod]) })
	}
	return l, nil
}

// fork is the same cluster, to be changed by itself. The seed is that of kube-scheduler's choice among
// nodes of the same score. The fork of none is none.
func (l *landing) fork(seed uint64) *landing {
	if l == nil {
		return nil
	}
	return &landing{l.landingModel, l.run.Fork(seed), slices.Clip(l.names), maps.Clone(l.launched), maps.Clone(l.going)}
}

func (l *landing) class(pod string) int32 { return int32(l.classes[pod]) } //nolint:gosec // classes are few

// each does something to the nodes of some names that are there.
func (l *landing) each(names []string, do func(node int32)) {
	for _, name := range names {
		n, ok := l.launched[name]
		if !ok {
			n, ok = l.scheduler.Node(name)
		}
		if ok {
			do(n)
		}
	}
}

// leave takes a pod off its node.
func (l *landing) leave(pod, node string) {
	l.each([]string{node}, func(n int32) { l.run.RemoveAs(l.class(pod), n, l.going[pod]) })
	delete(l.going, pod)
}

// kind is the kind of node that an option of a launch becomes.
func (f *state) kind(launch *scheduling.Launch, option *scheduling.Option) (int, bool) {
	l, one := f.landing, *launch
	one.Options = []scheduling.Option{*option}
	p, ok := l.purchases.Purchase(&one)
	if !ok {
		return 0, false
	}
	key := boughtKind{p, fmt.Sprint(launch.Labels)}
	kind, known := l.kinds[key]
	if !known {
		node, err := f.nodeOf(&one)
		if err != nil {
			return 0, false
		}
		kind = l.scheduler.Machine(p, node.Labels)
		l.kinds[key] = kind
	}
	return kind, true
}

// join adds the machines of launches.
func (l *landing) join(f *state, launches []scheduling.Launch) {
	for i := range launches {
		x := &launches[i]
		if kind, ok := f.kind(x, &x.Options[0]); ok {
			l.launched[x.Name] = int32(l.run.Join(kind)) //nolint:gosec // nodes are few
			l.names = append(l.names, x.Name)
		}
	}
}

// take does what a step says. gone are its nodes.
func (l *landing) take(f *state, step *Step, gone []*candidate) {
	if l == nil {
		return
	}
	l.join(f, step.Launches)
	left := map[string]bool{}
	for _, e := range step.Evictions {
		left[e.Pod] = true
		l.leave(e.Pod, e.From)
		l.each([]string{e.To}, func(n int32) { l.run.Place(l.class(e.Pod), n) })
	}
	for _, s := range gone {
		for _, pod := range s.expected {
			if name := podspec.PodName(pod); !left[name] {
				l.leave(name, s.name)
			}
		}
	}
	l.each(step.Drain, l.run.Leave)
}

// play carries a step out wave by wave, and returns its evictions with the nodes where the pods land, "" for
// those that find no place. Nodes that are closed take none in.
func (l *landing) play(f *state, step *Step, closed []string) []Eviction {
	l.join(f, step.Launches)
	l.each(closed, l.run.Close)
	l.each(step.Drain, l.run.Close)
	out := slices.Clone(step.Evictions)
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

// bind lets kube-scheduler bind the pods of a wave that have no node, the most urgent first.
func (l *landing) bind(wave []Eviction) {
	var waiting []*Eviction
	for i := range wave {
		if wave[i].To == "" {
			waiting = append(waiting, &wave[i])
		}
	}
	if len(waiting) == 0 {
		return
	}
	slices.SortStableFunc(waiting, func(a, b *Eviction) int {
		return cmp.Compare(l.priority[l.class(b.Pod)], l.priority[l.class(a.Pod)])
	})
	queue, to := make([]int32, len(waiting)), make([]int32, len(waiting))
	for i, e := range waiting {
		queue[i], to[i] = l.class(e.Pod), -1
	}
	l.run.Bind(queue, to, nil)
	for i, e := range waiting {
		if to[i] >= 0 {
			e.To = l.names[to[i]]
		}
	}
}

// decide turns what would become of nodes into a step, or says why that must not be, as admit does;
// its pods land where kube-scheduler binds them. Those that find no place are tried once more as the
// first to leave. Nodes that are closed take none in.
func (f *state) decide(reason Reason, o *outcome, closed []string) (*Step, *Cause) {
	step, cause := f.admit(reason, o)
	if f.landing == nil || cause != nil || len(step.Evictions) == 0 {
		return step, cause
	}
	again := *o
	again.first = map[string]bool{}
	for {
		landed := f.landed(step, closed)
		var lost []string
		for _, e := range landed.evictions {
			if e.To == "" {
				lost = append(lost, e.Pod)
			}
		}
		if len(lost) == 0 || reason == Interrupted {
			landed.stuck, landed.first = o.stuck, again.first
			for i := range landed.launches {
				if l := &landed.launches[i]; !l.MinValuesRelaxed {
					if cause := f.flexible(l); cause != nil {
						return nil, cause
					}
				}
			}
			return f.admit(reason, landed)
		}
		before := len(again.first)
		for _, pod := range lost {
			again.first[pod] = true
		}
		if len(again.first) == before {
			cause := andMore(Cause{Code: CauseNoPlace, Object: "pod/" + lost[0], Detail: "kube-scheduler would bind the others so that it finds no place"}, len(lost))
			return nil, &cause
		}
		if step, cause = f.admit(reason, &again); cause != nil {
			return nil, cause
		}
	}
}

// landed is what becomes of the pods of a step when kube-scheduler binds them. Launches to which none
// come are not bought.
func (f *state) landed(step *Step, closed []string) *outcome {
	closed = f.closed(closed)
	for next := *step; ; {
		landed := f.landing.fork(0).play(f, &next, closed)
		come := map[string][]string{}
		for _, e := range landed {
			come[e.To] = append(come[e.To], e.Pod)
		}
		used := slices.DeleteFunc(slices.Clone(next.Launches), func(l scheduling.Launch) bool { return len(come[l.Name]) == 0 })
		if len(used) < len(next.Launches) {
			next.Launches = used
			continue
		}
		for i := range used {
			f.bring(&used[i], come[used[i].Name])
		}
		slices.SortFunc(landed, compareEvictions)
		return &outcome{nodes: step.Drain, launches: used, evictions: landed}
	}
}

// closed are nodes that take in nobody, with some more.
func (f *state) closed(more []string) []string {
	out := slices.Clone(more)
	for _, s := range f.nodes {
		if s.shut > 0 && !s.gone {
			out = append(out, s.name)
		}
	}
	return out
}

// bring says which pods come to a launch, and leaves it the options that hold them.
func (f *state) bring(launch *scheduling.Launch, pods []string) {
	slices.Sort(pods)
	launch.Requests = f.rebooked(launch.Requests, launch.Pods, pods)
	launch.Pods = pods
	classes, keys := make([]int32, len(pods)), map[string]bool{}
	for i, pod := range pods {
		classes[i] = f.landing.class(pod)
		f.readKeys(keys, pod)
	}
	launch.Options = keepOptions(f.alike(launch, keys), func(x *scheduling.Option) bool {
		kind, ok := f.kind(launch, x)
		return ok && f.landing.scheduler.Holds(kind, classes)
	})
}
