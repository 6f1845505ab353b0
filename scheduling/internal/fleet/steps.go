package fleet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/compile"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// Step is nodes to empty once machines have been bought.
type Step struct {
	Launches []scheduling.Launch
	Drain    []string
	// Waves are the pods that leave, each wave once the one before runs again.
	Waves [][]Eviction
}

// Eviction is a pod that leaves, as namespace/name, and the node or launch where it is expected.
type Eviction struct{ Pod, To string }

// Played is what comes of steps where kube-scheduler binds the evicted pods as it likes.
type Played struct {
	// Elsewhere are how many evictions end on other nodes than expected, and Waiting how many find
	// no place at once.
	Elsewhere, Waiting int
	// Left are the pods that have none in the end.
	Left []*corev1.Pod
}

// Play carries steps out one by one. c is compiled for the cluster without the pods that the
// steps move, which are those to be placed; from says on which node each of them, as
// namespace/name, runs. ok is false where steps buy what is not on sale or name nodes or pods
// that are not there.
func Play(c *compile.Compiler, from map[string]string, steps []Step) (out Played, ok bool) {
	p := &player{scheduler: binding.New(c), classOf: c.ClassByPod(), at: map[string]int32{}, nodes: map[string]int32{}}
	launches, machines := compile.NewLaunches(c), map[string]int{}
	for i := range steps {
		for k := range steps[i].Launches {
			l := &steps[i].Launches[k]
			at, ok := launches.Purchase(l)
			if !ok {
				return out, false
			}
			machines[l.Name] = p.scheduler.Machine(at)
		}
	}
	for _, class := range c.Planned {
		for _, pod := range class.Pods {
			p.names = append(p.names, podspec.PodName(pod))
		}
	}
	p.run = p.scheduler.Begin(0)
	for pod, name := range from {
		node, there := p.scheduler.Node(name)
		class, known := p.classOf[pod]
		if !there || !known {
			return out, false
		}
		p.nodes[name] = node
		p.run.Place(int32(class), node)
		p.at[pod] = node
	}
	for i := range steps {
		p.step(&steps[i], machines, &out)
	}
	for _, class := range c.Planned {
		for _, pod := range class.Pods {
			if p.at[podspec.PodName(pod)] < 0 {
				out.Left = append(out.Left, pod)
			}
		}
	}
	return out, true
}

// player is a cluster whose nodes are emptied one after the other.
type player struct {
	scheduler *binding.Scheduler
	run       *binding.Run
	names     []string // of the pods, in the order of their classes
	classOf   map[string]int
	at        map[string]int32 // by pod, its node; -1 where it waits for one
	nodes     map[string]int32 // by name, launches among them
	waiting   []string         // in the order in which they began to wait
}

func (p *player) node(name string) (int32, bool) {
	if n, ok := p.nodes[name]; ok {
		return n, true
	}
	return p.scheduler.Node(name)
}

// step carries a step out: pods that have landed on its nodes since leave with those that it names.
func (p *player) step(s *Step, machines map[string]int, out *Played) {
	for i := range s.Launches {
		name := s.Launches[i].Name
		p.nodes[name] = int32(p.run.Join(machines[name]))
	}
	p.bind()
	going := map[int32]bool{}
	for _, name := range s.Drain {
		if n, ok := p.node(name); ok {
			going[n] = true
			p.run.Close(n)
		}
	}
	named := map[string]bool{}
	for _, wave := range s.Waves {
		var left []Eviction
		for _, e := range wave {
			named[e.Pod] = true
			// One that has landed elsewhere meanwhile need not leave.
			if n := p.at[e.Pod]; n >= 0 && (len(going) == 0 || going[n]) {
				p.evict(e.Pod)
				left = append(left, e)
			}
		}
		p.bind()
		for _, e := range left {
			switch to, known := p.node(e.To); {
			case p.at[e.Pod] < 0:
				out.Waiting++
			case !known || p.at[e.Pod] != to:
				out.Elsewhere++
			}
		}
	}
	for _, pod := range p.names {
		if n := p.at[pod]; !named[pod] && n >= 0 && going[n] {
			p.evict(pod)
			out.Elsewhere++
		}
	}
	for n := range going {
		p.run.Leave(n)
	}
	p.bind()
}

func (p *player) evict(pod string) {
	p.run.Remove(int32(p.classOf[pod]), p.at[pod])
	p.at[pod] = -1
	p.waiting = append(p.waiting, pod)
}

// bind has kube-scheduler try the pods that wait.
func (p *player) bind() {
	if len(p.waiting) == 0 {
		return
	}
	queue, to := make([]int32, len(p.waiting)), make([]int32, len(p.waiting))
	for i, pod := range p.waiting {
		queue[i], to[i] = int32(p.classOf[pod]), -1
	}
	p.run.Bind(queue, to, nil)
	left := p.waiting[:0]
	for i, pod := range p.waiting {
		if p.at[pod] = to[i]; to[i] < 0 {
			left = append(left, pod)
		}
	}
	p.waiting = left
}
