package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/binding"
	"github.com/plimsoll-go/plimsoll/scheduling/verify/internal/certificate"
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

// err returns the report as an error, nil without violations.
func (r *Report) err() error {
	if len(r.Violations) == 0 {
		return nil
	}
	return r
}

func (r *Report) add(code Code, object, format string, args ...any) {
	r.Violations = append(r.Violations, Violation{Code: code, Object: object, Detail: fmt.Sprintf(format, args...)})
}

// fault adds a fault of a certificate.
func (r *Report) fault(code, object, format string, args ...any) {
	r.add(Code(code), object, format, args...)
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
	CodeNoPlan            Code = "no-plan"             // there is no plan
	CodePodMissing        Code = "pod-missing"         // a pending pod stands nowhere
	CodePodDuplicated     Code = "pod-duplicated"      // a pod stands more than once
	CodePodUnknown        Code = "pod-unknown"         // the problem has no such pod
	CodePodNotPending     Code = "pod-not-pending"     // the pod is bound, finished, being deleted, a daemon's or a kubelet's own
	CodePodHeld           Code = "pod-held"            // a pod with a scheduling gate, a resource claim or a broken volume claim is planned
	CodeUnsorted          Code = "unsorted"            // a list is not in its documented order
	CodeNoReason          Code = "no-reason"           // a refused pod has no reason, one that is unknown or counts nothing, or none that names the objects that hold it
	CodeNoFix             Code = "no-fix"              // a refused pod has neither a fix nor the message that none was found, and nothing holds it
	CodeNoMessage         Code = "no-message"          // a refused pod has no message
	CodeRefusedForNothing Code = "refused-for-nothing" // a refused pod fits a node, or a machine that may still be bought
	CodeWeightIgnored     Code = "weight-ignored"      // a pod is in a pool although one of a higher weight can hold it
)

// The rules about launches.
const (
	CodeLaunchName         Code = "launch-name"         // the name is empty or taken
	CodeLaunchEmpty        Code = "launch-empty"        // no pods
	CodeLaunchPrice        Code = "launch-price"        // not the price of the first option
	CodeLaunchRequests     Code = "launch-requests"     // not the requests of the pods and of the first option's daemons
	CodeLaunchLabels       Code = "launch-labels"       // a label is missing, or is none that the pool gives
	CodeLaunchTaints       Code = "launch-taints"       // not the taints of the pool
	CodeLaunchRequirements Code = "launch-requirements" // the pool's requirements are not carried, or an option does not meet the launch's
	CodePoolUnknown        Code = "pool-unknown"        // the problem has no such pool
	CodePoolClosed         Code = "pool-closed"         // the pool is static or being deleted
	CodeNoOptions          Code = "no-options"          // no option to ask the provider for
	CodeTooManyOptions     Code = "too-many-options"    // more than the limit, and minValues does not need them
	CodeMinValues          Code = "min-values"          // too few distinct values over the options
	CodeWorkloadShare      Code = "workload-share"      // more pods of a workload on one machine or node than its share
	CodeFlexibility        Code = "flexibility"         // spot options that leave too little choice
	CodeLimits             Code = "limits"              // the pool's limits are exceeded
	CodeReservation        Code = "reservation"         // a reservation holds fewer machines
)

// The rules about single options.
const (
	CodeOptionDuplicated    Code = "option-duplicated"    // the launch lists it twice
	CodeOptionOrder         Code = "option-order"         // not in the order of the ranking
	CodeOptionPrice         Code = "option-price"         // not the catalog's price
	CodeOptionInterruption  Code = "option-interruption"  // not the catalog's interruption rate
	CodeOptionEstimated     Code = "option-estimated"     // not the fields that the catalog marks as estimated
	CodeTypeUnknown         Code = "type-unknown"         // the pool's catalog has no such type
	CodeOfferingUnknown     Code = "offering-unknown"     // the type is not sold so
	CodeOfferingUnavailable Code = "offering-unavailable" // the offering cannot be bought now
	CodePoolRequirements    Code = "pool-requirements"    // the pool may not buy it
	CodeOptionExcluded      Code = "option-excluded"      // the settings exclude it: a filter, its size or its capacity type
)

// The rules about pods and the nodes and options that they are on.
const (
	CodeNodeAffinity   Code = "node-affinity"   // node selector or required node affinity
	CodeTaints         Code = "taints"          // an untolerated taint
	CodeHostPorts      Code = "host-ports"      // a port is taken
	CodeResources      Code = "resources"       // not enough of a resource
	CodeNodeUnknown    Code = "node-unknown"    // the problem has no such node
	CodeNodeLeaving    Code = "node-leaving"    // the node is being deleted or disrupted
	CodeNodeDuplicated Code = "node-duplicated" // the node is listed twice
	CodeNodeEmpty      Code = "node-empty"      // the node is listed without pods

	CodeNominationIgnored Code = "nomination-ignored" // a pod is not where it is nominated, and could be
)

// The rules about volumes.
const (
	CodeVolume      Code = "volume"        // a volume cannot be used on the node or option
	CodeVolumeInUse Code = "volume-in-use" // two pods with a claim that one pod at a time may use
	CodeVolumeApart Code = "volume-apart"  // pods that wait for one volume may be in different zones
	CodeVolumeGone  Code = "volume-gone"   // no volume is left for a claim where its pods are
	CodeAttachLimit Code = "attach-limit"  // more volumes of a driver than the node or option takes
)

// The rules between pods: topology terms. A plan keeps them if its pods can bind one by one.
const (
	CodeTopologySpread  Code = binding.Spread       // a domain would have too many pods, or the label is missing
	CodePodAffinity     Code = binding.Affinity     // no pod that it must be with is there
	CodePodAntiAffinity Code = binding.AntiAffinity // a pod is there that it must not be with, or that must not be with it
	CodeOptionTopology  Code = "option-topology"    // an option differs from the first in a label that topology terms depend on
)

// The rules about the summary and the bound.
const (
	CodeSummaryCounts        Code = "summary-counts"      // pods, placed, nodes or pods without requests
	CodeSummaryPrice         Code = "summary-price"       // not the sum of the launches' prices
	CodeSummaryExpected      Code = "summary-expected"    // not that sum with the costs beside prices
	CodeSummaryGap           Code = "summary-gap"         // not (price − bound) ÷ bound
	CodeSummaryRealised      Code = "summary-realised"    // less than the machines of the plan cost, worst below expected, or pods that it does not place
	CodeSummaryStatus        Code = "summary-status"      // unknown, or optimal while price and bound differ
	CodeSummaryShares        Code = "summary-shares"      // the split by pool or capacity type does not add up
	CodeSummaryResources     Code = "summary-resources"   // the split of a resource does not add up
	CodeBoundAbovePrice      Code = "bound-above-price"   // the lower bound is negative or above the price
	CodeBoundUnproven        Code = certificate.Unproven  // the certificate proves less than the bound
	CodeCertificateMissing   Code = certificate.Missing   // a bound above 0 without a certificate
	CodeCertificateMalformed Code = certificate.Malformed // a kind, scale, case, term, spread or domain that cannot be read, or a value that is not a natural number
	CodeCertificateOption    Code = certificate.Overfull  // a machine holds more worth than it costs
)

// The rules about the steps of plans that disrupt nodes. The rules about launches, nodes and pods hold for steps,
// too.
const (
	CodeStepEmpty          Code = "step-empty"          // drains no node and moves no pod
	CodeStepReason         Code = "step-reason"         // not a reason that the node gives, or not one for which nodes are to be disrupted
	CodeNotDisruptable     Code = "not-disruptable"     // a node without a pool, of a static one, not ready, awaiting pods, or of unknown price
	CodeDoNotDisrupt       Code = "do-not-disrupt"      // a node, or a pod on it, asks to be left alone
	CodeBarePod            Code = "bare-pod"            // a pod without a controller is to stay where it is
	CodePolicy             Code = "policy"              // the pool's policy or a consolidateAfter of Never forbids it
	CodeTooSoon            Code = "too-soon"            // consolidateAfter or the least lifetime has not passed
	CodeNodeBudget         Code = "node-budget"         // more nodes than the pool's budgets let go at once
	CodePodBudget          Code = "pod-budget"          // more pods than a PodDisruptionBudget lets go at once, or pods of one that lets none go
	CodeBudgetUse          Code = "budget-use"          // not the step's use of budgets
	CodeEvictionMissing    Code = "eviction-missing"    // a pod that has to live on loses its node and is not evicted
	CodeEvictionUnknown    Code = "eviction-unknown"    // no such pod, not on that node, or a pod that stays or needs no place
	CodeMovedTwice         Code = "moved-twice"         // a pod that moves twice, or a machine that is bought and drained
	CodeLanding            Code = "landing"             // a place that is not there, goes too, or receives no pods, or a launch that is for other pods
	CodeWave               Code = "wave"                // not counted from 1, or pods of the wave cannot bind while those of later ones are where they were
	CodeStepSaving         Code = "step-saving"         // not the price of the drained nodes less that of the launches
	CodeStepCost           Code = "step-cost"           // not the disruption cost of nodes and evictions
	CodeStepScore          Code = "step-score"          // not the share saved over the share disrupted
	CodeSavingTooSmall     Code = "saving-too-small"    // less than is asked for, with the dearest options of the launches
	CodeBelowThreshold     Code = "below-threshold"     // not worth the disruption in a pool with policy Balanced
	CodeSpotToSpot         Code = "spot-to-spot"        // spot that takes the place of spot without enough choice
	CodeNodeVerdict        Code = "node-verdict"        // not exactly one verdict for a node, or another than its fate
	CodeStepRisk           Code = "step-risk"           // an unknown risk, or a pod without a controller that is evicted untold
	CodeSummaryComposition Code = "summary-composition" // the composition of a rebuilt cluster does not add up to its nodes and prices
	CodeSummaryRebuilt     Code = "summary-rebuilt"     // a cluster that is rebuilt costs more than after the steps
	CodeSummaryBlocked     Code = "summary-blocked"     // a blocked saving is nothing, or more than the cluster costs
	CodeCordon             Code = "cordon"              // not the nodes that steps remove and that no earlier step sends pods to
	CodeSummaryFrontier    Code = "summary-frontier"    // not the savings and moves after each step
)

// Codes returns every code, in the order in which they are documented.
func Codes() []Code {
	return []Code{
		CodeNoPlan, CodePodMissing, CodePodDuplicated, CodePodUnknown, CodePodNotPending, CodePodHeld, CodeUnsorted, CodeNoReason, CodeNoFix, CodeNoMessage, CodeRefusedForNothing, CodeWeightIgnored,
		CodeLaunchName, CodeLaunchEmpty, CodeLaunchPrice, CodeLaunchRequests, CodeLaunchLabels, CodeLaunchTaints, CodeLaunchRequirements, CodePoolUnknown, CodePoolClosed,
		CodeNoOptions, CodeTooManyOptions, CodeMinValues, CodeWorkloadShare, CodeFlexibility, CodeLimits, CodeReservation,
		CodeOptionDuplicated, CodeOptionOrder, CodeOptionPrice, CodeOptionInterruption, CodeOptionEstimated, CodeTypeUnknown, CodeOfferingUnknown, CodeOfferingUnavailable, CodePoolRequirements, CodeOptionExcluded,
		CodeNodeAffinity, CodeTaints, CodeHostPorts, CodeResources, CodeNodeUnknown, CodeNodeLeaving, CodeNodeDuplicated, CodeNodeEmpty, CodeNominationIgnored,
		CodeVolume, CodeVolumeInUse, CodeVolumeApart, CodeVolumeGone, CodeAttachLimit,
		CodeTopologySpread, CodePodAffinity, CodePodAntiAffinity, CodeOptionTopology,
		CodeSummaryCounts, CodeSummaryPrice, CodeSummaryExpected, CodeSummaryGap, CodeSummaryRealised, CodeSummaryStatus, CodeSummaryShares, CodeSummaryResources,
		CodeBoundAbovePrice, CodeBoundUnproven, CodeCertificateMissing, CodeCertificateMalformed, CodeCertificateOption,
		CodeStepEmpty, CodeStepReason, CodeNotDisruptable, CodeDoNotDisrupt, CodeBarePod, CodePolicy, CodeTooSoon, CodeNodeBudget, CodePodBudget, CodeBudgetUse,
		CodeEvictionMissing, CodeEvictionUnknown, CodeMovedTwice, CodeLanding, CodeWave, CodeStepSaving, CodeStepCost, CodeStepScore, CodeSavingTooSmall, CodeBelowThreshold,
		CodeSpotToSpot, CodeNodeVerdict, CodeStepRisk, CodeSummaryRebuilt, CodeSummaryBlocked, CodeSummaryComposition, CodeSummaryFrontier, CodeCordon,
	}
}
