package karpenter

import (
	"errors"
	"fmt"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	kprovisioning "sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest"
)

// NodeClaims returns a node of Karpenter's scheduling for each launch of a plan for the snapshot, in their order.
// Karpenter's Provisioner.CreateNodeClaims writes the NodeClaims of them, and ToNodeClaim returns them: with the NodePool
// as owner, its hash, labels, taints, expiry and grace period, the instance types by price, and the requests of pods
// and daemons. They allow no offering that the launch does not list. The error names a launch without options, or
// whose NodePool is not in the snapshot.
func (s *Snapshot) NodeClaims(launches []scheduling.Launch) ([]*kprovisioning.NodeClaim, error) {
	written, err := manifest.NodeClaims(&scheduling.Plan{Launches: launches}, s.Cluster.NodePools)
	if err != nil {
		return nil, err
	}
	out := make([]*kprovisioning.NodeClaim, len(launches))
	for i := range launches {
		if out[i], err = s.nodeClaim(&launches[i], written[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// nodeClaim is the node of one launch; written has its requirements, narrowed to offerings of the launch.
func (s *Snapshot) nodeClaim(l *scheduling.Launch, written *manifest.NodeClaim) (*kprovisioning.NodeClaim, error) {
	pool := s.pools[l.NodePool]
	if pool == nil {
		return nil, fmt.Errorf("launches[%s].nodePool: there is no NodePool %q that is ready", l.Name, l.NodePool)
	}
	template := kprovisioning.NewNodeClaimTemplate(pool)
	// The written requirements are those of the NodePool and the pods together; minValues may be lower than the NodePool's.
	asked := kscheduling.NewNodeSelectorRequirementsWithMinValues(lo.Map(written.Spec.Requirements, selector)...)
	for key := range asked {
		delete(template.Requirements, key)
	}
	template.Requirements.Add(asked.Values()...)
	template.Labels = lo.Assign(template.Labels, l.Labels)
	template.Annotations = lo.Assign(template.Annotations, lo.PickByKeys(written.Annotations, []string{karpv1.NodeClaimMinValuesRelaxedAnnotationKey}))
	template.Spec.Resources.Requests = l.Requests.DeepCopy()
	named := sets.New(template.Requirements.Get(corev1.LabelInstanceTypeStable).Values()...)
	template.InstanceTypeOptions = cloudprovider.InstanceTypes(lo.Filter(s.types[l.NodePool], func(t *cloudprovider.InstanceType, _ int) bool {
		return t != nil && named.Has(t.Name)
	})).OrderByPrice(template.Requirements)
	widen(template)
	out := &kprovisioning.NodeClaim{NodeClaimTemplate: *template}
	for _, name := range l.Pods {
		if pod := s.pods[name]; pod != nil {
			out.Pods = append(out.Pods, pod)
		}
	}
	return out, nil
}

// selector is a requirement as Karpenter writes it, with the label that the provider has for reservations.
func selector(r requirements.Selector, _ int) karpv1.NodeSelectorRequirementWithMinValues {
	if r.Key == offerings.ReservationIDLabel && cloudprovider.ReservationIDLabel != "" {
		r.Key = cloudprovider.ReservationIDLabel
	}
	return karpv1.NodeSelectorRequirementWithMinValues{Key: r.Key, Operator: r.Operator, Values: r.Values, MinValues: r.MinValues}
}

// widen leaves the zones out where the other requirements allow no further offering without them, as Karpenter leaves
// them out unless a pod or the NodePool asks for zones.
func widen(t *kprovisioning.NodeClaimTemplate) {
	without := kscheduling.NewRequirements(lo.Filter(t.Requirements.Values(), func(r *kscheduling.Requirement, _ int) bool { return r.Key != corev1.LabelTopologyZone })...)
	asked := kscheduling.NewNodeSelectorRequirementsWithMinValues(t.Spec.Requirements...)
	if asked.Has(corev1.LabelTopologyZone) {
		without.Add(asked.Get(corev1.LabelTopologyZone))
	}
	if offered(t, without) == offered(t, t.Requirements) {
		t.Requirements = without
	}
}

// offered is the number of available offerings of the types that requirements allow.
func offered(t *kprovisioning.NodeClaimTemplate, allowed kscheduling.Requirements) (count int) {
	for _, instanceType := range t.InstanceTypeOptions {
		count += len(instanceType.Offerings.Available().Compatible(allowed))
	}
	return count
}

// Results are the decisions of a plan for pending pods in the form of Karpenter's scheduling, which
// Karpenter records, and has CreateNodeClaims carry out. The error is that of [Snapshot.NodeClaims].
func (s *Snapshot) Results(plan *scheduling.Plan) (kprovisioning.Results, error) {
	claims, err := s.NodeClaims(plan.Launches)
	if err != nil {
		return kprovisioning.Results{}, err
	}
	out := kprovisioning.Results{NewNodeClaims: claims, PodErrors: map[*corev1.Pod]error{}}
	for _, a := range plan.Existing {
		if node := s.existing(a.Node, a.Pods); node != nil {
			out.ExistingNodes = append(out.ExistingNodes, node)
		}
	}
	for i := range plan.Unschedulable {
		u := &plan.Unschedulable[i]
		if pod := s.pods[u.Pod]; pod != nil {
			out.PodErrors[pod] = errors.New(strings.Join(append([]string{u.Message}, u.Fixes...), "; "))
		}
	}
	return out, nil
}

// existing is a node that receives pods; nil where it is not in the snapshot.
func (s *Snapshot) existing(name string, pods []string) *kprovisioning.ExistingNode {
	node := s.nodes[name]
	if node == nil {
		return nil
	}
	out := &kprovisioning.ExistingNode{StateNode: node}
	for _, name := range pods {
		if pod := s.pods[name]; pod != nil {
			out.Pods = append(out.Pods, pod)
		}
	}
	return out
}
