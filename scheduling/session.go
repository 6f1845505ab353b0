package scheduling

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Session holds a problem from one plan to the next: changes are handed in as they
// happen, and a plan takes what has changed since, not what is there. Its plans are
// those that [Planner.Plan] would make of the same problem, byte for byte.
//
// A Session is not safe for concurrent use. Several forks may be used at the same time,
// each by one goroutine.
//
// The session keeps the objects that it is given, and copies none of them: the caller
// must not change them any more.
type Session struct {
	solver Policy
	// problem is what there is besides pods and nodes, every list sorted by name.
	problem Problem
	running *podTable
	waiting waiting
	cluster *cluster
	memory  *memory
}

// NewSession starts a session with a problem, to be solved by a solver like s. It
// refuses what [Problem.Validate] refuses, but leaves it to Solve to say that nothing is
// on sale for any pod, as that may change. Pods among p.Pods that have a node count as
// running.
func NewSession(s Policy, p Problem) (*Session, error) {
	c := newChecker()
	c.list = s.faults()
	c.allPods(&p, nil)
	c.objects(&p)
	c.poolCatalogs(&p)
	if err := c.err(); err != nil {
		return nil, err
	}
	return newSession(s, p, newMemory()), nil
}

// newSession starts a session with a problem without faults.
func newSession(s Policy, p Problem, m *memory) *Session {
	x := &Session{solver: s, memory: m}
	pods, running := []*corev1.Pod{}, p.Running[:len(p.Running):len(p.Running)]
	for _, pod := range p.Pods {
		if pod.Spec.NodeName != "" {
			running = append(running, pod)
		} else {
			pods = append(pods, pod)
		}
	}
	x.running = newPodTable(len(running))
	for _, pod := range running {
		x.running.put(pod, pod.Spec.NodeName)
	}
	x.problem = sortedProblem(p)
	x.waiting = newWaiting(&s, &x.problem, pods)
	x.problem.Running = running
	x.cluster = newCluster(&x.problem)
	x.problem.Running = nil
	return x
}

// podKey names a pod.
func podKey(pod *corev1.Pod) objectKey { return objectKey{namespaceOf(pod), pod.Name} }

// Plan plans as [Planner.Plan] does for what the session holds.
func (x *Session) Plan(ctx context.Context) (*Plan, error) {
	facts, err := x.facts()
	if err != nil {
		return nil, err
	}
	return facts.solve(ctx)
}

// facts is what the session knows, ready to be compiled.
func (x *Session) facts() (*facts, error) {
	problem := x.problem
	problem.Pods = x.waiting.pods
	c := newChecker()
	if c.choice(&problem); len(c.list) > 0 {
		return nil, c.err()
	}
	return &facts{
		problem: &problem, solver: &x.solver, readings: x.waiting.readings(), cluster: x.cluster, spaces: x.running.spaces, memory: x.memory,
	}, nil
}

// Explain returns an [Explainer] for a plan of what the session holds.
func (x *Session) Explain(plan *Plan) (*Explainer, error) {
	return Planner{Policy: x.solver}.Explain(x.Problem(), plan)
}

// Problem is what the session holds, with every list in the order of names. The lists
// are the caller's, the objects the session's, but for copies of pods that have moved.
func (x *Session) Problem() Problem {
	p := x.problem.cloned()
	p.Pods = slices.Clone(x.waiting.pods)
	p.Running = make([]*corev1.Pod, 0, x.running.count)
	for pod, node := range x.running.all() {
		if pod.Spec.NodeName != node {
			moved := *pod
			moved.Spec.NodeName = node
			pod = &moved
		}
		p.Running = append(p.Running, pod)
	}
	slices.SortFunc(p.Running, comparePods)
	return p
}

// Fork returns a session that holds the same and goes its own way from here: what
// happens to one of them does not show in the other. It costs little, however much the
// session holds. The record of unavailable offerings is shared until a Delta brings
// another.
func (x *Session) Fork() *Session {
	return &Session{
		solver: x.solver, problem: x.problem, running: x.running.fork(), waiting: x.waiting.fork(),
		cluster: x.cluster.fork(), memory: x.memory.fork(),
	}
}
