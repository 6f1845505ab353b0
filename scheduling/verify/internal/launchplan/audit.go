package launchplan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// Audit judges one launch plan: its launches, and the nodes of its pods. Its fields are the checks that share them.
type Audit struct {
	report *rule.Report
	state  *snapshot.State
	plan   *scheduling.Plan
	// launches are those of the plan, nodes the running nodes that receive pods, nominated the pods that stay where
	// they are nominated.
	launches  *launchCheck
	nodes     *nodeCheck
	workloads *workloadCheck
	nominated *nominationCheck
	// topology is all nodes as they stand, bookings the pods that bind to them.
	topology *binding.Topology
	bookings []binding.Pending
	// slack is the result of limits.
	slack snapshot.Amounts
}

// Judge reports each rule that the plan breaks, and returns the proof of its lower bound. Pods that the plan refuses are
// tried on nodes and machines only if withRefusals is set, because that takes longest.
func Judge(report *rule.Report, p scheduling.Problem, policy scheduling.Policy, plan *scheduling.Plan, withRefusals bool) *certificate.Proof {
	divided, bounds := snapshot.DividePods(p)
	state := snapshot.New(withSuccessors(divided), policy)
	a := New(report, state, binding.NewTopologyOf(state), plan, bounds)
	lists := &listCheck{report: report, state: state, plan: plan}
	lists.everyPodOnce()
	lists.order()
	a.nominated.judge()
	a.JudgePlaces()
	a.JudgeWorkloads()
	spot := &spotCheck{report: report, problem: &p, plan: plan, bounds: bounds}
	spot.judge()
	a.bindings()
	summary := &summaryCheck{report: report, state: state, plan: plan, launches: a.launches.launches}
	summary.summary()
	compared := &comparison{report: report, policy: policy, plan: plan}
	compared.room(divided)
	compared.spotPolicies(p)
	proof := a.bound()
	if withRefusals {
		places := a.placeSearch()
		dependent := &bindSimulation{places: places, claims: a.claims(), topology: a.topology, bookings: a.bookings}
		dependent.search()
		places.betterPlaces()
	}
	return proof
}

// New begins to read a plan for the nodes of a topology. The report receives the violations. The audit adds the nodes of
// launches to the topology. The bounds are those of the SpotPolicies by which the pods of the state are divided.
func New(report *rule.Report, state *snapshot.State, t *binding.Topology, plan *scheduling.Plan, bounds []snapshot.SpotBound) *Audit {
	return &Audit{
		report: report, state: state, plan: plan, topology: t,
		launches:  &launchCheck{report: report, state: state, bounds: bounds, planned: make(map[string]*snapshot.Node)},
		nodes:     &nodeCheck{report: report, state: state, plan: plan, bounds: bounds, filled: make(map[string]*snapshot.Node)},
		workloads: &workloadCheck{report: report, state: state, plan: plan},
		nominated: &nominationCheck{report: report, state: state, plan: plan, topology: t},
	}
}

// claims is the check of the volumes that pods of the plan share.
func (a *Audit) claims() *claimCheck {
	return &claimCheck{report: a.report, state: a.state, launches: a.launches.launches, bookings: slices.Concat(a.nominated.staying, a.bookings)}
}

// placeSearch looks for places beside the pods of the plan.
func (a *Audit) placeSearch() *placeSearch {
	return &placeSearch{report: a.report, state: a.state, plan: a.plan, launches: a.launches.launches, nodes: a.nodes, workloads: a.workloads, slack: a.slack}
}

// JudgePlaces checks the launches, the nodes that receive pods, limits and volumes: all but topology terms, which depend on
// the order in which pods bind, and the shares of workloads.
func (a *Audit) JudgePlaces() {
	for i := range a.plan.Launches {
		a.launches.launch(&a.plan.Launches[i])
	}
	a.nodes.existing()
	a.slack = limits(a.report, a.state, a.launches.launches)
	a.book()
	claims := a.claims()
	claims.exclusiveClaims()
	claims.sharedVolumes()
	claims.standingVolumes()
}

// JudgeWorkloads checks that no node has more pods of a workload than its share.
func (a *Audit) JudgeWorkloads() { a.workloads.judge(a.launches.launches, a.nominated.kept) }

// book sets up the first options of the launches, and lists the pods of the plan in the order
// in which they bind, but for those that stay where they are nominated. A pod that stands twice comes once.
func (a *Audit) book() {
	seen := make(map[string]bool)
	put := func(n *snapshot.Node, pods []*snapshot.Pod) {
		for _, t := range pods {
			if n != nil && !seen[t.Name] && !a.nominated.kept[t.Name] {
				seen[t.Name] = true
				a.bookings = append(a.bookings, binding.Pending{Pod: t, Node: n})
			}
		}
	}
	for _, l := range a.launches.launches {
		if first := l.first(); first != nil {
			l.node = first.WithHostName(l.promises, l.object)
			a.topology.AddNode(l.node)
		}
		put(l.node, l.pods)
	}
	for _, e := range a.plan.Existing {
		put(a.topology.Named[e.Node], a.state.PodsNamed(e.Pods))
	}
	slices.SortFunc(a.bookings, binding.ByBindingOrder)
}

// bindings checks the topology terms. They hold if the plan's pods can bind one by one: all nodes and running pods
// are there, then the pods come in order of priority and name, each binds if every term allows it at that moment, and
// those that cannot bind try again until a round in which none binds.
func (a *Audit) bindings() {
	if !a.AnyTerms() {
		return
	}
	o := a.topology.Bind(a.bookings)
	a.AddUnbound(o.Waiting)
	a.JudgeOptions(o)
	o.Undo()
}

// AddUnbound adds a violation for each pod that a topology term keeps off its node.
func (a *Audit) AddUnbound(pods []binding.Unbound) {
	for _, u := range pods {
		a.report.Add(u.By.Rule, "pod/"+u.Pod.Name, "cannot be scheduled to %s: %s", u.Node.Object, u.By)
	}
}

// JudgeOptions checks that topology terms cannot tell the options of a launch apart, once the pods of the plan have bound.
func (a *Audit) JudgeOptions(o *binding.Outcome) { optionTerms(a.report, a.launches.launches, o) }

// AnyTerms reports whether some topology term could keep a pod of the plan off its node.
func (a *Audit) AnyTerms() bool {
	return a.topology.AnyAntiAffinity || slices.ContainsFunc(a.bookings, func(b binding.Pending) bool { return !b.Pod.Terms.None() })
}

// Bookings returns the pods of the plan with their nodes, in the order in which they bind; none before JudgePlaces.
func (a *Audit) Bookings() []binding.Pending { return a.bookings }

// Launched is the node that a launch becomes.
type Launched struct {
	Name string // of the launch
	// Node is the first option with the pods' promises as it stands in the topology, nil if the catalog has no such
	// offering. Object is the object of the node, nil if it cannot be made.
	Node   *snapshot.Node
	Object *corev1.Node
}

// Launched returns the nodes of the launches that have been judged, in the order of the plan.
func (a *Audit) Launched() []Launched {
	var out []Launched
	for _, l := range a.launches.launches {
		n := Launched{Name: l.Name, Node: l.node}
		if l.first() != nil && l.pool != nil {
			if object, err := l.Launch.Node(l.Name, &l.Options[0], l.pool.Catalog); err == nil {
				n.Object = object
			}
		}
		out = append(out, n)
	}
	return out
}

// CouldLaunch reports whether some pool could launch a machine for the pod beside the launches of the plan.
func (a *Audit) CouldLaunch(t *snapshot.Pod) bool { return a.placeSearch().couldLaunch(t) }

// bound proves the lower bound from the certificate.
func (a *Audit) bound() *certificate.Proof {
	placed, at := make(map[string]bool), make(map[string]*snapshot.Node)
	for pod := range a.plan.Placements() {
		placed[pod.String()] = true
	}
	for _, b := range slices.Concat(a.nominated.staying, a.bookings) {
		at[b.Pod.Name] = b.Node
	}
	state := a.state
	if len(a.nominated.kept) > 0 {
		state = snapshot.New(a.nominated.asPromised(), scheduling.Policy(*a.state.Policy))
	}
	c := certificate.NewClaim(a.report, state, a.plan.Summary.LowerBoundPerHour, func(name string) bool { return placed[name] }, at)
	return c.Judge(a.plan.Summary.Certificate)
}
