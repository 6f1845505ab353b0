package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// NodeClaims returns a NodeClaim of karpenter.sh/v1 for each launch of a plan, in the order of the
// plan, as Karpenter would write it: with a generated name, the labels of the launch, the hash that
// the pool is annotated with, and the pool as its owner if it has a UID. pools are the NodePools of
// the problem, from which the node class and the expiry of nodes come. The error says that there is
// no plan, or names a launch that has no options or whose pool is not among them.
//
// A claim asks for types, zones and capacity types, and cannot say which of them go together. It is
// therefore narrowed to options of which it allows every combination, and allows no offering that
// the launch does not list. minValues of these three are met where some of the options can, and
// otherwise lowered, with the annotation that Karpenter sets under its policy BestEffort.
func NodeClaims(plan *scheduling.Plan, pools []*scheduling.NodePool) ([]*NodeClaim, error) {
	if plan == nil {
		return nil, errors.New("plan: is missing")
	}
	byName := lo.KeyBy(lo.Compact(pools), func(p *scheduling.NodePool) string { return p.Name })
	claims := make([]*NodeClaim, 0, len(plan.Launches))
	for i := range plan.Launches {
		l := &plan.Launches[i]
		pool, ok := byName[l.NodePool]
		if !ok {
			return nil, fmt.Errorf("launches[%s].nodePool: there is no NodePool %q", l.Name, l.NodePool)
		}
		if len(l.Options) == 0 {
			return nil, fmt.Errorf("launches[%s].options: is empty", l.Name)
		}
		claims = append(claims, nodeClaim(l, pool))
	}
	return claims, nil
}

// Annotations that Karpenter puts on NodeClaims; the first two it puts on NodePools, too.
const (
	poolHash        = karpenterGroup + "/nodepool-hash"
	poolHashVersion = karpenterGroup + "/nodepool-hash-version"
	relaxed         = karpenterGroup + "/nodeclaim-min-values-relaxed"
)

// nodeClaim writes down one launch.
func nodeClaim(l *scheduling.Launch, pool *scheduling.NodePool) *NodeClaim {
	template := &pool.Spec.Template
	selectors, lowered := claimRequirements(l, pool)
	claim := &NodeClaim{
		TypeMeta: metav1.TypeMeta{APIVersion: karpenterGroup + "/v1", Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: pool.Name + "-",
			Labels:       lo.Assign(l.Labels, map[string]string{scheduling.NodePoolLabel: pool.Name}),
			Annotations: lo.Assign(template.Metadata.Annotations, lo.PickByKeys(pool.Annotations, []string{poolHash, poolHashVersion}),
				map[string]string{relaxed: strconv.FormatBool(l.MinValuesRelaxed || lowered)}),
		},
		Spec: NodeClaimSpec{
			Taints:                 slices.Clone(l.Taints),
			StartupTaints:          slices.Clone(l.StartupTaints),
			Requirements:           selectors,
			Resources:              NodeClaimResources{Requests: l.Requests.DeepCopy()},
			NodeClassRef:           template.Spec.NodeClassRef,
			TerminationGracePeriod: template.Spec.TerminationGracePeriod,
			ExpireAfter:            template.Spec.ExpireAfter,
		},
	}
	if pool.UID != "" {
		claim.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: karpenterGroup + "/v1", Kind: "NodePool", Name: pool.Name, UID: pool.UID, BlockOwnerDeletion: lo.ToPtr(true),
		}}
	}
	return claim
}

// claimRequirements are the launch's requirements, narrowed to the options that a claim can ask
// for, and whether minValues had to be lowered for them.
func claimRequirements(l *scheduling.Launch, pool *scheduling.NodePool) (out []requirements.Selector, lowered bool) {
	options := claimable(l)
	narrowed := map[string][]string{}
	narrow := func(key string, value func(o scheduling.LaunchOption, _ int) string) {
		values := lo.Uniq(lo.Map(options, value))
		slices.Sort(values)
		narrowed[key] = values
	}
	narrow(corev1.LabelInstanceTypeStable, func(o scheduling.LaunchOption, _ int) string { return o.InstanceType })
	narrow(corev1.LabelTopologyZone, func(o scheduling.LaunchOption, _ int) string { return o.Zone })
	narrow(offerings.CapacityTypeLabel, func(o scheduling.LaunchOption, _ int) string { return string(o.CapacityType) })
	if reserved(options[0]) {
		narrow(requirements.ReservationIDKey, func(o scheduling.LaunchOption, _ int) string { return o.ReservationID })
	}
	floors := floorsOf(l)
	for _, r := range l.Requirements {
		if _, ok := narrowed[requirements.NormalizeKey(r.Key)]; !ok {
			out = append(out, bounded(r, pool))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(narrowed)) {
		s := requirements.Selector{Key: key, Operator: requirements.In, Values: narrowed[key]}
		if floor := floors[key]; floor > 0 {
			s.MinValues = lo.ToPtr(min(floor, len(s.Values)))
			lowered = lowered || floor > len(s.Values)
		}
		out = append(out, s)
	}
	return out, lowered
}

// bounded is a requirement with the operators that its NodePool has: Gte and Lte only where the NodePool has
// them, and else Gt and Lt, because CRDs of Karpenter before 1.9 refuse the former.
func bounded(r requirements.Selector, pool *scheduling.NodePool) requirements.Selector {
	strict, by := requirements.Gt, int64(-1)
	switch r.Operator {
	case requirements.Gte:
	case requirements.Lte:
		strict, by = requirements.Lt, 1
	default:
		return r
	}
	if slices.ContainsFunc(pool.Spec.Template.Spec.Requirements, func(own requirements.Selector) bool {
		return own.Operator == r.Operator && requirements.NormalizeKey(own.Key) == requirements.NormalizeKey(r.Key)
	}) {
		return r
	}
	n, err := strconv.ParseInt(r.Values[0], 10, 64)
	if err != nil || by < 0 && n <= 0 || by > 0 && n == math.MaxInt64 {
		return r // no operand of Gt and Lt says it
	}
	r.Operator, r.Values = strict, []string{strconv.FormatInt(n+by, 10)}
	return r
}

// floorsOf are the minValues of a launch's requirements by key.
func floorsOf(l *scheduling.Launch) map[string]int {
	floors := map[string]int{}
	for _, r := range l.Requirements {
		if r.MinValues != nil {
			floors[requirements.NormalizeKey(r.Key)] = *r.MinValues
		}
	}
	return floors
}

// WriteNodeClaims writes the NodeClaims of a plan as YAML documents, to be created with
// kubectl create; see [NodeClaims].
func WriteNodeClaims(w io.Writer, plan *scheduling.Plan, pools []*scheduling.NodePool) error {
	claims, err := NodeClaims(plan, pools)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for i, c := range claims {
		text, err := yaml.Marshal(c)
		if err != nil {
			return fmt.Errorf("writing the NodeClaim of %s: %w", plan.Launches[i].Name, err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
	}
	_, err = w.Write(b.Bytes())
	return err
}
