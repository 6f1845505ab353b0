package pricelists

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// Comparison is how two catalogs price the same machines.
type Comparison struct {
	// Rows are a table with its head, the cheapest machines first: the machine, and for each capacity type that both
	// catalogs sell, its lowest price in each and the difference in percent.
	Rows [][]string
	// Notes sum it up, one sentence for each capacity type.
	Notes []string
}

// machine is a row of a comparison, with the cheapest type of each catalog by capacity type.
type machine struct {
	cores, memory int64
	names         []string
	cheapest      [2]map[offerings.CapacityType]sale
}

// sale is a type at a price.
type sale struct {
	name  string
	price offerings.Price
}

// Compare compares the lowest prices of a and b, by instance type. Catalogs without a common instance type, e.g. of two
// clouds, are compared by machine: equal cores, memory per core, architecture and devices.
func Compare(a, b *instancetypes.Catalog) Comparison {
	key, head := byName, []string{"INSTANCE TYPE"}
	if !slices.ContainsFunc(slices.Collect(a.All()), func(t *instancetypes.InstanceType) bool { _, ok := b.Get(t.Name); return ok }) {
		key, head = byShape, []string{"SHAPE", "CHEAPEST OF A", "CHEAPEST OF B"}
	}
	machines := map[string]*machine{}
	for side, c := range []*instancetypes.Catalog{a, b} {
		for t := range c.All() {
			k := key(t)
			m := machines[k]
			if m == nil {
				cpu := t.Capacity[corev1.ResourceCPU]
				m = &machine{cores: cpu.Value(), memory: perCore(t), names: []string{k}, cheapest: [2]map[offerings.CapacityType]sale{{}, {}}}
				machines[k] = m
			}
			for _, o := range t.Offerings {
				known, ok := m.cheapest[side][o.CapacityType]
				if o.Launchable() && (!ok || o.Price < known.price || o.Price == known.price && t.Name < known.name) {
					m.cheapest[side][o.CapacityType] = sale{t.Name, o.Price}
				}
			}
		}
	}
	list := lo.Values(machines)
	slices.SortFunc(list, func(x, y *machine) int {
		return cmp.Or(cmp.Compare(x.cores, y.cores), cmp.Compare(x.memory, y.memory), strings.Compare(x.names[0], y.names[0]))
	})
	paid := capacityTypes(a, b)
	shared := lo.Filter(list, func(m *machine, _ int) bool {
		return slices.ContainsFunc(paid, func(ct offerings.CapacityType) bool { _, _, ok := m.both(ct); return ok })
	})
	out := Comparison{Rows: [][]string{head}}
	for _, m := range shared {
		if len(head) > 1 {
			m.names = append(m.names, m.first(0, paid), m.first(1, paid))
		}
		out.Rows = append(out.Rows, m.names)
	}
	for _, ct := range paid {
		out.add(ct, strings.ToLower(head[0]), list, shared)
	}
	return out
}

// capacityTypes are the capacity types of catalogs: on-demand, spot, reserved, then types of one's own by name.
func capacityTypes(catalogs ...*instancetypes.Catalog) []offerings.CapacityType {
	seen := map[offerings.CapacityType]bool{}
	for _, c := range catalogs {
		for t := range c.All() {
			for i := range t.Offerings {
				seen[t.Offerings[i].CapacityType] = true
			}
		}
	}
	known := []offerings.CapacityType{offerings.OnDemand, offerings.Spot, offerings.Reserved}
	own := lo.Without(slices.Sorted(maps.Keys(seen)), known...)
	return append(lo.Filter(known, func(ct offerings.CapacityType, _ int) bool { return seen[ct] }), own...)
}

// both are the prices of a machine in both catalogs, if both sell it.
func (m *machine) both(ct offerings.CapacityType) (a, b offerings.Price, ok bool) {
	x, inA := m.cheapest[0][ct]
	y, inB := m.cheapest[1][ct]
	return x.price, y.price, inA && inB
}

// first is the cheapest type of one catalog, of the first capacity type that is sold.
func (m *machine) first(side int, paid []offerings.CapacityType) string {
	for _, ct := range paid {
		if s, ok := m.cheapest[side][ct]; ok {
			return s.name
		}
	}
	return "-"
}

// add adds the columns of a capacity type, and a note that sums them up; kind is the noun for a row.
func (c *Comparison) add(ct offerings.CapacityType, kind string, list, shared []*machine) {
	var ratios []float64
	var only [2]int
	for _, m := range list {
		a, b, ok := m.both(ct)
		_, inA := m.cheapest[0][ct]
		_, inB := m.cheapest[1][ct]
		switch {
		case ok && a > 0:
			ratios = append(ratios, b.USD()/a.USD())
		case inA && !inB:
			only[0]++
		case inB && !inA:
			only[1]++
		}
	}
	if len(ratios) == 0 {
		if only != [2]int{} {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: none in both; %d only in A, %d only in B.", ct, only[0], only[1]))
		}
		return
	}
	name := strings.ToUpper(string(ct))
	c.Rows[0] = append(c.Rows[0], name+" A", name+" B", "B TO A")
	for i, m := range shared {
		row := []string{"-", "-", "-"}
		if a, b, ok := m.both(ct); ok {
			row = []string{figures.USD(a), figures.USD(b), change(b.USD() / a.USD())}
		}
		c.Rows[i+1] = append(c.Rows[i+1], row...)
	}
	slices.Sort(ratios)
	cheaper := lo.CountBy(ratios, func(r float64) bool { return r < 1 })
	equal := lo.CountBy(ratios, func(r float64) bool { return r == 1 })
	c.Notes = append(c.Notes, fmt.Sprintf("%s: %s in both; B is cheaper for %d and equal for %d, %s in the median (%s to %s); %d only in A, %d only in B.",
		ct, figures.Count(len(ratios), kind), cheaper, equal, change(ratios[len(ratios)/2]), change(ratios[0]), change(ratios[len(ratios)-1]), only[0], only[1]))
}

// change writes a ratio of prices as a difference in percent.
func change(ratio float64) string {
	if ratio == 1 {
		return "0%"
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

func byName(t *instancetypes.InstanceType) string { return t.Name }

// byShape describes the machine of a type, without the type's name.
func byShape(t *instancetypes.InstanceType) string {
	cpu := t.Capacity[corev1.ResourceCPU]
	parts := []string{figures.Count(cpu.Value(), "core"), figures.Decimal(float64(cpu.Value()*perCore(t))/2) + " GiB", t.Labels[corev1.LabelArchStable]}
	for name, q := range t.Capacity {
		if domain, _, found := strings.Cut(string(name), "/"); found && domain != "vpc.amazonaws.com" && !q.IsZero() {
			parts = append(parts, fmt.Sprintf("%s %d", name, q.Value()))
		}
	}
	slices.Sort(parts[3:])
	return strings.Join(parts, ", ")
}

// perCore is the memory of a machine for each core, in units of half a GiB. Nodes report some 7 % less memory than
// clouds advertise.
func perCore(t *instancetypes.InstanceType) int64 {
	cpu, memory := t.Capacity[corev1.ResourceCPU], t.Capacity[corev1.ResourceMemory]
	return max(int64(math.Round(memory.AsApproximateFloat64()/(1<<29)/0.927/cpu.AsApproximateFloat64())), 1)
}
