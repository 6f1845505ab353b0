package metrics

import (
	"cmp"
	"io"
	"strconv"
	"time"

	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/internal/openmetrics"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
)

// Input is a cluster and its consolidation plan.
type Input struct {
	// Cluster and Policy are the planner's input and policy from which Plan was made.
	Cluster disruption.Cluster
	Plan    *disruption.ConsolidationPlan
	Policy  scheduling.Policy
	// Now is the time for which the plan was made.
	Now time.Time
	// Stranded says that a node is about to be taken away with a pod that has no other node.
	Stranded bool
}

// unit is that of all prices.
const unit = "dollars_per_hour"

// Write writes the metrics of a plan; the only errors are those of w.
func Write(w io.Writer, in Input) error {
	families := bill(&in)
	families = append(families, savings(in.Plan)...)
	families = append(families, blocked(in.Plan)...)
	families = append(families, counts(&in)...)
	return openmetrics.Write(w, append(families, times(&in)...))
}

// money is a metric in US dollars per hour.
func money(name, help string, labels ...string) *openmetrics.Family {
	return &openmetrics.Family{Name: "plimsoll_" + name + "_" + unit, Unit: unit, Help: help, Labels: labels}
}

// count is a metric without a unit.
func count(name, help string, labels ...string) *openmetrics.Family {
	return &openmetrics.Family{Name: "plimsoll_" + name, Help: help, Labels: labels}
}

// amounts are sums of prices by two labels.
type amounts map[[2]string]offerings.Price

func (a amounts) add(x, y string, price offerings.Price) {
	a[[2]string{x, y}] = offerings.Sum(a[[2]string{x, y}], price)
}

// fill adds the sums as samples of a family with as many labels as are given: 1 or 2.
func (a amounts) fill(f *openmetrics.Family) *openmetrics.Family {
	for labels, price := range a {
		f.Add(price.String(), labels[:len(f.Labels)]...)
	}
	return f
}

// bill is the price of the nodes today and after the steps, and its parts today.
func bill(in *Input) []*openmetrics.Family {
	today, planned := amounts{}, amounts{}
	nodes := map[[2]string]int{}
	namespaces, daemons, system, beside, idle := amounts{}, amounts{}, amounts{}, amounts{}, amounts{}
	for _, m := range costs.Machines(&in.Cluster, in.Plan, in.Policy) {
		pool, capacityType := m.NodePool, string(m.Offering.CapacityType)
		if at := m.At(len(in.Plan.Steps)); at != nil {
			planned.add(pool, capacityType, at.Node.Price)
		}
		at := m.At(0)
		if at == nil {
			continue
		}
		today.add(pool, capacityType, at.Node.Price)
		nodes[[2]string{pool, capacityType}]++
		s := &at.Shares
		daemons.add(pool, "", s.Daemons)
		system.add(pool, "", s.System)
		beside.add(pool, "", s.Beside)
		idle.add(pool, "", s.Idle)
		for i, pod := range at.Pods {
			namespaces.add(cmp.Or(pod.Namespace, "default"), pool, s.Pods[i])
		}
	}
	counted := count("nodes", "Nodes of the bill.", "nodepool", "capacity_type")
	for labels, n := range nodes {
		counted.Add(strconv.Itoa(n), labels[:]...)
	}
	return []*openmetrics.Family{
		today.fill(money("bill", "Price of the nodes of NodePools or node groups, with node overhead and the expected cost of interruptions where they are set.", "nodepool", "capacity_type")),
		planned.fill(money("planned_bill", "The bill after all steps of the plan.", "nodepool", "capacity_type")),
		counted,
		namespaces.fill(money("namespace", "Part of the bill for the requests of the pods of a namespace, without pods of DaemonSets. With idle, DaemonSets, system reservation and node overhead it adds up to the bill.", "namespace", "nodepool")),
		idle.fill(money("idle", "Part of the bill for allocatable resources that no pod requests.", "nodepool")),
		daemons.fill(money("daemonset", "Part of the bill for the requests of pods of DaemonSets.", "nodepool")),
		system.fill(money("system_reserved", "Part of the bill for resources that are not allocatable.", "nodepool")),
		beside.fill(money("node_overhead", "Part of the bill for costs beside the price of instances: --node-overhead and the expected cost of interruptions.", "nodepool")),
	}
}

// savings are the price that the plan saves, by reason, and the prices that the cluster could have at least.
func savings(plan *disruption.ConsolidationPlan) []*openmetrics.Family {
	s := &plan.Summary
	before, after := cmp.Or(s.ExpectedPerHourBefore, s.PricePerHourBefore), cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter)
	all := money("saving", "Price that all steps of the plan save; negative if steps that must be made cost more than the others save.")
	all.Add((before - after).String())
	reasons := amounts{}
	for i := range plan.Steps {
		reasons.add(string(plan.Steps[i].Reason), "", plan.Steps[i].SavingPerHour)
	}
	bound := money("lower_bound", "Proven lower bound on the price of the nodes for the same pods, given the nodes that cannot be removed. Missing if none is proven.")
	if s.LowerBoundPerHour > 0 {
		bound.Add(s.LowerBoundPerHour.String())
	}
	rebuilt := money("rebuilt", "Price of the cluster rebuilt from scratch for the same pods. Missing if it was not planned.")
	if s.Rebuilt != nil {
		rebuilt.Add(cmp.Or(s.Rebuilt.ExpectedPerHour, s.Rebuilt.PricePerHour).String())
	}
	return []*openmetrics.Family{all, reasons.fill(money("step_saving", "Price that the steps with a reason save.", "reason")), bound, rebuilt}
}

// blocked is how much each cause keeps the cluster from saving.
func blocked(plan *disruption.ConsolidationPlan) []*openmetrics.Family {
	saving := money("blocked_saving", "Price that the cluster would save without a cause that keeps nodes. The amounts of several causes do not add up.", "cause")
	atMost := count("blocked_saving_is_upper_bound", "Whether the saving without a cause may be anything from 0 to its blocked saving, because no full plan was made without the cause (1).", "cause")
	nodes := count("blocked_nodes", "Nodes that a cause is the first to keep.", "cause")
	for i := range plan.Summary.Blocked {
		b := &plan.Summary.Blocked[i]
		saving.Add(b.PerHour.String(), string(b.Code))
		atMost.Add(truth(b.AtMost()), string(b.Code))
		nodes.Add(strconv.Itoa(b.Nodes), string(b.Code))
	}
	return []*openmetrics.Family{saving, atMost, nodes}
}

// counts are the metrics without a unit.
func counts(in *Input) []*openmetrics.Family {
	s := &in.Plan.Summary
	single := func(name, help string, n int) *openmetrics.Family {
		f := count(name, help)
		f.Add(strconv.Itoa(n))
		return f
	}
	var pending disruption.Pending
	if in.Plan.Pending != nil {
		pending = *in.Plan.Pending
	}
	pods := count("pending_pods", "Pending pods by outcome: they fit on existing nodes (existing-node), need new nodes (new-node), are held by scheduling gates (gated), or fit nowhere (unschedulable).", "outcome")
	pods.Add(strconv.Itoa(pending.Existing), "existing-node")
	pods.Add(strconv.Itoa(pending.Launched), "new-node")
	pods.Add(strconv.Itoa(pending.Gated), "gated")
	pods.Add(strconv.Itoa(len(pending.Unschedulable)), "unschedulable")
	outside := count("unbilled_nodes", "Nodes that the bill leaves out: they belong to no NodePool or node group (no-node-pool), or their price is not known (unknown-price).", "cause")
	outside.Add(strconv.Itoa(len(in.Plan.Nodes)-s.NodesBefore-s.UnpricedNodes), string(disruption.CauseNoNodePool))
	outside.Add(strconv.Itoa(s.UnpricedNodes), string(disruption.CauseUnknownPrice))
	stranded := count("stranded", "Whether a node is about to be interrupted with a pod that fits on no other node.")
	stranded.Add(truth(in.Stranded))
	stopped := count("search_stopped", "Whether --timeout or an interrupt ended the search for steps early.")
	stopped.Add(truth(s.Status == scheduling.StatusDeadline))
	return []*openmetrics.Family{
		single("steps", "Steps of the plan.", len(in.Plan.Steps)),
		single("evictions", "Evictions of pods in the plan.", s.PodsMoved),
		single("launches", "Nodes that the plan launches.", s.Launches),
		pods, outside, stranded, stopped,
	}
}

// truth is a truth value as a sample: 1 or 0.
func truth(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// times are the time of the plan and the dates of the prices. As Prometheus recommends, they are times and not ages:
// the age is time() minus the metric.
func times(in *Input) []*openmetrics.Family {
	const unit = "seconds"
	planned := &openmetrics.Family{Name: "plimsoll_plan_timestamp_seconds", Unit: unit, Help: "Time for which the plan was made, as a Unix time."}
	planned.Add(strconv.FormatInt(in.Now.Unix(), 10))
	newest := &openmetrics.Family{Name: "plimsoll_price_timestamp_seconds", Unit: unit, Help: "Date of the newest prices of a capacity type, as a Unix time. Missing if the catalog states no date.", Labels: []string{"capacity_type"}}
	oldest := &openmetrics.Family{Name: "plimsoll_oldest_price_timestamp_seconds", Unit: unit, Help: "Date of the oldest prices of a capacity type, as a Unix time. Missing if the catalog states no date.", Labels: []string{"capacity_type"}}
	first, last := map[string]int64{}, map[string]int64{}
	for _, p := range in.Plan.Summary.Catalog.Prices {
		date, err := time.Parse(time.DateOnly, p.Date)
		if err != nil {
			continue // the source states none
		}
		kind, at := string(p.CapacityType), date.Unix()
		if known, ok := first[kind]; !ok || at < known {
			first[kind] = at
		}
		if known, ok := last[kind]; !ok || at > known {
			last[kind] = at
		}
	}
	for kind := range first {
		oldest.Add(strconv.FormatInt(first[kind], 10), kind)
		newest.Add(strconv.FormatInt(last[kind], 10), kind)
	}
	return []*openmetrics.Family{planned, newest, oldest}
}
