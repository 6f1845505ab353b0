package manifest

import (
	"fmt"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// How long nodes of EKS Auto Mode live, and how long they are drained, by the EKS User Guide:
// "a maximum lifetime of 21 days" (Automate cluster infrastructure with EKS Auto Mode), and, where
// the NodePool says nothing, 336 hours and 24 hours (Create a Node Pool for EKS Auto Mode).
const (
	autoMostLife    = 21 * 24 * time.Hour
	autoLife        = 336 * time.Hour
	autoGracePeriod = 24 * time.Hour
)

// autoClassLabel is the label that names the NodeClass of a node of EKS Auto Mode.
const autoClassLabel = ec2.AutoGroup + "/nodeclass"

// autoMode reports whether a NodePool is one of EKS Auto Mode: by its node class or, where it
// names none, by the labels that it requires.
func autoMode(pool *scheduling.NodePool) bool {
	spec := &pool.Spec.Template.Spec
	if ref := spec.NodeClassRef; ref != nil && ref.Group != "" {
		return ref.Group == ec2.AutoGroup
	}
	return lo.SomeBy(spec.Requirements, func(s requirements.Selector) bool { return isAutoLabel(s.Key) })
}

// isAutoLabel reports whether a label is one that only nodes of EKS Auto Mode have.
func isAutoLabel(key string) bool {
	return key == ec2.AutoComputeType || strings.HasPrefix(key, ec2.AutoGroup+"/instance-")
}

// autoNode reports whether a node is one of EKS Auto Mode.
func autoNode(node *corev1.Node) bool { return node.Labels[ec2.AutoComputeType] == "auto" }

// wantsAutoMode reports whether a pod selects nodes of EKS Auto Mode.
func wantsAutoMode(pod *corev1.Pod) bool {
	if lo.SomeBy(lo.Keys(pod.Spec.NodeSelector), isAutoLabel) {
		return true
	}
	a := pod.Spec.Affinity
	if a == nil || a.NodeAffinity == nil || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	return lo.SomeBy(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms, func(t corev1.NodeSelectorTerm) bool {
		return lo.SomeBy(t.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return isAutoLabel(e.Key) && e.Operator != corev1.NodeSelectorOpNotIn && e.Operator != corev1.NodeSelectorOpDoesNotExist
		})
	})
}

// autoLabels makes a NodePool require the labels of nodes of EKS Auto Mode in place of the labels
// of Karpenter's AWS provider.
func autoLabels(pool *scheduling.NodePool) {
	spec := &pool.Spec.Template.Spec
	spec.Requirements = lo.Map(spec.Requirements, func(s requirements.Selector, _ int) requirements.Selector {
		s.Key = ec2.AutoLabel(s.Key)
		return s
	})
}

// autoExpiry is the lifetime of a node of EKS Auto Mode, for the stated one; nil where the NodePool
// states none.
func autoExpiry(stated *scheduling.NillableDuration) *scheduling.NillableDuration {
	life := autoLife
	if stated != nil && (stated.Duration == nil || *stated.Duration > autoMostLife) {
		life = autoMostLife
	} else if stated != nil {
		return stated
	}
	return &scheduling.NillableDuration{Duration: &life}
}

// autoDefaults gives a NodePool of EKS Auto Mode the defaults of EKS: a lifetime that ends, and a
// time after which draining ends by force.
func autoDefaults(pool *scheduling.NodePool) {
	spec := &pool.Spec.Template.Spec
	spec.ExpireAfter = autoExpiry(spec.ExpireAfter)
	if spec.TerminationGracePeriod == nil {
		spec.TerminationGracePeriod = &metav1.Duration{Duration: autoGracePeriod}
	}
}

// reportAutoMode gives NodePools of EKS Auto Mode the defaults of EKS, and NodeClaims at most the
// longest lifetime. It warns of lifetimes that are cut.
func reportAutoMode(found *findings, claims []*NodeClaim, p *scheduling.Problem) {
	for _, pool := range p.NodePools {
		if !autoMode(pool) {
			continue
		}
		if d := pool.Spec.Template.Spec.ExpireAfter; d != nil && (d.Duration == nil || *d.Duration > autoMostLife) {
			found.note("NodePool/"+pool.Name, fmt.Sprintf("spec.template.spec.expireAfter is %s, and EKS Auto Mode replaces nodes after 21 days at the latest: 504h is assumed", d))
		}
		autoDefaults(pool)
	}
	for _, claim := range claims {
		if ref := claim.Spec.NodeClassRef; ref != nil && ref.Group == ec2.AutoGroup {
			claim.Spec.ExpireAfter = autoExpiry(claim.Spec.ExpireAfter)
		}
	}
}

// autoFee is the share of the on-demand price of an instance that AWS charges for a node of EKS Auto Mode, beside the
// price of the instance and whatever that is: e.g. 0.03672 USD for a c6a.2xlarge of 0.306 USD in us-east-1
// (aws.amazon.com/eks/pricing). AWS lists it by type; the lists are not embedded, so a warning names the fee and prices
// do not include it.
const autoFee = 0.12

// autoFeeWarnings are the warning of the fee of EKS Auto Mode, which is charged besides the prices of EC2,
// where nodes or NodePools belong to it, with the fee of the existing nodes.
func autoFeeWarnings(p *scheduling.Problem, catalog *instancetypes.Catalog) []scheduling.Warning {
	nodes := lo.Filter(p.Nodes, func(n *corev1.Node, _ int) bool { return n != nil && autoNode(n) })
	if len(nodes) == 0 && !lo.SomeBy(lo.Compact(p.NodePools), autoMode) {
		return nil
	}
	var sum offerings.Price
	for _, node := range nodes {
		as := instancetypes.OfferingOf(node)
		as.CapacityType, as.ReservationID = offerings.OnDemand, ""
		if o, ok := catalog.Lookup(as); ok {
			sum = offerings.Sum(sum, o.Price)
		}
	}
	now := ""
	if sum > 0 {
		now = fmt.Sprintf(", some $%.0f a month for the nodes that run", sum.USD()*autoFee*offerings.HoursPerMonth)
	}
	return []scheduling.Warning{{Object: "EKS Auto Mode", Message: fmt.Sprintf(
		"AWS charges a management fee for each of its nodes besides what EC2 charges, of about %.0f%% of the on-demand price for most types, for spot nodes too%s: it is not in these prices (aws.amazon.com/eks/pricing); "+
			`a NodeOverlay with the requirement eks.amazonaws.com/compute-type In [auto] and priceAdjustment "+%.0f%%" adds it for on-demand`, 100*autoFee, now, 100*autoFee)}}
}
