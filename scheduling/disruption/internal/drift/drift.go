package drift

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/disruption/internal/pricing"
)

// The annotations with the hash of the pool's template at the launch of a machine.
const (
	poolHash        = "karpenter.sh/nodepool-hash"
	poolHashVersion = "karpenter.sh/nodepool-hash-version"
)

// The kinds of drift that are found here, by Karpenter's names.
const (
	poolDrifted         = "NodePoolDrifted"
	requirementsDrifted = "RequirementsDrifted"
	typeNotFound        = "InstanceTypeNotFound"
)

// typeDriftAge is the age of a machine from which a type that is missing in a live catalog is drift, because catalogs
// may lag behind the provider.
const typeDriftAge = time.Hour

// Node is a node with the facts of its machine.
type Node struct {
	Object *corev1.Node
	// Annotations are those of the NodeClaim; nil reads those of the node.
	Annotations map[string]string
	// Age is the age of the machine, 0 if it is not known.
	Age time.Duration
	// Claimed is the reason of a Drifted condition of the NodeClaim; "" without one.
	Claimed string
}

// Pool is the NodePool of a node, with its requirements and catalog. LiveCatalog says that the catalog lists everything
// that the provider sells now.
type Pool struct {
	Object      *scheduling.NodePool
	Required    requirements.Set
	Catalog     *instancetypes.Catalog
	LiveCatalog bool
}

// Of is the kind of drift of a node and the difference to its pool in words; "" for none. Hashes are only compared,
// because only the controller can compute them. A type that is missing in the catalog is drift only if the catalog is
// live.
func Of(n Node, p Pool) string {
	if detail := hashDrift(&n, p.Object); detail != "" {
		return poolDrifted + ": " + detail
	}
	if detail := requirementsDrift(n.Object, p.Object.Name, p.Required); detail != "" {
		return requirementsDrifted + ": " + detail
	}
	if p.LiveCatalog && n.Age > typeDriftAge && typeMissing(n.Object, p.Catalog) {
		return typeNotFound + ": " + pricing.WhyUnknown(n.Object)
	}
	if n.Claimed != "" {
		return n.Claimed + " (its NodeClaim says so)"
	}
	return ""
}

// hashDrift is the difference between the hashes of machine and pool; "" for none, and unless both have one of the
// same version.
func hashDrift(n *Node, of *scheduling.NodePool) string {
	pool, machine := of.Annotations, n.Annotations
	if machine == nil {
		machine = n.Object.Annotations
	}
	for _, key := range []string{poolHash, poolHashVersion} {
		_, here := pool[key]
		_, there := machine[key]
		if !here || !there {
			return ""
		}
	}
	if pool[poolHashVersion] != machine[poolHashVersion] || pool[poolHash] == machine[poolHash] {
		return ""
	}
	return fmt.Sprintf("the template of NodePool %s has changed: %s is %s, the node has %s", of.Name, poolHash, pool[poolHash], machine[poolHash])
}

// requirementsDrift lists the requirements of the pool that the node's labels do not meet; "" for none.
func requirementsDrift(node *corev1.Node, pool string, required requirements.Set) string {
	labels := requirements.FromLabels(node.Labels)
	if labels.Compatible(required) == nil {
		return ""
	}
	var unmet []string
	for r := range required.All() {
		if labels.Compatible(requirements.NewSet(r)) == nil {
			continue
		}
		has := "no such label"
		if here := labels.Get(r.Key()); labels.Has(r.Key()) {
			has = strings.Join(here.Values(), ",")
		}
		unmet = append(unmet, fmt.Sprintf("%s, and the node has %s", r.Short(), has))
	}
	return fmt.Sprintf("NodePool %s requires %s", pool, strings.Join(unmet, "; "))
}

// typeMissing reports whether the catalog lacks the type or offering of a node. A pool without types proves nothing. For
// a reserved node an on-demand offering is enough, because it may have become on-demand when its reservation ended.
func typeMissing(node *corev1.Node, catalog *instancetypes.Catalog) bool {
	if catalog.Len() == 0 {
		return false
	}
	as := instancetypes.OfferingOf(node)
	t, ok := catalog.Get(as.InstanceType)
	if !ok {
		return true
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		if as.Zone != "" && o.Zone != as.Zone {
			continue
		}
		if by := as.CapacityType; by == "" || o.CapacityType == by || by == offerings.Reserved && o.CapacityType == offerings.OnDemand {
			return false
		}
	}
	return true
}
