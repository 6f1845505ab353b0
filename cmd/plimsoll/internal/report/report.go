package report

import (
	"cmp"

	"github.com/plimsoll-go/plimsoll/billing"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/costs"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/figures"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/launches"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/lint"
	"github.com/plimsoll-go/plimsoll/cmd/plimsoll/internal/whatif"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// Input holds the cluster, its plan and the settings of a report.
type Input struct {
	// Title names the cluster, AsOf is the time of the plan (RFC 3339), Version the version of the command.
	Title, AsOf, Version string
	// Prices says where the prices come from, and their date. OldPrices says how old they are, and how to renew
	// them; "" if they are not old.
	Prices, OldPrices string
	// Cluster and Policy are those with which Plan was made.
	Cluster disruption.Cluster
	Plan    *disruption.ConsolidationPlan
	Policy  scheduling.Policy
	// NodeGroups are the node groups that NodePools stand for, by the name of the NodePool.
	NodeGroups map[string]manifest.NodeGroup
	// Workload returns the workload of a pod; both are namespace/name.
	Workload func(pod string) string
	// Labels are the keys of labels by which costs are added up; none is the first of the usual
	// keys for cost allocation that any pod has, e.g. team.
	Labels []string
	// Findings are lint's findings, with the changes of requests and NodePools that save something.
	Findings []lint.Finding
	// Notes are sentences about the plan, e.g. the gap to the lower bound; Assumptions lists the settings of the run.
	Notes       []string
	Assumptions []Setting
}

// Setting is a setting of the run that made a report, e.g. a flag or the version.
type Setting struct {
	// Name is the setting's name, Value its value as text.
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Report is the content of all formats. Money is in US dollars: prices per hour, and cents per month
// of 730 hours. The JSON names are a contract.
type Report struct {
	// Title names the cluster, AsOf is the time of the plan (RFC 3339), Version the version of the command.
	Title   string `json:"title"`
	AsOf    string `json:"asOf"`
	Version string `json:"version"`
	// Prices says where the prices come from, and their date.
	Prices string `json:"prices"`
	// OldPrices says how old prices are, and how to renew them, if a capacity type has no price of the last 90 days.
	OldPrices string `json:"oldPrices,omitempty"`
	// Usage is the use of the nodes of the bill today.
	Usage Usage `json:"usage"`
	// Levels are the present price of the cluster, always first, and the prices that it could have.
	Levels []Level `json:"levels"`
	// Bill is the bill of all nodes under commitments and discounts, before and after the steps; absent without --billing.
	Bill *billing.Statement `json:"bill,omitempty"`
	// Points are the totals after each number of steps, from 0 on.
	Points []Point `json:"points"`
	// Steps are the plan's steps, in their order.
	Steps []Step `json:"steps"`
	// PriceNote says that prices of launches are estimated; "" if none is.
	PriceNote string `json:"priceNote,omitempty"`
	// Cordon are the nodes to cordon before the first step, by name.
	Cordon []string `json:"cordon,omitempty"`
	// Runbook is the commands for the steps, for a shell; "" if there are no steps.
	Runbook string `json:"runbook,omitempty"`
	// Pending counts the pods without a node; none if there are none.
	Pending *disruption.Pending `json:"pending,omitempty"`
	// Nodes are the nodes of the bill, the highest idle price first, then the launches of steps.
	Nodes []Node `json:"nodes"`
	// Costs say where the money goes.
	Costs Costs `json:"costs"`
	// Blocked are the causes that keep the cluster from costing less after the steps, and requests and NodePools
	// that raise the price of a rebuilt cluster, the highest saving first.
	Blocked []BlockedSaving `json:"blocked"`
	// Cases are the results under other settings, as of the command whatif, the baseline first.
	Cases []*whatif.Outcome `json:"cases,omitempty"`
	// Risks are the risks to check before the steps are carried out, by code.
	Risks []Risk `json:"risks"`
	// Lint are the other findings of the command lint: those of which the saving is not in Blocked.
	Lint []lint.Finding `json:"lint"`
	// Warnings are faults of the input that did not stop the plan.
	Warnings []scheduling.Warning `json:"warnings"`
	// Notes are sentences about the plan, e.g. the gap to the lower bound; Assumptions lists the settings of the run.
	Notes       []string  `json:"notes"`
	Assumptions []Setting `json:"assumptions"`

	palette palette
}

// Level is a price that the cluster has or could have.
type Level struct {
	// Code is today, after (the steps, if every pod is scheduled as planned), expected (after the steps, with other
	// choices of kube-scheduler, where that differs), least (by any steps, proven), rebuilt (by the NodePools) or, where
	// groups of nodes stand for these, alternative (rebuilt of any current type).
	Code string `json:"code"`
	// PerHour is the price, Cents its amount per month.
	PerHour offerings.Price `json:"perHour"`
	Cents   int64           `json:"centsPerMonth"`
	// Nodes is the number of nodes; 0 for a price that is only a bound.
	Nodes int `json:"nodes,omitempty"`
	// Composition counts the nodes of a rebuilt cluster by kind, the most expensive first.
	Composition []disruption.NodeKind `json:"composition,omitempty"`
}

// Point is the totals after a number of steps.
type Point struct {
	// Cents is the price of the cluster at that point, per month, and Nodes its number of nodes.
	Cents int64 `json:"centsPerMonth"`
	Nodes int   `json:"nodes"`
	// Moved is the number of pods moved until then, Launches the number of nodes launched.
	Moved    int `json:"podsMoved"`
	Launches int `json:"launches"`
}

// Step is one step of the plan.
type Step struct {
	// Reason is why its nodes go, Drain their names.
	Reason disruption.Reason `json:"reason"`
	Drain  []string          `json:"drain"`
	// Launches are the nodes that it launches, each as instance type, capacity type and zone.
	Launches []string `json:"launches"`
	// Pods is the number of evicted pods, Waves the number of waves in which they leave.
	Pods  int `json:"pods"`
	Waves int `json:"waves"`
	// SavingCents is below 0 for a step that has to be and costs something.
	SavingCents int64 `json:"savingCentsPerMonth"`
}

// Of works a report out.
func Of(in Input) *Report {
	changes, lacks := []lint.Finding{}, []lint.Finding{}
	for i := range in.Findings {
		if in.Findings[i].SavingPerHour > 0 {
			changes = append(changes, in.Findings[i])
		} else {
			lacks = append(lacks, in.Findings[i])
		}
	}
	r := &Report{
		Title: in.Title, AsOf: in.AsOf, Version: in.Version, Prices: in.Prices, OldPrices: in.OldPrices, Notes: in.Notes, Assumptions: in.Assumptions, Warnings: in.Plan.Warnings, Bill: in.Plan.Bill,
		Steps: []Step{}, Cordon: in.Plan.Cordon, Runbook: runbookOf(&in), Pending: in.Plan.Pending, Blocked: blockedSavings(in.Plan, changes), Risks: Risks(in.Plan), Lint: lacks,
	}
	machines := costs.Machines(&in.Cluster, in.Plan, in.Policy)
	r.levels(in.Plan)
	r.steps(in.Plan, machines)
	cents := [2]int64{r.Levels[0].Cents, r.Points[len(r.Points)-1].Cents}
	r.Costs = divide(&in, machines, cents)
	r.Usage = usageOf(&in, machines, r.Costs.Overhead)
	r.palette = paletteOf(r.Costs.Breakdowns)
	r.Nodes = nodesOf(&in, machines, cents, r.palette)
	return r
}

// levels are the prices of the summary.
func (r *Report) levels(plan *disruption.ConsolidationPlan) {
	s := &plan.Summary
	add := func(code string, price offerings.Price, nodes int) {
		r.Levels = append(r.Levels, Level{Code: code, PerHour: price, Cents: figures.Cents(price), Nodes: nodes})
	}
	rebuilt := func(code string, b *disruption.Rebuilt) {
		if b != nil {
			add(code, cmp.Or(b.ExpectedPerHour, b.PricePerHour), b.Nodes)
			r.Levels[len(r.Levels)-1].Composition = b.Composition
		}
	}
	add("today", cmp.Or(s.ExpectedPerHourBefore, s.PricePerHourBefore), s.NodesBefore)
	add("after", cmp.Or(s.ExpectedPerHourAfter, s.PricePerHourAfter), s.NodesAfter)
	if e := s.AfterScheduling; e != nil && len(plan.Steps) > 0 {
		if price := cmp.Or(e.ExpectedPerHourAfter, e.PricePerHourAfter); price != r.Levels[1].PerHour {
			add("expected", price, s.NodesAfter+e.Launches)
		}
	}
	if s.LowerBoundPerHour > 0 {
		add("least", s.LowerBoundPerHour, 0)
	}
	rebuilt("rebuilt", s.Rebuilt)
	rebuilt("alternative", s.Alternative)
}

// steps sets the report's steps and points from those of the plan.
func (r *Report) steps(plan *disruption.ConsolidationPlan, machines []*costs.Machine) {
	today := r.Levels[0].PerHour
	reached := Point{Cents: r.Levels[0].Cents, Nodes: r.Levels[0].Nodes}
	r.Points = []Point{reached}
	change := make([]int, len(plan.Steps)+1) // of the number of nodes, by step
	for _, m := range machines {
		if m.Launched > 0 {
			change[m.Launched]++
		}
		if m.Removed > 0 {
			change[m.Removed]--
		}
	}
	var launched []scheduling.LaunchOption
	for i := range plan.Steps {
		s, p := &plan.Steps[i], &plan.Summary.Frontier[i]
		reached.Cents, reached.Moved = figures.Cents(today-p.SavingPerHour), p.PodsMoved
		reached.Nodes += change[i+1]
		reached.Launches += len(s.Launches)
		step := Step{Reason: s.Reason, Drain: s.Drain, Launches: []string{}, Pods: s.PodsMoved(), SavingCents: r.Points[i].Cents - reached.Cents}
		for j := range s.Launches {
			o := &s.Launches[j].Options[0]
			launched = append(launched, *o)
			step.Launches = append(step.Launches, o.InstanceType+" "+string(o.CapacityType)+" "+o.Zone)
		}
		for j := range s.Evictions {
			step.Waves = max(step.Waves, s.Evictions[j].Wave)
		}
		r.Steps, r.Points = append(r.Steps, step), append(r.Points, reached)
	}
	r.PriceNote = launches.PriceNote(launched)
}
