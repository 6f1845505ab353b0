package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodeClaims returns a NodeClaim of karpenter.sh/v1 for each launch of a plan, in the
// order of the plan. pools are those of the problem; what a launch does not say
// itself, such as the node class and when nodes expire, comes from its pool. The
// error names a launch whose pool is not among them.
//
// A claim asks for the types, zones and capacity types of the launch's options. It
// cannot say which of them go together, so the provider may combine a type of one
// option with the zone of another.
func NodeClaims(plan *scheduling.Plan, pools []*scheduling.NodePool) ([]*NodeClaim, error) {
	byName := map[string]*scheduling.NodePool{}
	for _, p := range pools {
		byName[p.Name] = p
	}
	claims := make([]*NodeClaim, 0, len(plan.Launches))
	for i := range plan.Launches {
		l := &plan.Launches[i]
		pool, ok := byName[l.NodePool]
		if !ok {
			return nil, fmt.Errorf("launches[%s].nodePool: there is no NodePool %q", l.Name, l.NodePool)
		}
		claims = append(claims, nodeClaim(l, pool))
	}
	return claims, nil
}

// nodeClaim writes down one launch.
func nodeClaim(l *scheduling.Launch, pool *scheduling.NodePool) *NodeClaim {
	labels := maps.Clone(l.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[scheduling.NodePoolLabel] = l.NodePool
	spec := &pool.Spec.Template.Spec
	return &NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: karpenterGroup + "/v1", Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: l.Name, Labels: labels, Annotations: maps.Clone(pool.Spec.Template.Metadata.Annotations)},
		Spec: NodeClaimSpec{
			Taints:                 slices.Clone(l.Taints),
			StartupTaints:          slices.Clone(l.StartupTaints),
			Requirements:           claimRequirements(l),
			Resources:              NodeClaimResources{Requests: l.Requests.DeepCopy()},
			NodeClassRef:           spec.NodeClassRef,
			TerminationGracePeriod: spec.TerminationGracePeriod,
			ExpireAfter:            spec.ExpireAfter,
		},
	}
}

// claimRequirements are the launch's requirements, narrowed to what its options name.
func claimRequirements(l *scheduling.Launch) []requirements.Selector {
	types, zones, capacityTypes, reservations := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range l.Options {
		types[o.InstanceType] = true
		zones[o.Zone] = true
		capacityTypes[string(o.CapacityType)] = true
		if o.ReservationID != "" {
			reservations[o.ReservationID] = true
		}
	}
	narrowed := map[string]map[string]bool{
		corev1.LabelInstanceTypeStable: types,
		corev1.LabelTopologyZone:       zones,
		scheduling.CapacityTypeLabel:   capacityTypes,
	}
	if len(reservations) > 0 && len(capacityTypes) == 1 {
		narrowed[requirements.ReservationIDKey] = reservations
	}
	floors := map[string]*int{}
	var out []requirements.Selector
	for _, r := range l.Requirements {
		if _, ok := narrowed[requirements.NormalizeKey(r.Key)]; !ok {
			out = append(out, r)
		} else if r.MinValues != nil {
			floors[requirements.NormalizeKey(r.Key)] = r.MinValues
		}
	}
	for _, key := range slices.Sorted(maps.Keys(narrowed)) {
		out = append(out, requirements.Selector{
			Key: key, Operator: requirements.In, Values: slices.Sorted(maps.Keys(narrowed[key])), MinValues: floors[key],
		})
	}
	return out
}

// WriteNodeClaims writes the NodeClaims of a plan as YAML documents, so that they can
// be applied; see [NodeClaims].
func WriteNodeClaims(w io.Writer, plan *scheduling.Plan, pools []*scheduling.NodePool) error {
	claims, err := NodeClaims(plan, pools)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i, c := range claims {
		raw, err := json.Marshal(c)
		if err != nil {
			return fmt.Errorf("writing NodeClaim %s: %w", c.Name, err)
		}
		text, err := yaml.JSONToYAML(raw)
		if err != nil {
			return fmt.Errorf("writing NodeClaim %s: %w", c.Name, err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	_, err = w.Write(b.Bytes())
	return err
}
