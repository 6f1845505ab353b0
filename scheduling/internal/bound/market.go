package bound

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Market is what an assignment bound is computed for: unlike an [Input] it knows
// which pods may use which machine. Units are those of Input; every vector has Dims
// entries. Nothing is changed, nothing is kept.
type Market struct {
	// Dims is the number of resources.
	Dims int
	// Classes are the pods that every plan in question places.
	Classes []Class
	// Options may be bought in any number.
	Options []Choice
	// Everything returns all that may be bought in any number, with what is no better than one
	// of the options and no cheaper. Nil for only the options.
	Everything func() []Choice
	// Supplies are machines of which there are only so many.
	Supplies []Supply
	// Spreads are pods of which only so many may be in each of some domains.
	Spreads []Spread
}

// Class is a number of equal pods.
type Class struct {
	Size  []int64
	Count int64
	// PerNode bounds how many of them share a machine; 0 is no bound.
	PerNode int64
	// Few says that it may matter on large machines that there are no more of them.
	Few bool
}

// Choice is a machine with the classes that are let onto it, one bit each. Classes
// that are let in and do not fit are told apart here, not by the caller.
type Choice struct {
	Cap   []int64
	Price int64
	Users model.Bits
	// Domain is where it is, from 1, if machines are counted by domain; 0 if not.
	Domain int
}

// Supply is Count machines, each of which can be any one of the members: a running
// node has one member of price 0, a reservation one for each shape that draws on it.
type Supply struct {
	Count   int64
	Members []Choice
}

// machine is a choice, ready for the proof: only classes that fit are users, and the
// capacity is cut to what all users request together.
type machine struct {
	cap    []int64
	price  int64
	users  model.Bits
	supply int // number of its supply, -1 for none
	domain int
}

// sound reports whether every number is one that the proof can handle.
func (m *Market) sound() bool {
	if m.Dims <= 0 {
		return false
	}
	words := len(model.NewBits(len(m.Classes)))
	for i := range m.Classes {
		c := &m.Classes[i]
		if len(c.Size) != m.Dims || c.Count < 0 || c.PerNode < 0 || slices.Min(c.Size) < 0 {
			return false
		}
	}
	fine := func(c *Choice) bool { return len(c.Cap) == m.Dims && c.Price >= 0 && len(c.Users) == words }
	for i := range m.Options {
		if !fine(&m.Options[i]) {
			return false
		}
	}
	for i := range m.Supplies {
		for j := range m.Supplies[i].Members {
			if m.Supplies[i].Count < 0 || !fine(&m.Supplies[i].Members[j]) {
				return false
			}
		}
	}
	return m.soundSpreads()
}

// machines lists what the proof has to look at: of options that others make
// pointless none, of the rest those that somebody can use.
func (m *Market) machines() []machine {
	demand := m.demand()
	var out []machine
	for _, i := range undominated(m.Options) {
		if x, ok := m.machine(&m.Options[i], -1, demand); ok {
			out = append(out, x)
		}
	}
	for s := range m.Supplies {
		if m.Supplies[s].Count == 0 {
			continue
		}
		members := m.Supplies[s].Members
		for _, i := range undominated(members) {
			if x, ok := m.machine(&members[i], s, demand); ok {
				out = append(out, x)
			}
		}
	}
	return out
}

// demand is what the pods of each class ask for together, one number for each resource.
func (m *Market) demand() []int64 {
	demand := make([]int64, len(m.Classes)*m.Dims)
	for c := range m.Classes {
		for d, n := range m.Classes[c].Size {
			demand[c*m.Dims+d] = fixed.Product(n, m.Classes[c].Count)
		}
	}
	return demand
}

func (m *Market) machine(c *Choice, supply int, demand []int64) (machine, bool) {
	x := machine{cap: make([]int64, m.Dims), price: c.Price, users: model.NewBits(len(m.Classes)), supply: supply, domain: c.Domain}
	c.Users.Each(func(i int) {
		class := &m.Classes[i]
		if class.Count == 0 || !roomy(c.Cap, class.Size) {
			return
		}
		x.users.Set(i)
		for d, n := range demand[i*m.Dims : (i+1)*m.Dims] {
			if x.cap[d] += n; x.cap[d] < 0 {
				x.cap[d] = math.MaxInt64
			}
		}
	})
	for d := range x.cap {
		x.cap[d] = max(0, min(x.cap[d], c.Cap[d]))
	}
	return x, x.users.Any()
}

// roomy reports whether the size fits. What is not asked for cannot be short.
func roomy(room, size []int64) bool {
	for d, n := range size {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}

// undominated returns the numbers of the choices to which no other one is at least
// equal in room, users and price, cheapest first. Whatever proves something about
// the better one proves it about the worse.
func undominated(choices []Choice) []int {
	every := make([]int, len(choices))
	for i := range every {
		every[i] = i
	}
	return undominatedAmong(choices, every)
}

// undominatedAmong is undominated among the choices of some numbers, which it sorts.
func undominatedAmong(choices []Choice, order []int) []int {
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(choices[a].Price, choices[b].Price), -slices.Compare(choices[a].Cap, choices[b].Cap), cmp.Compare(a, b))
	})
	var kept, recent []int
	for _, i := range order {
		at := slices.IndexFunc(recent, func(j int) bool {
			return model.Fits(choices[j].Cap, choices[i].Cap) && choices[j].Users.Contains(choices[i].Users)
		})
		if at < 0 {
			kept = append(kept, i)
			recent = append(recent, i)
			continue
		}
		// What dominated once is likely to do so again: it moves halfway up.
		recent[at], recent[at/2] = recent[at/2], recent[at]
	}
	return kept
}

// alone is how many pods of a class one machine holds at most. It is exact, since
// the proof rests on it.
func (m *Market) alone(x *machine, c int) int64 {
	class := &m.Classes[c]
	k := class.Count
	if class.PerNode > 0 {
		k = min(k, class.PerNode)
	}
	for d, n := range class.Size {
		if n > 0 {
			k = min(k, x.cap[d]/n)
		}
	}
	return k
}

// knapsack is the machine with the classes that may be on it.
func (m *Market) knapsack(x *machine) *knapsack.Knapsack {
	classes := make([]knapsack.Class, 0, x.users.Count())
	x.users.Each(func(c int) {
		classes = append(classes, knapsack.Class{Number: c, Size: m.Classes[c].Size, Most: m.alone(x, c)})
	})
	return knapsack.New(x.cap, classes)
}
