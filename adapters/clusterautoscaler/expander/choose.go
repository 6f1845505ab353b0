package expander

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/adapters/clusterautoscaler/internal/template"
	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/provisioning"
)

// ErrNoChoice is the error of a request among whose options there is none to recommend.
var ErrNoChoice = errors.New("no option to recommend")

// Pricer has the price of a node per hour; [Prices] is one.
type Pricer interface {
	// PriceOf returns the price of a template node. It is called by several goroutines.
	PriceOf(template *corev1.Node) offerings.Price
}

// Chooser chooses among scale-ups. Any number of goroutines may use one.
type Chooser struct {
	// Prices are the prices of template nodes; required.
	Prices Pricer
	// NodeOverhead is the cost of a node per hour beside its price, e.g. of its volume and of agents
	// licensed by the host; 0 is no cost.
	NodeOverhead offerings.Price
}

// Scored is an option with its prices.
type Scored struct {
	Option
	// Price is that of the option's nodes per hour, with [Chooser.NodeOverhead].
	Price offerings.Price
	// PlannedPrice is the price of the option's pods per hour, in USD, in a plan over all groups.
	PlannedPrice float64
}

// Ratio is Price divided by PlannedPrice, e.g. 1.1 for an option that costs 10 % more than its pods cost in the plan. It
// is 0 for nodes without a price.
func (s Scored) Ratio() float64 {
	if s.Price == 0 {
		return 0
	}
	return s.Price.USD() / s.PlannedPrice
}

// Choice is the answer to a request.
type Choice struct {
	// Best are the options with the least ratio of price to planned price: one, or several that are equal, e.g. of the
	// same instance type in several zones. The autoscaler's next expander chooses among them.
	Best []Scored
	// Options are the options that were compared, in order of their ratio, then of their groups.
	Options []Scored
	// Skipped are the reasons why other options were not compared, e.g. because a group has no template node.
	Skipped []string
	// Problem is the problem whose plan gives the planned prices, with the pods that can run in a group of Options, and
	// Plan is its plan. Without another option to compare with there is no plan: it is nil, and so are planned prices.
	Problem scheduling.Problem
	Plan    *scheduling.Plan
}

// candidate is an option that can be compared.
type candidate struct {
	Option
	// price and room are those of one node, and catalog has its instance type.
	price   offerings.Price
	room    corev1.ResourceList
	catalog *instancetypes.Catalog
}

// Choose returns the best options of a request. The same request gives the same choice. An error means a request without
// an option that can be compared ([ErrNoChoice]), pods that are no valid problem, or a context that ended first.
func (c *Chooser) Choose(ctx context.Context, r Request) (Choice, error) {
	if c.Prices == nil {
		return Choice{}, errors.New("prices: must be set")
	}
	var choice Choice
	var candidates []candidate
	for _, o := range r.Options {
		found, err := c.candidate(o, r.Templates[o.NodeGroup])
		if err != nil {
			choice.Skipped = append(choice.Skipped, fmt.Sprintf("node group %q: %v", o.NodeGroup, err))
			continue
		}
		candidates = append(candidates, found)
	}
	var planned []float64
	if len(candidates) > 1 {
		var err error
		if planned, err = choice.plan(ctx, candidates); err != nil {
			return Choice{}, err
		}
	}
	for i, x := range candidates {
		price, _ := x.price.Times(int64(x.NodeCount))
		s := Scored{Option: x.Option, Price: price}
		if planned != nil {
			s.PlannedPrice = planned[i]
		}
		choice.Options = append(choice.Options, s)
	}
	if len(choice.Options) == 0 {
		return Choice{}, fmt.Errorf("%w: %s", ErrNoChoice, cmp.Or(strings.Join(choice.Skipped, "; "), "there is no option"))
	}
	slices.SortStableFunc(choice.Options, func(a, b Scored) int {
		return cmp.Or(cmp.Compare(a.Ratio(), b.Ratio()), strings.Compare(a.NodeGroup, b.NodeGroup))
	})
	least := choice.Options[0].Ratio()
	equal := slices.IndexFunc(choice.Options, func(s Scored) bool { return s.Ratio() > least })
	if equal < 0 {
		equal = len(choice.Options)
	}
	choice.Best = slices.Clip(choice.Options[:equal])
	return choice, nil
}

// candidate prices an option. The error says why it cannot be compared.
func (c *Chooser) candidate(o Option, node *corev1.Node) (candidate, error) {
	switch {
	case node == nil:
		return candidate{}, errors.New("no template node")
	case o.NodeCount <= 0:
		return candidate{}, fmt.Errorf("a scale-up by %d nodes", o.NodeCount)
	case len(o.Pods) == 0:
		return candidate{}, errors.New("no pods")
	case slices.Contains(o.Pods, nil):
		return candidate{}, fmt.Errorf("pods[%d] is nil", slices.Index(o.Pods, nil))
	}
	price := offerings.Sum(c.Prices.PriceOf(node), c.NodeOverhead)
	room := template.Allocatable(node)
	kind := template.InstanceType("template", room)
	kind.Offerings = []offerings.Offering{{Zone: "any", CapacityType: offerings.OnDemand, Price: price}}
	catalog, err := instancetypes.NewCatalog(kind)
	if err != nil {
		return candidate{}, fmt.Errorf("template node: %w", err)
	}
	return candidate{o, price, room, catalog}, nil
}

// plan sets Problem and Plan, and returns the planned price of the pods of each candidate. The plan is a sketch, because
// the prices of pods in it differ little from those in a better plan, and the autoscaler waits.
func (c *Choice) plan(ctx context.Context, candidates []candidate) ([]float64, error) {
	m := newMarket(candidates)
	session, err := provisioning.NewSession(scheduling.Policy{Effort: scheduling.EffortFast, NoReasons: true, Preferences: scheduling.PreferencesIgnore}, m.problem)
	if err != nil {
		return nil, err
	}
	plan, err := session.Sketch(ctx)
	if err == nil {
		err = ctx.Err() // because a plan that a deadline cut short may have no place for most of the pods
	}
	if err != nil {
		return nil, fmt.Errorf("plan over %d node groups and %d pods: %w", len(candidates), len(m.problem.Pods), err)
	}
	c.Problem, c.Plan = m.problem, plan
	prices, sums := m.plannedPrices(plan), make([]float64, len(candidates))
	for i, pods := range m.of {
		for _, p := range pods {
			sums[i] += prices[p]
		}
	}
	return sums, nil
}
