package scheduling

import (
	"strconv"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Certificate proves a lower bound on price, by what the pods of a plan are worth: if
// no machine on sale can hold more worth than it costs, then no plan that places the
// pods costs less than they are worth together, less what free capacity of running
// nodes and counted reservations could hold. All worths are natural numbers in
// nano-USD per hour divided by 2^Scale.
//
// The capacity of a machine counts up to what all placed pods request together that
// could be there, since it can hold no more than that; those that are worth nothing by
// themselves are left out.
//
// It holds over all plans that place at least the placed pods on what NodePools may buy
// now and on the nodes there are, and in which every node keeps these rules: requests are
// within what daemons and running pods leave; labels, taints, volumes' places and host
// ports suit every pod; no node has two pods of which each is selected by the other's required
// anti-affinity per host; and unless pods are placed freely, no node has more pods of a spread over
// hosts in Apart than its skew, since a node without any may always come. Plans may do as they like
// about anything else: pool limits, weights, minValues, wishes, spread, affinity, anti-affinity over
// more than a host, and how many volumes a node takes. What keeps those rules, too, costs no less.
//
// With Spreads they keep the constraints that are named there, too: required anti-affinity, and
// topology spread as plans of a [Policy] do, over all domains that have nodes at which the
// constraint looks, and those in which any of the pods named could have a machine of its own,
// whether or not the plan has a node there. Kube-scheduler looks at domains with nodes alone, so
// that with all pods in one domain it would be content; such a plan may cost less. Where a NodePool
// asks for minValues, the domain has to have so many machines that would do. Domains to which only
// pools lead that leave a label open for which a DaemonSet asks, or in which a pool's limits allow
// no machine even at first, are not among those, nor, where spot machines have to leave a choice,
// those with spot machines alone.
//
// With Balances they keep the constraints that are named there once all pods are bound, too:
// a domain with pods that have the constraint has no more pods that it counts than the emptiest
// of the same domains, and the skew. Whichever of those pods is tried last, it finds a place
// then. Where pods are not counted by the constraint that they have, a plan that does without
// may bind all the same, as long as they come first.
type Certificate struct {
	// Kind is "resource", "cover", "assignment", "pattern" or "parted".
	//
	// With "resource", a pod is worth the sum of its requests times Values, and a
	// machine can hold its capacity times Values.
	//
	// With "cover", no choice of whole machines on sale that costs less than the bound has
	// together all that the placed pods request beyond what is free on running nodes; or none
	// of those that let them in has all that those placed pods request that fit no running
	// node. So many of one, so many of another: whoever checks goes through the choices, and
	// Values help to see which lead nowhere.
	//
	// With "assignment", Values name one pod of each class of equal pods, and Vectors
	// show for each machine what it can hold: by any vector, its capacity times the
	// vector, and in addition, for each class that could be there, what a pod is worth
	// beyond its requests times the vector, as often as the machine holds such pods
	// when nothing else is there.
	//
	// "pattern" is the same, but for some machines no vector shows enough: whoever checks
	// has to find that no pods that fit there together are worth more than the machine
	// costs. The vectors help to rule most of them out.
	//
	// "parted" tells cases apart, each of which has a certificate of its own.
	Kind string `json:"kind"`
	// Values is the worth of one base unit (millicore, byte, pod) of each resource, or
	// else the worth of the pod that namespace/name names and of all pods
	// that ask for the same. What is not listed is worth nothing.
	Values map[string]string `json:"values"`
	// Vectors are worths of one base unit of each resource. There are none with "resource"
	// and "cover", and neither is there anything in the next three fields.
	Vectors []map[string]string `json:"vectors,omitempty"`
	// Apart are terms of required anti-affinity per host, or spreads over hosts that must hold. Each
	// stands for the pods of which a node holds only so many, one or the skew, in any order of
	// binding: those placed pods that it selects and that have such a term themselves, for the
	// same placed pods. To the vectors they are one more resource, under the name that [ApartKey]
	// gives: such pods request one of it, and every node with a host name has so many, less the
	// pods that run there that the term selects.
	Apart []ApartTerm `json:"apart,omitempty"`
	// Steps count resources in whole steps. To the vectors they are one more resource, under
	// the name that [StepKey] gives: pods request as many, and machines have as many, as there
	// are whole steps in what they request and have.
	Steps []Step `json:"steps,omitempty"`
	// TopologyKey is the label whose values are the domains of Spreads, Domains, Balances and Parted:
	// one that pods are spread over. "" is topology.kubernetes.io/zone.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Spreads say which pods are worth less in some domains, because only so many of them may
	// be there, or one.
	Spreads []DomainSpread `json:"spreads,omitempty"`
	// Domains are what pods are worth domain by domain, with "assignment". Vectors and Spreads are
	// empty then, and Values say what pods pay, wherever they are; what is left of that to a
	// domain at most is taken off the bound, see [DomainBalance].
	Domains map[string]DomainWorths `json:"domains,omitempty"`
	// Balances say what domains owe each other for pods of constraints.
	Balances []DomainBalance `json:"balances,omitempty"`
	// Parted are two cases, with "parted", which prove the bound. Values say then what pods
	// are worth where no cases are told apart, and prove nothing.
	Parted *PartedCertificate `json:"parted,omitempty"`
	// Multipliers belong to the cases that this one is part of, the outermost first: in USD per
	// hour, what machines counted there cost more where they are at most so many, or less
	// where they are more than that. Machines hold no more worth than they cost so, and what
	// the multipliers come to for as many machines is taken off the bound, or added to it.
	Multipliers []offerings.Price `json:"multipliers,omitempty"`
	// Scale is the exponent of the unit in which Values and Vectors are given.
	Scale int `json:"scale"`
}

// PartedCertificate tells plans apart by how many machines they buy, in Domain if it names one,
// that cost at least From in USD per hour: at most AtMost, or more. Any plan is of one case or the other, and the bound
// holds if both certificates prove it. Both are "parted" again or an "assignment".
type PartedCertificate struct {
	From   offerings.Price `json:"from"`
	Domain string          `json:"domain,omitempty"`
	AtMost int64           `json:"atMost"`
	Fewer  *Certificate    `json:"fewer"`
	More   *Certificate    `json:"more"`
}

// DomainSpread names a pod with a constraint of topology spread over domains that must hold and
// counts the pod itself. It says what those placed pods are worth less, domain by domain, that
// have the same constraint, count for it and ask the same of their nodes. If a pod has none, it
// names the first required term of its anti-affinity over domains that selects the pod itself, for
// those placed pods of which that is so, too, by the same term: of them a domain has one at most,
// and none where a pod runs that the term selects. Every node has a domain then, and all on sale.
//
// How many of them there are in each domain at least and at most follows from the
// constraint: from how many pods it counts that run there or wait, and from which domains
// are sure to be looked at when it is checked. The least number of pods of a domain, whichever
// they are, are worth less by Less, and those beyond it by Further. What this takes off the
// worth of all of them is reckoned for the plan that loses most: with as many of those beyond
// as there may be in the domains where Further is greatest.
type DomainSpread struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Less is by domain, in the unit of Values. Where it is more than a pod's worth, the pod is
	// worth nothing. What is not listed is 0.
	Less map[string]string `json:"less"`
	// Further is the same for pods beyond the least number; nil is Less, and no pod is one
	// or the other.
	Further map[string]string `json:"further,omitempty"`
}

// DomainWorths are what pods are worth in a domain, and vectors that show of each machine there
// that it holds no more worth than it costs. Values and Vectors are those of an assignment.
// Domains in which anything is on sale have to be listed.
type DomainWorths struct {
	Values  map[string]string   `json:"values"`
	Vectors []map[string]string `json:"vectors,omitempty"`
}

// DomainBalance names a pod with a constraint of topology spread over domains that must hold, and
// looks at all nodes that have a domain and a host name. All pods that the constraint counts
// run or are placed. Those placed pods have it, too, that are spread over domains with the same
// skew, by a selector that selects the same pods, at all nodes.
//
// A domain gets Raised for each pod there that the constraint counts, if it is one of the domains
// of which the emptiest counts. If any of its pods have the constraint, it pays Taken for each
// that it counts, but for as many as the skew; in all domains together no more is taken than
// raised. Beside that it gets of each pod what that pays, less what it is worth there. What
// comes of that for whichever pods it is best to have there is what is left to a domain.
type DomainBalance struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Raised and Taken are by domain, in the unit of Values. What is not listed is 0.
	Raised map[string]string `json:"raised,omitempty"`
	Taken  map[string]string `json:"taken,omitempty"`
}

// ApartTerm names a required term of anti-affinity, or a spread over hosts.
type ApartTerm struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Term is the place of the term in the pod's required anti-affinity, from 0.
	Term int `json:"term"`
	// Spread says that it is the pod's spread over hosts instead, the one that must hold.
	Spread bool `json:"spread,omitempty"`
}

// ApartKey is the name by which vectors value the pods of an apart term, by its place in
// Certificate.Apart. No resource has such a name.
func ApartKey(place int) string { return "apart:" + strconv.Itoa(place) }

// Step counts a resource in whole steps.
type Step struct {
	// Resource is the name of what is counted.
	Resource string `json:"resource"`
	// Size is that of a step in base units, above 0.
	Size int64 `json:"size"`
}

// StepKey is the name by which vectors value a step, by its place in Certificate.Steps.
// No resource has such a name.
func StepKey(place int) string { return "step:" + strconv.Itoa(place) }

// Spreading reports whether it holds of plans alone that keep constraints of topology spread.
func (c *Certificate) Spreading() bool {
	return c != nil && (len(c.Spreads) > 0 || len(c.Balances) > 0 || c.Parted != nil && c.Parted.Fewer.Spreading())
}

// The kinds of certificates.
const (
	ResourceKind   = "resource"
	AssignmentKind = "assignment"
	PatternKind    = "pattern"
	CoverKind      = "cover"
	PartedKind     = "parted"
)
