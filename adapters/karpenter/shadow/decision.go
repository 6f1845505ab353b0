package shadow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Cause is why Karpenter decided something; the set is closed, and the names are stable.
type Cause string

// The causes.
const (
	CauseLaunch        Cause = "launch"        // pods are pending
	CauseConsolidation Cause = "consolidation" // nodes are empty or underutilized
	CauseDrift         Cause = "drift"         // nodes differ from their NodePool or node class
)

// Outcome says whether a decision counts; the set is closed, and the names are stable.
type Outcome string

// The outcomes.
const (
	OutcomeCompared     Outcome = "compared"     // both sides have a price
	OutcomeUnpriced     Outcome = "unpriced"     // an instance type, zone or capacity type is not in the catalog
	OutcomeUnregistered Outcome = "unregistered" // a NodeClaim was deleted before its node registered, or did not register in time
	OutcomeAbandoned    Outcome = "abandoned"    // Karpenter called the disruption off
	OutcomeUnplaced     Outcome = "unplaced"     // Plimsoll's plan has no node for a pod that runs on a node of Karpenter's
	OutcomeFailed       Outcome = "failed"       // there is no plan: Decision.Message says why
)

// outcomes are all of them.
func outcomes() []Outcome {
	return []Outcome{OutcomeCompared, OutcomeUnpriced, OutcomeUnregistered, OutcomeAbandoned, OutcomeUnplaced, OutcomeFailed}
}

// Node is a node of one side of a decision.
type Node struct {
	// Name is the name of the NodeClaim; "" for nodes that Plimsoll would have launched.
	Name string `json:"name,omitempty"`
	// UID is that of the NodeClaim, "" where Name is.
	UID types.UID `json:"-"`
	// NodePool, InstanceType, Zone and CapacityType are those of its offering.
	NodePool     string                 `json:"nodePool"`
	InstanceType string                 `json:"instanceType"`
	Zone         string                 `json:"zone"`
	CapacityType offerings.CapacityType `json:"capacityType"`
	// Price is in USD per hour; 0 where it is unknown.
	Price offerings.Price `json:"pricePerHour"`
}

// String is the node in a few words.
func (n Node) String() string {
	return fmt.Sprintf("%s %s %s $%s", n.InstanceType, n.CapacityType, n.Zone, n.Price)
}

// Side has the nodes that one of the two launches and removes.
type Side struct {
	Launched []Node `json:"launched,omitempty"`
	Removed  []Node `json:"removed,omitempty"`
}

// PerHour is by how much it raises the price of the cluster, in USD per hour; below 0 if it lowers it.
func (s *Side) PerHour() offerings.Price { return total(s.Launched) - total(s.Removed) }

// byPool is PerHour by NodePool.
func (s *Side) byPool() map[string]offerings.Price {
	out := map[string]offerings.Price{}
	for _, n := range s.Launched {
		out[n.NodePool] += n.Price
	}
	for _, n := range s.Removed {
		out[n.NodePool] -= n.Price
	}
	return out
}

func total(nodes []Node) (sum offerings.Price) {
	for _, n := range nodes {
		sum += n.Price
	}
	return sum
}

// Decision is a decision of Karpenter's with the one that Plimsoll would have made for the same cluster.
type Decision struct {
	// At is when its first NodeClaim was created or marked.
	At      time.Time `json:"at"`
	Cause   Cause     `json:"cause"`
	Outcome Outcome   `json:"outcome"`
	// Message says why it is not compared; "" if it is.
	Message string `json:"message,omitempty"`
	// Pods is the number of pods that were pending or on the removed nodes.
	Pods      int  `json:"pods"`
	Karpenter Side `json:"karpenter"`
	Plimsoll  Side `json:"plimsoll"`
}

// SavedPerHour is how much less the cluster would cost with Plimsoll's decision, in USD per hour; below 0 if it would cost
// more. It means nothing unless the outcome is [OutcomeCompared].
func (d *Decision) SavedPerHour() offerings.Price {
	return d.Karpenter.PerHour() - d.Plimsoll.PerHour()
}

// NodePools are the pools of either side, by name.
func (d *Decision) NodePools() []string {
	var out []string
	for _, list := range [][]Node{d.Karpenter.Launched, d.Karpenter.Removed, d.Plimsoll.Launched, d.Plimsoll.Removed} {
		for _, n := range list {
			out = append(out, n.NodePool)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// registrationTimeout is how long a decision waits for its nodes; Karpenter deletes NodeClaims that have not registered
// after 15 minutes.
const registrationTimeout = 30 * time.Minute

// pendingDecision is a decision whose outcome is not known yet.
type pendingDecision struct {
	Decision

	// window has the cluster before it; nil once it is planned.
	window *window
	// last is when the last of its NodeClaims was seen, claims are these: created ones, and removed ones with false.
	last   time.Time
	claims map[string]bool
	// planned says that Plimsoll's side is known. unplaced are pods without a node in it, err is why there is none.
	planned  bool
	unplaced []string
	err      error
	// unpriced are removed nodes whose price is not known.
	unpriced []string
}

// settle reports whether the decision is carried out or has failed, and sets the outcome.
func (s *Shadow) settle(d *pendingDecision, now time.Time) bool {
	if !d.planned {
		return false
	}
	d.Karpenter.Launched, d.Outcome = nil, OutcomeCompared
	end := func(o Outcome, format string, args ...any) {
		if d.Outcome == OutcomeCompared {
			d.Outcome, d.Message = o, fmt.Sprintf(format, args...)
		}
	}
	waits, unpriced := false, slices.Clone(d.unpriced)
	for _, name := range sortedKeys(d.claims) {
		c, created := s.claims[name], d.claims[name]
		switch {
		case !created && (c == nil || c.leaving()):
		case !created && !c.disrupted:
			end(OutcomeAbandoned, "NodeClaim %s is no longer to be disrupted", name)
		case created && c != nil && c.is(conditionRegistered):
			n, ok := s.priced(c)
			d.Karpenter.Launched = append(d.Karpenter.Launched, n)
			if !ok {
				unpriced = append(unpriced, n.String())
			}
		case created && (c == nil || c.leaving() || now.Sub(d.last) > registrationTimeout):
			end(OutcomeUnregistered, "the node of NodeClaim %s has not registered", name)
		default:
			waits = true
		}
	}
	if d.Outcome == OutcomeCompared && waits {
		return false
	}
	if d.err != nil {
		end(OutcomeFailed, "%v", d.err)
	}
	if len(unpriced) > 0 {
		end(OutcomeUnpriced, "the catalog has no price for %s", unpriced[0])
	}
	for _, pod := range d.unplaced {
		if p := s.state.Pod(pod); p != nil && d.claims[s.claimOf[p.Spec.NodeName]] {
			end(OutcomeUnplaced, "pod %s has no node in Plimsoll's plan", pod)
		}
	}
	return true
}

// priced is the node of a claim, and whether its price is known.
func (s *Shadow) priced(c *claim) (Node, bool) {
	node := s.state.Nodes()[c.node]
	if node == nil {
		node = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: c.object.Labels}}
	}
	key, pool := instancetypes.OfferingOf(node), c.object.Labels[scheduling.NodePoolLabel]
	o, ok := cmp.Or(s.settings.catalogs[pool], s.opts.Catalog).LookupNode(node)
	return Node{Name: c.object.Name, UID: c.object.UID, NodePool: pool, InstanceType: key.InstanceType, Zone: key.Zone, CapacityType: key.CapacityType, Price: o.Price}, ok
}
