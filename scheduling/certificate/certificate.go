package certificate

import (
	"strconv"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// Certificate proves a lower bound on price. It gives each pod a worth (a dual value of a linear
// program): if no node of any offering can hold pods of more worth than its price, then a plan that
// places the pods costs at least their total worth, less the worth that free capacity of running
// nodes and counted reservations could hold. Worths are natural numbers in nano-USD per hour
// divided by 2^Scale.
//
// The capacity of a node counts only up to the total requests of the placed pods that could run
// there, because it can hold no more than that. Pods that are worth 0 by themselves are left out
// of the total.
//
// # Plans for which the bound holds
//
// The bound holds for every plan that places at least the placed pods, on nodes that NodePools may
// launch now and on existing nodes, and in which every node keeps these rules:
//
//   - requests fit into the allocatable less daemons and running pods;
//   - labels, taints, topology of volumes and host ports suit every pod;
//   - no two pods of a node are each selected by the other's required anti-affinity per host;
//   - unless pods are placed freely, a node has at most maxSkew pods of a spread over hosts in
//     Apart, because a node without any may always join.
//
// The plan may break any other rule: limits and weights of NodePools, minValues, preferences,
// topology spread, affinity, anti-affinity over more than a host, and attach limits of volumes. A
// plan that keeps these rules, too, costs at least as much.
//
// With Spreads the plan must also keep the constraints named there: required anti-affinity, and
// topology spread as plans of a Policy keep it, i.e. over all domains with nodes that the
// constraint counts and all domains in which one of the named pods could have a new node,
// whether or not the plan has a node there. kube-scheduler counts only domains with nodes, so that
// it accepts all pods in one domain if no other has a node; a plan of this kind may cost less. The
// domain of a pool with minValues must offer as many types as these ask for. Not counted are
// domains that only pools lead to which leave open a label that a DaemonSet selects, domains in
// which a pool's limits admit not even a first node, and, with Policy.Flexibility, domains that
// have spot nodes only.
//
// With Balances the plan must also keep the constraints named there once all pods are bound: a
// domain with pods that have the constraint has at most maxSkew more of the counted pods than the
// emptiest domain, because otherwise the last of them could not have been bound. A plan in which
// pods have a constraint that does not count themselves may break this and still be bound, if these
// pods come first.
type Certificate struct {
	// Kind is "resource", "cover", "assignment", "pattern" or "branched".
	//
	// With "resource" a pod is worth the sum of its requests times Values, and a node holds at
	// most its capacity times Values.
	//
	// With "cover" no set of whole nodes that costs less than the bound has together the
	// resources that the placed pods request beyond the free capacity of running nodes; or no set
	// of nodes that admit them has the resources of the placed pods that fit no running node. A
	// checker enumerates the sets, e.g. 3 of one type and 2 of another; Values help it to skip sets.
	//
	// With "assignment" Values name one pod of each class of equal pods, and Vectors show a limit
	// for each node: by any one vector, the node holds at most its capacity times the vector
	// and, for each class that it admits, the part of a pod's worth above its requests times the
	// vector, as often as the node alone holds pods of the class.
	//
	// "pattern" is the same, but for some nodes no vector shows a limit at or below the price. A
	// checker must show itself that no set of pods that fits there is worth more than the price.
	// The vectors exclude most nodes.
	//
	// "branched" distinguishes two cases, each with a certificate of its own.
	Kind string `json:"kind"`
	// Values is the worth of one base unit (millicore, byte, pod) of each resource with "resource" and
	// "cover". Otherwise it is the worth of the pod named namespace/name, and of all pods with the same
	// requests and node constraints that the same Apart terms and Spreads count. Names that are missing
	// are worth 0.
	Values map[string]string `json:"values"`
	// Vectors are worths of one base unit of each resource. They and Spreads are empty with "resource"
	// and "cover"; Apart and Steps are empty with "resource".
	Vectors []map[string]string `json:"vectors,omitempty"`
	// Apart are required anti-affinity terms per host, or required spreads over hosts. Each caps the
	// placed pods on a node that it selects and that have the same term for the same pods: at 1, or
	// at maxSkew, in whichever order they are bound. Vectors have one more resource for each, named by
	// [ApartKey]: each of these pods requests 1, and each node with a host name has the cap, less
	// the running pods that the term selects.
	Apart []ApartTerm `json:"apart,omitempty"`
	// Steps count a resource in whole quanta. Vectors have one more resource for each, named by
	// [QuantumKey]: pods request, and nodes have, as many as there are whole quanta in their
	// requests and their capacity. E.g. with a quantum of 1000 millicores a node of 3900 has 3.
	Steps []Quantum `json:"steps,omitempty"`
	// Reserved is, by ID of a reservation, an amount that is taken off the bound: its nodes hold at most so much worth beyond
	// their price. A node that takes a share of what is left of the reservation holds at most the same share of the amount beyond
	// its price. For reservations that are missing a checker finds the amount itself, which takes long with "pattern".
	Reserved map[string]string `json:"reserved,omitempty"`
	// TopologyKey is the label whose values are the domains of Spreads, Domains, Balances and
	// Branched; "" is topology.kubernetes.io/zone.
	TopologyKey string `json:"topologyKey,omitempty"`
	// Spreads name pods that are worth less in some domains, because their constraints limit how
	// many of them may be there.
	Spreads []DomainSpread `json:"spreads,omitempty"`
	// Domains are the worths of pods by domain, with "assignment". Vectors and Spreads are empty
	// then, and Values are the amounts that pods pay in any domain. The amount that is left over to
	// a domain at most is taken off the bound, see [DomainBalance].
	Domains map[string]DomainDuals `json:"domains,omitempty"`
	// Balances are transfers between domains for the pods of constraints.
	Balances []DomainBalance `json:"balances,omitempty"`
	// Branched are the two cases of "branched", which prove the bound. Values are then the worths
	// without a distinction of cases, and prove no bound.
	Branched *BranchedCertificate `json:"branched,omitempty"`
	// Multipliers belong to the cases that contain this certificate, the outermost first: the amount
	// in USD per hour by which nodes that a case counts cost more (where their number has an
	// upper bound) or less (where it has a lower bound). Nodes hold at most the worth of
	// the changed price, and the multiplier times the bound on their number is taken off
	// the proven price, or added to it.
	Multipliers []offerings.Price `json:"multipliers,omitempty"`
	// Scale is the exponent of the unit of Values and Vectors.
	Scale int `json:"scale"`
}

// BranchedCertificate distinguishes plans by the number of nodes with a price of at least From that
// they launch, in Domain or, where that is "", anywhere: at most AtMost, or more. The bound holds if
// both certificates prove it, because every plan is one of the cases. Both are of kind "branched" or
// "assignment".
type BranchedCertificate struct {
	From   offerings.Price `json:"from"`
	Domain string          `json:"domain,omitempty"`
	AtMost int64           `json:"atMost"`
	Fewer  *Certificate    `json:"fewer"`
	More   *Certificate    `json:"more"`
}

// DomainSpread names a pod with a required topology spread constraint over domains that counts the
// pod itself. It lowers, by domain, the worth of the placed pods that have the same constraint, are
// counted by it and have the same node requirements. A pod without spread names the first required
// anti-affinity term over domains that selects the pod itself, for the placed pods with the same
// term that it selects: a domain has at most one of them, and none where a pod runs that the term
// selects. Every node and every offering must have a domain then.
//
// The least and the largest number of these pods in each domain follow from the constraint: from
// the running and pending pods that it counts and the domains that kube-scheduler is sure to count.
// The pods up to the least number of a domain lose Less, and further pods lose Further. The total
// loss is computed for the plan that loses most, i.e. with the further pods in the domains
// with the largest Further, as far as the largest numbers admit them.
type DomainSpread struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Less is by domain, in the unit of Values; domains that are missing have 0. A pod with a lower
	// worth than this is worth 0.
	Less map[string]string `json:"less"`
	// Further is the same for pods beyond the least number; nil is Less for all pods.
	Further map[string]string `json:"further,omitempty"`
}

// DomainDuals are the worths of pods in a domain, and vectors that show for each node there that
// it holds no more worth than its price. Values and Vectors are as in an assignment. In a domain that
// is not listed, pods are worth 0.
type DomainDuals struct {
	Values  map[string]string   `json:"values"`
	Vectors []map[string]string `json:"vectors,omitempty"`
}

// DomainBalance names a pod with a required topology spread constraint over domains that counts all
// nodes with a domain and a host name. All pods that the constraint counts are running or placed.
// The constraint is shared by the placed pods that are spread over all nodes of the same domains
// with the same maxSkew and a selector of the same pods.
//
// A domain receives Raised for each counted pod in it, if it is one of the domains whose emptiest
// sets the minimum of the spread. If one of its pods has the constraint, it pays Taken times the
// counted pods less maxSkew, which may be negative; the total of Taken may not exceed the total of Raised, because the skew
// between two domains bounds their difference. It also receives from each pod the amount that the
// pod pays, less the worth of the pod there. The amount that is left over to a domain is the total of
// these with the best choice of pods for it.
type DomainBalance struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Raised and Taken are by domain, in the unit of Values; domains that are missing have 0.
	Raised map[string]string `json:"raised,omitempty"`
	Taken  map[string]string `json:"taken,omitempty"`
}

// ApartTerm names a required anti-affinity term per host, or a required spread over hosts.
type ApartTerm struct {
	// Pod is namespace/name.
	Pod string `json:"pod"`
	// Term is the index of the term in the pod's required anti-affinity, from 0.
	Term int `json:"term"`
	// Spread selects the pod's required spread over hosts instead.
	Spread bool `json:"spread,omitempty"`
}

// ApartKey is the name of the resource that vectors have for an apart term, by its index in
// Certificate.Apart. No Kubernetes resource has a name with a colon.
func ApartKey(place int) string { return "apart:" + strconv.Itoa(place) }

// Quantum counts a resource in whole multiples of Size, e.g. CPU in whole cores.
type Quantum struct {
	// Resource is the name of the resource.
	Resource string `json:"resource"`
	// Size is in base units, above 0.
	Size int64 `json:"size"`
}

// QuantumKey is the name of the resource that vectors have for a quantum, by its index in
// Certificate.Steps. No Kubernetes resource has a name with a colon.
func QuantumKey(place int) string { return "step:" + strconv.Itoa(place) }

// Spreading reports whether the bound holds only for plans that keep topology spread constraints: because of the
// certificate's own Spreads or Balances, or because of those of one of its cases.
func (c *Certificate) Spreading() bool {
	return c != nil && (len(c.Spreads) > 0 || len(c.Balances) > 0 || c.Branched != nil && (c.Branched.Fewer.Spreading() || c.Branched.More.Spreading()))
}

// The kinds of certificates.
const (
	ResourceKind   = "resource"
	AssignmentKind = "assignment"
	PatternKind    = "pattern"
	CoverKind      = "cover"
	BranchedKind   = "branched"
)
