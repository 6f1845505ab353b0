package verify

import (
	"slices"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/certificate"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/snapshot"
)

// defaultMaxOptions is the limit for a Policy with MaxOptions 0.
const defaultMaxOptions = 60

// Checker judges plans. The zero value judges those of the zero Policy.
type Checker struct {
	// Policy holds the settings under which the plan was made. All are read but Effort
	// and those about preferences.
	Policy scheduling.Policy
	// SkipRefusals leaves out the search for better places: whether a pod that the plan refuses fits after all, and
	// whether a pool of a higher weight could have held one. That search takes longest on large problems.
	SkipRefusals bool
}

// Plan judges a plan of the zero Policy. It returns nil if the plan obeys every rule,
// otherwise a *[Report] with every violation; see [Checker.Plan].
func Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	return Checker{}.Plan(p, plan)
}

// Plan judges a plan against the problem that it is for. It returns nil if the plan
// obeys every rule, otherwise a *[Report]; errors.As also finds single violations.
// It changes neither the problem nor the plan. The problem is taken to be valid.
func (c Checker) Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	_, err := c.Prove(p, plan)
	return err
}

// Prove judges a plan as [Checker.Plan] does, and returns the proof of the plan's lower bound. With an error it is the
// proof as far as the certificate could be read; without a plan it is nil.
func (c Checker) Prove(p scheduling.Problem, plan *scheduling.Plan) (*Proof, error) {
	report := &Report{}
	if plan == nil {
		report.add(CodeNoPlan, "plan", "is nil")
		return nil, report.err()
	}
	w := snapshot.New(withSuccessors(p), c.Policy)
	j := newJudge(report, w, binding.NewTopologyOf(w), plan)
	lists := &listCheck{report: report, state: w, plan: plan}
	lists.everyPodOnce()
	lists.order()
	j.nominated.judge()
	j.places()
	j.bindings()
	sums := &summaryCheck{report: report, state: w, plan: plan, launches: j.launches.launches}
	sums.summary()
	proof := j.bound()
	if !c.SkipRefusals {
		places := j.placeSearch()
		places.betterPlaces(&bindSimulation{places: places, claims: j.claims(), topology: j.topology, booked: j.booked})
	}
	return proof, report.err()
}

// judge is one reading of one plan: its launches, and the nodes of its pods. Its fields are the checks that share
// them.
type judge struct {
	report *Report
	state  *snapshot.State
	plan   *scheduling.Plan
	// launches are those of the plan, nodes the running nodes that receive pods, nominated the pods that stay where
	// they are nominated.
	launches  *launchCheck
	nodes     *nodeCheck
	workloads *workloadCheck
	nominated *nominationCheck
	// topology is all nodes as they stand, booked the pods that bind to them.
	topology *binding.Topology
	booked   []binding.Pending
	// slack is the result of limits.
	slack snapshot.Amounts
	// asBound says that pods go where kube-scheduler binds them, and the plan has no choice: rules that
	// kube-scheduler does not know do not count.
	asBound bool
}

// newJudge begins to read a plan for the nodes of a topology.
func newJudge(report *Report, w *snapshot.State, t *binding.Topology, plan *scheduling.Plan) *judge {
	return &judge{
		report: report, state: w, plan: plan, topology: t,
		launches:  &launchCheck{report: report, state: w, planned: make(map[string]*snapshot.Node)},
		nodes:     &nodeCheck{report: report, state: w, plan: plan, filled: make(map[string]*snapshot.Node)},
		workloads: &workloadCheck{report: report, state: w, plan: plan},
		nominated: &nominationCheck{report: report, state: w, plan: plan, topology: t},
	}
}

// claims is the check of the volumes that pods of the plan share.
func (j *judge) claims() *claimCheck {
	return &claimCheck{report: j.report, state: j.state, launches: j.launches.launches, bookings: slices.Concat(j.nominated.staying, j.booked)}
}

// placeSearch looks for places beside the pods of the plan.
func (j *judge) placeSearch() *placeSearch {
	return &placeSearch{report: j.report, state: j.state, plan: j.plan, launches: j.launches.launches, nodes: j.nodes, workloads: j.workloads, slack: j.slack}
}

// places checks the launches, the nodes that receive pods, limits, volumes and workloads; all but topology terms,
// which depend on the order in which pods bind.
func (j *judge) places() {
	for i := range j.plan.Launches {
		j.launches.launch(&j.plan.Launches[i])
	}
	j.nodes.existing()
	j.slack = limits(j.report, j.state, j.launches.launches)
	j.book()
	claims := j.claims()
	claims.exclusiveClaims()
	claims.sharedVolumes()
	claims.standingVolumes()
	if !j.asBound {
		j.workloads.judge(j.launches.launches, j.nominated.kept)
	}
}

// book sets up the first options of the launches, and lists the pods of the plan in the order
// in which they bind, but for those that stay where they are nominated. A pod that stands twice comes once.
func (j *judge) book() {
	seen := make(map[string]bool)
	put := func(n *snapshot.Node, pods []*snapshot.Pod) {
		for _, t := range pods {
			if n != nil && !seen[t.Name] && !j.nominated.kept[t.Name] {
				seen[t.Name] = true
				j.booked = append(j.booked, binding.Pending{Pod: t, Node: n})
			}
		}
	}
	for _, l := range j.launches.launches {
		if first := l.first(); first != nil {
			l.node = first.WithHostName(l.promises, l.object)
			j.topology.AddNode(l.node)
		}
		put(l.node, l.pods)
	}
	for _, a := range j.plan.Existing {
		put(j.topology.Named[a.Node], j.state.PodsNamed(a.Pods))
	}
	slices.SortFunc(j.booked, binding.ByBindingOrder)
}

// bindings checks the topology terms. They hold if the plan's pods can bind one by one: all nodes and running pods
// are there, then the pods come in order of priority and name, each binds if every term allows it at that moment, and
// those that cannot bind try again until a round in which none binds.
func (j *judge) bindings() {
	if !anyTerms(j.topology, j.booked) {
		return
	}
	o := j.topology.Bind(j.booked)
	for _, b := range o.Waiting {
		j.report.add(Code(b.By.Rule), "pod/"+b.Pod.Name, "cannot be scheduled to %s: %s", b.Node.Object, b.By)
	}
	agreements(j.report, j.launches.launches, o)
	o.Undo()
}

// anyTerms reports whether some topology term could keep a pod off its node.
func anyTerms(t *binding.Topology, bookings []binding.Pending) bool {
	return slices.ContainsFunc(bookings, func(b binding.Pending) bool { return !b.Pod.Terms.None() }) || t.AnyAntiAffinity
}

// bound proves the lower bound from the certificate.
func (j *judge) bound() *Proof {
	placed, at := make(map[string]bool), make(map[string]*snapshot.Node)
	for pod := range j.plan.Placements() {
		placed[pod.String()] = true
	}
	for _, b := range slices.Concat(j.nominated.staying, j.booked) {
		at[b.Pod.Name] = b.Node
	}
	state := j.state
	if len(j.nominated.kept) > 0 {
		state = snapshot.New(j.nominated.asPromised(), scheduling.Policy(*j.state.Policy))
	}
	c := certificate.NewClaim(state, j.plan.Summary.LowerBoundPerHour, func(name string) bool { return placed[name] }, at, j.report.fault)
	return readProof(kindOf(j.plan.Summary.Certificate), c.Judge(j.plan.Summary.Certificate), 0)
}
