package bound

import (
	"cmp"
	"math"
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling/internal/fixed"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/knapsack"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/model"
)

// Market is the instance of a bound. Amounts of each resource are in whole base units, prices in nano-USD per
// hour; every vector of amounts has Dims entries. Functions of this package neither change nor keep it.
type Market struct {
	// Dims is the number of resources.
	Dims int
	// Classes are the pods that every plan must place.
	Classes []Class
	// Options are the machines that may be bought in any number.
	Options []Choice
	// Everything returns the options and the choices that an option dominates, which branches on counts need.
	// Nil means that there are only the options.
	Everything func() []Choice
	// Supplies are machines of limited number.
	Supplies []Supply
	// Spreads bound the numbers of pods by domain.
	Spreads []Spread
}

// Class is a number of equal pods.
type Class struct {
	Size  []int64
	Count int64
	// PerNode bounds the pods of the class on one machine; 0 for no bound.
	PerNode int64
	// Few says that the count of the class is so small that it limits the pods on a large machine.
	Few bool
}

// Choice is a machine with the classes that it admits, one bit each. The caller need not check that a class
// fits: the bound does.
type Choice struct {
	Cap   []int64
	Price int64
	Users model.Bits
	// Domain is the number of the machine's domain, from 1, if machines are counted by domain; 0 if not.
	Domain int
	// Use is the amount that the machine takes of its supply; 0 means 1.
	Use int64
}

// Supply is an amount of which each machine takes its use: existing nodes of one kind have one member of price 0, a
// reservation one for each shape that draws on it. The members together take at most Count.
type Supply struct {
	// Name is the reservation's ID; "" for existing nodes. Certificates state the surplus of supplies with a name.
	Name    string
	Count   int64
	Members []Choice
}

// Most returns the number of machines of a member that the supply suffices for, rounded up.
func (s *Supply) Most(member *Choice) int64 {
	use := max(member.Use, 1)
	return (s.Count + use - 1) / use
}

// unit returns the largest use of a member.
func (s *Supply) unit() int64 {
	unit := int64(1)
	for i := range s.Members {
		unit = max(unit, s.Members[i].Use)
	}
	return unit
}

// machine is a choice prepared for the proof: only classes that fit are users, and the capacity is cut to the
// total request of the users.
type machine struct {
	cap    []int64
	price  int64
	users  model.Bits
	supply int   // number of its supply, -1 for none
	use    int64 // the amount that it takes of its supply, at least 1
	domain int
}

// sound reports whether all numbers have the right signs and lengths.
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
			if m.Supplies[i].Count < 0 || m.Supplies[i].Members[j].Use < 0 || !fine(&m.Supplies[i].Members[j]) {
				return false
			}
		}
	}
	return m.soundSpreads()
}

// machines lists the choices that need a proof: those that no other one dominates and that admit some class.
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

// demand returns the total request of each class, one number for each resource, at most math.MaxInt64.
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
	x := machine{cap: make([]int64, m.Dims), price: c.Price, users: model.NewBits(len(m.Classes)), supply: supply, use: max(c.Use, 1), domain: c.Domain}
	c.Users.Each(func(i int) {
		class := &m.Classes[i]
		if class.Count == 0 || !fitsAlone(c.Cap, class.Size) {
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

// fitsAlone reports whether a pod fits on the empty machine. A capacity may be below 0 where the pod requests
// none.
func fitsAlone(room, size []int64) bool {
	for d, n := range size {
		if n > 0 && n > room[d] {
			return false
		}
	}
	return true
}

// undominated returns the numbers of the choices that no other one dominates, cheapest first. A choice
// dominates another with at most its users and room and at least its price and its use of the supply, because the proof
// for the better one holds for the worse.
func undominated(choices []Choice) []int {
	every := make([]int, len(choices))
	for i := range every {
		every[i] = i
	}
	return undominatedAmong(choices, every)
}

// undominatedAmong is undominated among the choices with the given numbers. It sorts order.
func undominatedAmong(choices []Choice, order []int) []int {
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(choices[a].Price, choices[b].Price), -slices.Compare(choices[a].Cap, choices[b].Cap), cmp.Compare(a, b))
	})
	var kept, recent []int
	for _, i := range order {
		at := slices.IndexFunc(recent, func(j int) bool {
			return choices[j].Use <= choices[i].Use && model.Fits(choices[j].Cap, choices[i].Cap) && choices[j].Users.Contains(choices[i].Users)
		})
		if at < 0 {
			kept = append(kept, i)
			recent = append(recent, i)
			continue
		}
		// A choice that dominated once is likely to do so again, so it moves halfway to the front.
		recent[at], recent[at/2] = recent[at/2], recent[at]
	}
	return kept
}

// mostPods returns k_c, the largest number of pods of a class on one machine, exactly, because the proof in
// whole numbers relies on it.
func (m *Market) mostPods(x *machine, c int) int64 {
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

// knapsack returns the integer knapsack of a machine with the classes that it admits.
func (m *Market) knapsack(x *machine) *knapsack.Knapsack {
	classes := make([]knapsack.Class, 0, x.users.Count())
	x.users.Each(func(c int) {
		classes = append(classes, knapsack.Class{Number: c, Size: m.Classes[c].Size, Most: m.mostPods(x, c)})
	})
	return knapsack.New(x.cap, classes)
}
