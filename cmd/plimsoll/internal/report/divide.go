package report

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Costs divide the price of the cluster. Overhead and the rows of any one breakdown add up to the whole,
// to the cent.
type Costs struct {
	// Overhead is the part that no pod requests: DaemonSets, the system's reservation, costs of nodes beside
	// their nodes, and idle resources, in this order.
	Overhead []Row `json:"overhead"`
	// Breakdowns each divide the rest among pods.
	Breakdowns []Breakdown `json:"breakdowns"`
	// NodeBreakdowns each divide the whole, overhead included, by a property of nodes.
	NodeBreakdowns []Breakdown `json:"nodeBreakdowns"`
}

// Breakdown divides the price of pods or nodes by one property.
type Breakdown struct {
	// By is namespace, workload, or a label's key, and of nodes NodePool or instance type.
	By string `json:"by"`
	// Rows are the amounts, the highest first.
	Rows []Row `json:"rows"`
}

// Row is an amount in cents per month, today and after all steps.
type Row struct {
	// Name is that of a namespace, workload, NodePool or instance type, or the value of a label, "" for pods without it.
	Name string `json:"name"`
	// Today and After are the amounts.
	Today int64 `json:"today"`
	After int64 `json:"after"`
}

// The names of overhead.
const (
	daemons = "DaemonSets"
	system  = "system"
	beside  = "node overhead"
	idle    = "idle"
)

// amounts are prices by name, today and after the steps.
type amounts map[string]*[2]offerings.Price

func (a amounts) add(name string, when int, price offerings.Price) {
	if a[name] == nil {
		a[name] = &[2]offerings.Price{}
	}
	a[name][when] += price
}

// rows divide cents among the amounts, the highest first.
func (a amounts) rows(cents [2]int64) []Row {
	rows := make([]Row, 0, len(a))
	for name := range a {
		rows = append(rows, Row{Name: name})
	}
	slices.SortFunc(rows, func(x, y Row) int {
		p, q := a[x.Name], a[y.Name]
		return cmp.Or(cmp.Compare(q[0], p[0]), cmp.Compare(q[1], p[1]), strings.Compare(x.Name, y.Name))
	})
	for when := range cents {
		prices := make([]offerings.Price, len(rows))
		for i := range rows {
			prices[i] = a[rows[i].Name][when]
		}
		for i, part := range costs.Cents(cents[when], prices) {
			*[]*int64{&rows[i].Today, &rows[i].After}[when] = part
		}
	}
	return rows
}

// divide adds up the shares of pods and overhead in the price of nodes, today and after all steps. cents is the price
// of all nodes, in cents per month, today and then.
func divide(in *Input, machines []*costs.Machine, cents [2]int64) Costs {
	type breakdown struct {
		by   string
		name func(*corev1.Pod) string
		sums amounts
	}
	breakdowns := []breakdown{
		{"namespace", func(p *corev1.Pod) string { return cmp.Or(p.Namespace, "default") }, amounts{}},
		{"workload", func(p *corev1.Pod) string { return in.Workload(scheduling.PodName(p)) }, amounts{}},
	}
	for _, key := range labelsOf(in) {
		breakdowns = append(breakdowns, breakdown{key, func(p *corev1.Pod) string { return p.Labels[key] }, amounts{}})
	}
	pools, types := amounts{}, amounts{}
	var parts [2][5]offerings.Price // pods, then overhead
	for when, steps := range []int{0, len(in.Plan.Steps)} {
		for _, m := range machines {
			at := m.At(steps)
			if at == nil {
				continue
			}
			pools.add(m.NodePool, when, at.Node.Price)
			types.add(m.Offering.InstanceType, when, at.Node.Price)
			s := &at.Shares
			for i, price := range []offerings.Price{0, s.Daemons, s.System, s.Beside, s.Idle} {
				parts[when][i] += price
			}
			for i, pod := range at.Pods {
				parts[when][0] += s.Pods[i]
				for _, b := range breakdowns {
					b.sums.add(b.name(pod), when, s.Pods[i])
				}
			}
		}
	}
	today, after := costs.Cents(cents[0], parts[0][:]), costs.Cents(cents[1], parts[1][:])
	var out Costs
	for i, name := range []string{daemons, system, beside, idle} {
		out.Overhead = append(out.Overhead, Row{name, today[i+1], after[i+1]})
	}
	for _, b := range breakdowns {
		out.Breakdowns = append(out.Breakdowns, Breakdown{b.by, b.sums.rows([2]int64{today[0], after[0]})})
	}
	out.NodeBreakdowns = []Breakdown{{"NodePool", pools.rows(cents)}, {"instance type", types.rows(cents)}}
	return out
}

// palette is the colours of the most expensive workloads or namespaces, from 1.
type palette struct {
	by     string         // workload or namespace
	number map[string]int // of a colour, by name
}

// paletteOf gives the most expensive workloads colours, or the most expensive namespaces if these workloads are a small
// part of the price of all pods. The breakdowns are by namespace and by workload.
func paletteOf(breakdowns []Breakdown) (p palette) {
	for _, b := range []Breakdown{breakdowns[1], breakdowns[0]} {
		p = palette{b.By, map[string]int{}}
		var first, all int64
		for i, row := range b.Rows {
			if all += row.Today; i < mostColours {
				first += row.Today
				p.number[row.Name] = i + 1
			}
		}
		if 2*first >= all {
			break
		}
	}
	return p
}

// colour is the number of a workload's colour.
func (p *palette) colour(workload string) int {
	if p.by == "namespace" {
		workload, _, _ = strings.Cut(workload, "/")
	}
	return cmp.Or(p.number[workload], colourOthers)
}

// labelsOf returns the keys of labels by which costs are added up: those of Input.Labels, or else the
// first of the usual keys for cost allocation that any pod has.
func labelsOf(in *Input) []string {
	if len(in.Labels) > 0 {
		return unique(slices.Clone(in.Labels))
	}
	for _, key := range []string{"cost-center", "team", "owner", "app.kubernetes.io/part-of", "environment", "env", "app.kubernetes.io/name", "app"} {
		if slices.ContainsFunc(in.Cluster.Running, func(p *corev1.Pod) bool { return p.Labels[key] != "" && !costs.Daemon(p) }) {
			return []string{key}
		}
	}
	return nil
}
