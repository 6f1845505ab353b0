package disruption

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// net works out which steps lead at once to where a row of moves leads. A node that one
// move buys and a later one removes is never bought: both moves become one. A pod that
// moves twice goes at once to where it ends. Steps come in the order of the moves.
//
// exact is how many of the steps, from the first, are the moves as they were.
func net(moves []*Step, rebooked booking) (steps []*Step, exact int) {
	n := newNetting(moves, rebooked)
	for i, m := range moves {
		for j := range m.Launches {
			n.born[m.Launches[j].Name] = i
		}
		for _, name := range m.Drain {
			if at, ok := n.born[name]; ok {
				n.join(at, i)
				n.dead[name] = true
			}
		}
		for _, e := range m.Evictions {
			if first, ok := n.origin[e.Pod]; !ok || first == "" {
				n.origin[e.Pod] = e.From
			}
			n.final[e.Pod] = e.To
		}
	}
	n.joinRings()
	n.joinIdle()
	steps = n.steps()
	for exact < min(len(steps), len(moves)) && same(steps[exact], moves[exact]) {
		exact++
	}
	return steps, exact
}

// same reports whether a step is a move as it was.
func same(step, move *Step) bool {
	return slices.Equal(step.Drain, move.Drain) && len(step.Launches) == len(move.Launches) && slices.Equal(byPod(step.Evictions), byPod(move.Evictions)) &&
		!slices.ContainsFunc(step.Launches, func(l scheduling.Launch) bool {
			i := slices.IndexFunc(move.Launches, func(m scheduling.Launch) bool { return m.Name == l.Name })
			return i < 0 || !slices.Equal(l.Pods, move.Launches[i].Pods)
		})
}

// byPod are evictions in the order of pods, without waves.
func byPod(evictions []Eviction) []Eviction {
	out := slices.Clone(evictions)
	for i := range out {
		out[i].Wave = 0
	}
	slices.SortFunc(out, func(a, b Eviction) int { return strings.Compare(a.Pod, b.Pod) })
	return out
}

// netting is what is known of moves that become steps.
type netting struct {
	moves []*Step
	// parent leads from each move to the one that stands for all that are one with it.
	parent []int
	born   map[string]int  // by launch, its move
	dead   map[string]bool // launches that do not last
	// origin and final are the nodes of pods at first and in the end.
	origin, final map[string]string
	home          map[string]int // by node of the cluster that goes, the move that drains it
	rebooked      booking
}

// booking is what a launch is asked for when other pods land there than before.
type booking func(requests corev1.ResourceList, before, after []string) corev1.ResourceList

func newNetting(moves []*Step, rebooked booking) *netting {
	n := &netting{
		moves: moves, rebooked: rebooked, parent: make([]int, len(moves)), born: map[string]int{}, dead: map[string]bool{},
		origin: map[string]string{}, final: map[string]string{}, home: map[string]int{},
	}
	for i, m := range moves {
		n.parent[i] = i
		for _, name := range m.Drain {
			n.home[name] = i
		}
	}
	return n
}

func (n *netting) root(i int) int {
	for n.parent[i] != i {
		n.parent[i] = n.parent[n.parent[i]]
		i = n.parent[i]
	}
	return i
}

// join makes two moves one; the earlier stands for both.
func (n *netting) join(a, b int) {
	a, b = n.root(a), n.root(b)
	n.parent[max(a, b)] = min(a, b)
}

// needs lists, by move that stands for others, those whose launches its pods land on.
func (n *netting) needs() map[int][]int {
	out := map[int]map[int]bool{}
	for pod, to := range n.final {
		from, ok := n.home[n.origin[pod]]
		at, bought := n.born[to]
		if !ok || !bought {
			continue
		}
		if a, b := n.root(from), n.root(at); a != b {
			if out[a] == nil {
				out[a] = map[int]bool{}
			}
			out[a][b] = true
		}
	}
	sorted := map[int][]int{}
	for a, list := range out {
		sorted[a] = slices.Sorted(maps.Keys(list))
	}
	return sorted
}

// joinRings makes those moves one of which each needs the others' launches.
func (n *netting) joinRings() {
	for {
		needs := n.needs()
		ring := findRing(needs)
		if len(ring) == 0 {
			return
		}
		for _, i := range ring[1:] {
			n.join(ring[0], i)
		}
	}
}

// joinIdle makes a move that buys a machine for none of its own pods one with the first of
// those whose pods go there, and drops machines where nobody goes.
func (n *netting) joinIdle() {
	for again := true; again; {
		again = false
		users := map[string]map[int]bool{}
		for pod, to := range n.final {
			if _, bought := n.born[to]; bought {
				if users[to] == nil {
					users[to] = map[int]bool{}
				}
				users[to][n.root(n.home[n.origin[pod]])] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(n.born)) {
			owner := n.root(n.born[name])
			switch {
			case n.dead[name] || users[name][owner]:
			case len(users[name]) == 0:
				n.dead[name] = true
			default:
				n.join(owner, slices.Min(slices.Collect(maps.Keys(users[name]))))
				again = true
			}
			if again {
				break
			}
		}
		if again {
			n.joinRings()
		}
	}
}

// findRing returns numbers that lead to each other in a circle, or nothing.
func findRing(needs map[int][]int) []int {
	const open, done = 1, 2
	seen := map[int]int{}
	var path []int
	var visit func(i int) []int
	visit = func(i int) []int {
		seen[i] = open
		path = append(path, i)
		for _, next := range needs[i] {
			switch seen[next] {
			case open:
				return slices.Clone(path[slices.Index(path, next):])
			case 0:
				if ring := visit(next); ring != nil {
					return ring
				}
			}
		}
		seen[i] = done
		path = path[:len(path)-1]
		return nil
	}
	for _, i := range slices.Sorted(maps.Keys(needs)) {
		if seen[i] == 0 {
			if ring := visit(i); ring != nil {
				return ring
			}
		}
	}
	return nil
}

// steps writes down what is left of the moves, without what admission works out.
func (n *netting) steps() []*Step {
	at := map[int]*Step{}
	var out []*Step
	for i, m := range n.moves {
		r := n.root(i)
		s := at[r]
		if s == nil {
			s = &Step{Reason: m.Reason}
			at[r] = s
			out = append(out, s)
		}
		for _, name := range m.Drain {
			if _, bought := n.born[name]; !bought {
				s.Drain = append(s.Drain, name)
			}
		}
		for j := range m.Launches {
			if !n.dead[m.Launches[j].Name] {
				s.Launches = append(s.Launches, m.Launches[j])
			}
		}
	}
	for _, pod := range slices.Sorted(maps.Keys(n.final)) {
		s := at[n.root(n.home[n.origin[pod]])]
		s.Evictions = append(s.Evictions, Eviction{Pod: pod, From: n.origin[pod], To: n.final[pod]})
	}
	for _, s := range out {
		s.load(n.rebooked)
	}
	return out
}

// load gives the launches of a step the pods that its evictions bring.
func (s *Step) load(rebooked booking) {
	slices.Sort(s.Drain)
	bring := arrivals(s.Evictions)
	for i := range s.Launches {
		s.Launches[i] = trimmed(&s.Launches[i], bring[s.Launches[i].Name], rebooked)
	}
}

// arrivals are evictions by where they lead.
func arrivals(evictions []Eviction) map[string][]Eviction {
	out := map[string][]Eviction{}
	for _, e := range evictions {
		out[e.To] = append(out[e.To], e)
	}
	return out
}

// trimmed is a launch with the pods that the step's evictions bring. If those are not the ones
// that it was bought for, it is only sure of its first option that it holds them.
func trimmed(l *scheduling.Launch, evictions []Eviction, rebooked booking) scheduling.Launch {
	out := *l
	out.Pods = nil
	for _, e := range evictions {
		if e.To == l.Name {
			out.Pods = append(out.Pods, e.Pod)
		}
	}
	slices.Sort(out.Pods)
	out.Requests = rebooked(l.Requests, l.Pods, out.Pods)
	if !subset(out.Pods, l.Pods) {
		out.Options = out.Options[:1]
	}
	return out
}

// subset reports whether all of a sorted list are in another sorted one.
func subset(some, all []string) bool {
	for _, x := range some {
		if _, ok := slices.BinarySearch(all, x); !ok {
			return false
		}
	}
	return true
}

// bySaving orders steps by what they save for what they disrupt, the best first.
func bySaving(a, b *Step) int {
	return cmp.Or(cmp.Compare(ratio(b.SavingPerHour, b.DisruptionCost), ratio(a.SavingPerHour, a.DisruptionCost)), cmp.Compare(len(a.Drain), len(b.Drain)), strings.Compare(first(a.Drain), first(b.Drain)))
}

func first(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
