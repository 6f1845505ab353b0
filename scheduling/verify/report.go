package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/rule"
)

// shownViolations bounds how many violations an error text spells out.
const shownViolations = 10

// Violation is one rule that a plan breaks, at one object.
type Violation struct {
	// Code names the rule; see [Codes].
	Code Code
	// Object is where the rule is broken, as kind/name: "pod/shop/web-0",
	// "launch/default-1/options[2]", "node/ip-10-0-0-1", "summary".
	Object string
	// Detail states the value found and the one expected.
	Detail string
}

// Error returns the violation as one line: object, rule, detail.
func (v Violation) Error() string {
	return fmt.Sprintf("%s: %s: %s", v.Object, v.Code, v.Detail)
}

// Report is the error for a plan that breaks rules. It holds every violation, in the order in which the plan is read.
type Report struct {
	// Violations holds at least one violation.
	Violations []Violation
}

// Error returns the number of violations and the first ten of them, one a line.
func (r *Report) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "plan breaks %d %s", len(r.Violations), plural("rule", len(r.Violations)))
	for i, v := range r.Violations {
		if i == shownViolations {
			fmt.Fprintf(&b, "\n  and %d more", len(r.Violations)-shownViolations)
			break
		}
		b.WriteString("\n  ")
		b.WriteString(v.Error())
	}
	return b.String()
}

// Unwrap returns the violations, so that errors.As finds a [Violation].
func (r *Report) Unwrap() []error {
	errs := make([]error, len(r.Violations))
	for i, v := range r.Violations {
		errs[i] = v
	}
	return errs
}

// Has reports whether any violation carries the code.
func (r *Report) Has(c Code) bool {
	return slices.ContainsFunc(r.Violations, func(v Violation) bool { return v.Code == c })
}

// Count returns the number of violations of each code that occurs.
func (r *Report) Count() map[Code]int {
	n := make(map[Code]int)
	for _, v := range r.Violations {
		n[v.Code]++
	}
	return n
}

// errorOf returns the violations found as a *[Report], nil without any.
func errorOf(found *rule.Report) error {
	if len(found.Violations) == 0 {
		return nil
	}
	r := &Report{}
	for _, v := range found.Violations {
		r.Violations = append(r.Violations, Violation{Code: Code(v.Code), Object: v.Object, Detail: v.Detail})
	}
	return r
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// Code names one rule that a plan can break. The set is closed and the names are stable.
type Code string

// The rules about the plan as a whole and about where each pod stands.
const (
	CodeNoPlan            Code = rule.NoPlan            // there is no plan
	CodePodMissing        Code = rule.PodMissing        // a pending pod stands nowhere
	CodePodDuplicated     Code = rule.PodDuplicated     // a pod stands more than once
	CodePodUnknown        Code = rule.PodUnknown        // the problem has no such pod
	CodePodNotPending     Code = rule.PodNotPending     // the pod is bound, finished, being deleted, a daemon's or a kubelet's own
	CodePodHeld           Code = rule.PodHeld           // a pod with a scheduling gate, a resource claim or a broken volume claim is planned
	CodeUnsorted          Code = rule.Unsorted          // a list is not in its documented order
	CodeNoReason          Code = rule.NoReason          // a refused pod has no reason, one that is unknown or counts nothing, or none that names the objects that hold it
	CodeNoFix             Code = rule.NoFix             // a refused pod has neither a fix nor the message that none was found, and nothing holds it
	CodeNoMessage         Code = rule.NoMessage         // a refused pod has no message
	CodeRefusedForNothing Code = rule.RefusedForNothing // a refused pod fits an existing node, or one that may still be launched
	CodeWeightIgnored     Code = rule.WeightIgnored     // a pod is in a pool although one of a higher weight can hold it
)

// The rules about launches.
const (
	CodeLaunchName         Code = rule.LaunchName         // the name is empty or taken
	CodeLaunchEmpty        Code = rule.LaunchEmpty        // no pods
	CodeLaunchPrice        Code = rule.LaunchPrice        // not the price of the first option
	CodeLaunchRequests     Code = rule.LaunchRequests     // not the requests of the pods and of the first option's daemons
	CodeLaunchLabels       Code = rule.LaunchLabels       // a label is missing, or is none that the pool gives
	CodeLaunchTaints       Code = rule.LaunchTaints       // not the taints of the pool
	CodeLaunchRequirements Code = rule.LaunchRequirements // the pool's requirements are not carried, or an option does not meet the launch's
	CodePoolUnknown        Code = rule.PoolUnknown        // the problem has no such pool
	CodePoolClosed         Code = rule.PoolClosed         // the pool is static or being deleted
	CodeNoOptions          Code = rule.NoOptions          // no option to ask the provider for
	CodeTooManyOptions     Code = rule.TooManyOptions     // more than the limit, and minValues does not need them
	CodeMinValues          Code = rule.MinValues          // too few distinct values over the options
	CodeWorkloadShare      Code = rule.WorkloadShare      // more pods of a workload on one node than its share
	CodeSpotShare          Code = rule.SpotShare          // more pods of a SpotPolicy on spot nodes than it allows
	CodeFlexibility        Code = rule.Flexibility        // spot options that leave too little choice
	CodeLimits             Code = rule.Limits             // the pool's limits are exceeded
	CodeReservation        Code = rule.Reservation        // a reservation holds fewer nodes
)

// The rules about single options.
const (
	CodeOptionDuplicated    Code = rule.OptionDuplicated    // the launch lists it twice
	CodeOptionOrder         Code = rule.OptionOrder         // not in the order of the ranking
	CodeOptionPrice         Code = rule.OptionPrice         // not the catalog's price
	CodeOptionInterruption  Code = rule.OptionInterruption  // not the catalog's interruption rate
	CodeOptionEstimated     Code = rule.OptionEstimated     // not the fields that the catalog marks as estimated
	CodeTypeUnknown         Code = rule.TypeUnknown         // the pool's catalog has no such type
	CodeOfferingUnknown     Code = rule.OfferingUnknown     // the type is not sold so
	CodeOfferingUnavailable Code = rule.OfferingUnavailable // the offering cannot be launched now
	CodePoolRequirements    Code = rule.PoolRequirements    // the pool may not launch it
	CodeOptionExcluded      Code = rule.OptionExcluded      // the settings exclude it: a filter, its size or its capacity type
)

// The rules about pods and the nodes and options that they are on.
const (
	CodeNodeAffinity   Code = rule.NodeAffinity   // node selector or required node affinity
	CodeSpotPolicy     Code = rule.SpotPolicy     // a SpotPolicy keeps the pod off spot nodes
	CodeTaints         Code = rule.Taints         // an untolerated taint
	CodeHostPorts      Code = rule.HostPorts      // a port is taken
	CodeResources      Code = rule.Resources      // not enough of a resource
	CodeNodeUnknown    Code = rule.NodeUnknown    // the problem has no such node
	CodeNodeLeaving    Code = rule.NodeLeaving    // the node is being deleted or disrupted
	CodeNodeDuplicated Code = rule.NodeDuplicated // the node is listed twice
	CodeNodeEmpty      Code = rule.NodeEmpty      // the node is listed without pods

	CodeNominationIgnored Code = rule.NominationIgnored // a pod is not where it is nominated, and could be
)

// The rules about volumes.
const (
	CodeVolume      Code = rule.Volume      // a volume cannot be used on the node or option
	CodeVolumeInUse Code = rule.VolumeInUse // two pods with a claim that one pod at a time may use
	CodeVolumeApart Code = rule.VolumeApart // pods that share an unbound volume may be in different zones
	CodeVolumeGone  Code = rule.VolumeGone  // no volume is left for a claim where its pods are
	CodeAttachLimit Code = rule.AttachLimit // more volumes of a driver than the node or option takes
)

// The rules between pods: topology terms. A plan keeps them if its pods can bind one by one.
const (
	CodeTopologySpread  Code = rule.TopologySpread  // a domain would have too many pods, or the label is missing
	CodePodAffinity     Code = rule.PodAffinity     // no pod that it must be with is there
	CodePodAntiAffinity Code = rule.PodAntiAffinity // a pod is there that it must not be with, or that must not be with it
	CodeOptionTopology  Code = rule.OptionTopology  // an option differs from the first in a label that topology terms depend on
)

// The rules about the summary and the bound.
const (
	CodeSummaryCounts          Code = rule.SummaryCounts          // pods, placed, nodes or pods without requests
	CodeSummaryPrice           Code = rule.SummaryPrice           // not the sum of the launches' prices
	CodeSummaryExpected        Code = rule.SummaryExpected        // not that sum with the costs beside prices
	CodeSummaryGap             Code = rule.SummaryGap             // not (price − bound) ÷ bound
	CodeSummaryAfterScheduling Code = rule.SummaryAfterScheduling // less than the nodes of the plan cost, worst below expected, or pods that it does not place
	CodeSummaryStatus          Code = rule.SummaryStatus          // unknown, or optimal while price and bound differ
	CodeSummaryShares          Code = rule.SummaryShares          // the split by pool or capacity type does not add up
	CodeSummaryResources       Code = rule.SummaryResources       // the split of a resource does not add up
	CodeRoomKept               Code = rule.RoomKept               // room that is kept for a pod that is not virtual, or not kept for a virtual pod that has room
	CodeSummaryRoomKept        Code = rule.SummaryRoomKept        // the room of virtual pods is missing or does not add up, or costs more than the plan
	CodeSummarySpotShares      Code = rule.SummarySpotShares      // not the shares of the SpotPolicies
	CodeBoundAbovePrice        Code = rule.BoundAbovePrice        // the lower bound is negative or above the price
	CodeBoundUnproven          Code = rule.BoundUnproven          // the certificate proves less than the bound
	CodeCertificateMissing     Code = rule.CertificateMissing     // a bound above 0 without a certificate
	CodeCertificateMalformed   Code = rule.CertificateMalformed   // a kind, scale, case, term, spread or domain that cannot be read, or a value that is not a natural number
	CodeCertificateOption      Code = rule.CertificateOption      // a node holds more worth than it costs
)

// The rules about the steps of plans that disrupt nodes. The rules about launches, nodes and pods hold for steps,
// too.
const (
	CodeStepEmpty          Code = rule.StepEmpty          // drains no node and moves no pod
	CodeStepReason         Code = rule.StepReason         // not a reason that the node gives, or not one for which nodes are to be disrupted
	CodeNotDisruptable     Code = rule.NotDisruptable     // a node without a pool, of a static one, not ready, awaiting pods, or of unknown price
	CodeDoNotDisrupt       Code = rule.DoNotDisrupt       // a node, or a pod on it, asks to be left alone
	CodeBarePod            Code = rule.BarePod            // a pod without a controller is to stay where it is
	CodePolicy             Code = rule.Policy             // the pool's policy or a consolidateAfter of Never forbids it
	CodeTooSoon            Code = rule.TooSoon            // consolidateAfter or the least lifetime has not passed
	CodeNodeBudget         Code = rule.NodeBudget         // more nodes than the pool's budgets let go at once
	CodePodBudget          Code = rule.PodBudget          // more pods than a PodDisruptionBudget lets go at once, or pods of one that lets none go
	CodeBudgetUse          Code = rule.BudgetUse          // not the step's use of budgets
	CodeEvictionMissing    Code = rule.EvictionMissing    // a pod that has to live on loses its node and is not evicted
	CodeEvictionUnknown    Code = rule.EvictionUnknown    // no such pod, not on that node, or a pod that stays or needs no place
	CodeMovedTwice         Code = rule.MovedTwice         // a pod that moves twice, or a node that is launched and drained
	CodeLanding            Code = rule.Landing            // a place that is not there, goes too, or receives no pods, or a launch that is for other pods
	CodeWave               Code = rule.Wave               // not counted from 1, or pods of the wave cannot bind while those of later ones are where they were
	CodeStepSaving         Code = rule.StepSaving         // not the price of the drained nodes less that of the launches
	CodeStepCost           Code = rule.StepCost           // not the disruption cost of nodes and evictions
	CodeStepScore          Code = rule.StepScore          // not the share saved over the share disrupted
	CodeSavingTooSmall     Code = rule.SavingTooSmall     // less than is asked for, with the most expensive options of the launches
	CodeBelowThreshold     Code = rule.BelowThreshold     // not worth the disruption in a pool with policy Balanced
	CodeSpotToSpot         Code = rule.SpotToSpot         // spot that takes the place of spot without enough choice
	CodeNodeVerdict        Code = rule.NodeVerdict        // not exactly one verdict for a node, or another than its fate
	CodeStepRisk           Code = rule.StepRisk           // an unknown risk, or a pod without a controller that is evicted untold
	CodeSummaryComposition Code = rule.SummaryComposition // the composition of a rebuilt cluster does not add up to its nodes and prices
	CodeSummaryRebuilt     Code = rule.SummaryRebuilt     // a cluster that is rebuilt costs more than after the steps
	CodeSummaryBlocked     Code = rule.SummaryBlocked     // a blocked saving is of no amount and no node, or more than the cluster costs
	CodeCordon             Code = rule.Cordon             // not the nodes that steps remove and that no earlier step sends pods to
	CodeSummaryFrontier    Code = rule.SummaryFrontier    // not the savings and moves after each step
)

// Codes returns every code, in the order in which they are documented.
func Codes() []Code {
	return []Code{
		CodeNoPlan, CodePodMissing, CodePodDuplicated, CodePodUnknown, CodePodNotPending, CodePodHeld, CodeUnsorted, CodeNoReason, CodeNoFix, CodeNoMessage, CodeRefusedForNothing, CodeWeightIgnored,
		CodeLaunchName, CodeLaunchEmpty, CodeLaunchPrice, CodeLaunchRequests, CodeLaunchLabels, CodeLaunchTaints, CodeLaunchRequirements, CodePoolUnknown, CodePoolClosed,
		CodeNoOptions, CodeTooManyOptions, CodeMinValues, CodeWorkloadShare, CodeSpotShare, CodeFlexibility, CodeLimits, CodeReservation,
		CodeOptionDuplicated, CodeOptionOrder, CodeOptionPrice, CodeOptionInterruption, CodeOptionEstimated, CodeTypeUnknown, CodeOfferingUnknown, CodeOfferingUnavailable, CodePoolRequirements, CodeOptionExcluded,
		CodeNodeAffinity, CodeSpotPolicy, CodeTaints, CodeHostPorts, CodeResources, CodeNodeUnknown, CodeNodeLeaving, CodeNodeDuplicated, CodeNodeEmpty, CodeNominationIgnored,
		CodeVolume, CodeVolumeInUse, CodeVolumeApart, CodeVolumeGone, CodeAttachLimit,
		CodeTopologySpread, CodePodAffinity, CodePodAntiAffinity, CodeOptionTopology,
		CodeSummaryCounts, CodeSummaryPrice, CodeSummaryExpected, CodeSummaryGap, CodeSummaryAfterScheduling, CodeSummaryStatus, CodeSummaryShares, CodeSummaryResources, CodeSummaryRoomKept, CodeRoomKept, CodeSummarySpotShares,
		CodeBoundAbovePrice, CodeBoundUnproven, CodeCertificateMissing, CodeCertificateMalformed, CodeCertificateOption,
		CodeStepEmpty, CodeStepReason, CodeNotDisruptable, CodeDoNotDisrupt, CodeBarePod, CodePolicy, CodeTooSoon, CodeNodeBudget, CodePodBudget, CodeBudgetUse,
		CodeEvictionMissing, CodeEvictionUnknown, CodeMovedTwice, CodeLanding, CodeWave, CodeStepSaving, CodeStepCost, CodeStepScore, CodeSavingTooSmall, CodeBelowThreshold,
		CodeSpotToSpot, CodeNodeVerdict, CodeStepRisk, CodeSummaryRebuilt, CodeSummaryBlocked, CodeSummaryComposition, CodeSummaryFrontier, CodeCordon,
	}
}
