package verify

import (
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// defaultMaxOptions is what a Solver's MaxOptions of 0 means.
const defaultMaxOptions = 60

// Checker judges plans. The zero value judges those of the zero Solver.
type Checker struct {
	// Solver holds the settings under which the plan was made. All are read but Effort
	// and those about preferences.
	Policy scheduling.Policy
	// SkipRefusals leaves out the search for better places: whether a pod that the
	// plan refuses fits somewhere after all, and whether a pool of a higher weight
	// could have held one. It is what takes longest on large problems.
	SkipRefusals bool
}

// Plan judges a plan of the zero Solver. It returns nil if the plan obeys every rule,
// otherwise a *[Report] with every violation; see [Checker.Plan].
func Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	return Checker{}.Plan(p, plan)
}

// Plan judges a plan against the problem that it is for. It returns nil if the plan
// obeys every rule, otherwise a *[Report]; errors.As also finds single violations.
// It changes neither the problem nor the plan. The problem is taken to be valid.
func (c Checker) Plan(p scheduling.Problem, plan *scheduling.Plan) error {
	report := &Report{}
	if plan == nil {
		report.add(NoPlan, "plan", "is nil")
		return report.err()
	}
	j := newJudge(report, newWorld(p, c.Policy), plan)
	j.everyPodOnce()
	j.order()
	j.places()
	j.bindings()
	j.summary()
	j.bound()
	if !c.SkipRefusals {
		j.betterPlaces()
	}
	return report.err()
}

// judge is one reading of one plan.
type judge struct {
	*Report
	*world
	plan *scheduling.Plan
	// machines are those that options name, by what distinguishes them.
	machines map[string]*machine
	// launches are those of the plan, in its order; named are their names.
	launches []*resolved
	named    map[string]bool
	// topology is all nodes and machines as they stand, booked the pods that bind to them.
	topology *topology
	booked   []booking
	// used is how many launches count on a reservation, listed how many others would
	// use it if their first option were not to be had.
	used, listed map[string]int
}

// resolved is a launch together with the machines that its options stand for.
type resolved struct {
	*scheduling.Launch
	object   string
	pool     *pool
	machines []*machine // one per option, nil where the catalog knows none
	pods     []*tenant
	host     *host // the first option as it stands, nil if it is not known
}

// first is what price, limits and reservations count; nil if it is not known.
func (r *resolved) first() *machine {
	if len(r.machines) == 0 {
		return nil
	}
	return r.machines[0]
}

func (w *world) maxOptions() int {
	if w.policy.MaxOptions > 0 {
		return w.policy.MaxOptions
	}
	return defaultMaxOptions
}

// newJudge begins to read a plan.
func newJudge(report *Report, w *world, plan *scheduling.Plan) *judge {
	return &judge{
		Report: report, world: w, plan: plan,
		machines: make(map[string]*machine), named: make(map[string]bool), used: make(map[string]int), listed: make(map[string]int),
	}
}

// bound proves the lower bound anew from the certificate.
func (j *judge) bound() {
	placed := make(map[string]bool)
	for i := range j.plan.Launches {
		for _, name := range j.plan.Launches[i].Pods {
			placed[name] = true
		}
	}
	for _, a := range j.plan.Existing {
		for _, name := range a.Pods {
			placed[name] = true
		}
	}
	c := newClaim(j.world, j.plan.Summary.LowerBoundPerHour, func(name string) bool { return placed[name] }, j.add)
	if c.at = make(map[string]*place); j.topology != nil {
		for _, b := range j.booked {
			c.at[b.name] = b.host.place
		}
	}
	c.judge(j.plan.Summary.Certificate)
}

// places judges what is bought and who goes where, but for rules that depend on the order in
// which pods bind.
func (j *judge) places() {
	for i := range j.plan.Launches {
		j.launch(&j.plan.Launches[i])
	}
	j.existing()
	j.limits()
	j.reservationCounts()
	j.stand()
	j.exclusiveClaims()
	j.sharedVolumes()
	j.standingVolumes()
	j.shareOfWorkloads()
}
