package karpenter

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	kscheduling "sigs.k8s.io/karpenter/pkg/scheduling"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// Catalog returns the instance types of a cloud provider as a catalog of the planner. allowed are the requirements of the
// NodePool that the types are for: they choose among several values of a label, e.g. of operating systems; nil allows all.
//
// Labels, capacity and overhead are the provider's, overrides of offerings as Karpenter adds them up, and prices are
// rounded to a nano-USD. The changes of NodeOverlays are in types of a provider that package overlay has decorated.
//
// A warning names the type, the offering and the field of each value that a catalog cannot have; the type or the
// offering is left out. Notes among the warnings name labels of which a type has several values: nodes are planned with the
// first of them, linux before other operating systems and amd64 before other architectures.
func Catalog(types []*cloudprovider.InstanceType, allowed kscheduling.Requirements) (*instancetypes.Catalog, []scheduling.Warning) {
	r := catalogReader{allowed: allowed}
	var read []*instancetypes.InstanceType
	seen := map[string]bool{}
	for _, t := range types {
		switch {
		case t == nil:
			r.warn("", "is nil")
			continue
		case seen[t.Name]:
			r.warn(t.Name, "is listed twice; the first is used")
			continue
		}
		seen[t.Name] = true
		out := r.instanceType(t)
		if err := out.Validate(); err != nil {
			r.warn(t.Name, "is left out: "+err.Error())
			continue
		}
		read = append(read, out)
	}
	catalog, err := instancetypes.NewCatalog(read...)
	if err != nil { // each type is valid, and no name stands twice
		r.warn("", err.Error())
	}
	return catalog, r.warnings
}

// catalogReader reads the types of one NodePool.
type catalogReader struct {
	allowed  kscheduling.Requirements
	warnings []scheduling.Warning
}

func (r *catalogReader) warn(instanceType, message string) {
	r.warnings = append(r.warnings, scheduling.Warning{Object: "InstanceType/" + instanceType, Message: message})
}

// instanceType reads one type.
func (r *catalogReader) instanceType(t *cloudprovider.InstanceType) *instancetypes.InstanceType {
	out := &instancetypes.InstanceType{Name: t.Name, Labels: map[string]string{}, Capacity: t.Capacity.DeepCopy()}
	if t.Overhead != nil {
		out.Overhead = instancetypes.Overhead{
			KubeReserved: positive(t.Overhead.KubeReserved), SystemReserved: positive(t.Overhead.SystemReserved), EvictionThreshold: positive(t.Overhead.EvictionThreshold),
		}
	}
	ofOfferings := map[string]bool{}
	for i, o := range t.Offerings {
		if o == nil {
			r.warn(t.Name, fmt.Sprintf("offerings[%d]: is nil", i))
			continue
		}
		for key := range o.Requirements {
			ofOfferings[key] = true
		}
		read, err := r.offering(t, o)
		if err != nil {
			r.warn(t.Name, fmt.Sprintf("offerings[%d] is left out: %s", i, err))
			continue
		}
		same := slices.IndexFunc(out.Offerings, func(other offerings.Offering) bool { return other.Key("") == read.Key("") })
		switch {
		case same < 0:
			out.Offerings = append(out.Offerings, read)
		case before(&read, &out.Offerings[same]):
			out.Offerings[same] = read
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Requirements)) {
		if !ofOfferings[key] && key != corev1.LabelTopologyZone && key != karpv1.CapacityTypeLabelKey {
			r.label(t, out.Labels, key)
		}
	}
	return out
}

// before reports whether of two offerings of one type, zone, capacity type and reservation the first is used: one that is
// available, and of these the cheaper.
func before(a, b *offerings.Offering) bool {
	if a.Unavailable != b.Unavailable {
		return b.Unavailable
	}
	return a.Price < b.Price
}

// label sets the label that the nodes of a type have for a key. A key that the type does not have, or has without
// values, is no label.
func (r *catalogReader) label(t *cloudprovider.InstanceType, labels map[string]string, key string) {
	values := t.Requirements.Get(key)
	if values.Operator() != corev1.NodeSelectorOpIn {
		return
	}
	open := slices.Sorted(slices.Values(values.Values()))
	if r.allowed.Has(key) {
		only := r.allowed.Get(key)
		open = slices.DeleteFunc(open, func(v string) bool { return !only.Has(v) })
	}
	if len(open) == 0 {
		open = slices.Sorted(slices.Values(values.Values()))
	}
	if len(open) == 0 {
		return
	}
	slices.SortStableFunc(open, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	labels[key] = open[0]
	if len(open) > 1 {
		r.warnings = append(r.warnings, scheduling.Warning{
			Object: "InstanceType/" + t.Name, Note: true,
			Message: fmt.Sprintf("requirements[%s]: has the values %q, of which %s is planned with; let the NodePool require one", key, open, open[0]),
		})
	}
}

// rank orders values of labels of which a type has several.
func rank(value string) int {
	if value == string(corev1.Linux) || value == karpv1.ArchitectureAmd64 {
		return 0
	}
	return 1
}

// offering reads one offering of a type.
func (r *catalogReader) offering(t *cloudprovider.InstanceType, o *cloudprovider.Offering) (out offerings.Offering, err error) {
	out = offerings.Offering{Zone: o.Zone(), Unavailable: !o.Available, Labels: map[string]string{}}
	if out.Zone == "" {
		return out, errors.New("requirements[" + corev1.LabelTopologyZone + "]: is missing")
	}
	if out.CapacityType, err = offerings.ParseCapacityType(o.CapacityType()); err != nil {
		return out, fmt.Errorf("requirements[%s]: %w", karpv1.CapacityTypeLabelKey, err)
	}
	if out.Price, err = priceOf(o.Price); err != nil {
		return out, err
	}
	if out.CapacityType == offerings.Reserved {
		out.ReservationID, out.ReservationCount = o.ReservationID(), int64(max(0, o.ReservationCapacity))
	}
	for key, req := range o.Requirements {
		if req.Operator() == corev1.NodeSelectorOpIn && req.Len() == 1 && key != corev1.LabelTopologyZone && key != karpv1.CapacityTypeLabelKey && key != offerings.ReservationIDLabel {
			out.Labels[key] = req.Any()
		}
	}
	// Karpenter adds overrides to the amounts of the type.
	if len(o.CapacityOverride) > 0 {
		out.Capacity = sums(t.Capacity, o.CapacityOverride)
	}
	if o.OverheadOverride != nil {
		total := corev1.ResourceList{}
		if t.Overhead != nil {
			total = t.Overhead.Total()
		}
		out.Overhead = sums(total, o.OverheadOverride.Total())
	}
	return out, nil
}

// sums is, for each resource of change, its amounts in both lists together.
func sums(base, change corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range change {
		sum := base[name].DeepCopy()
		sum.Add(q)
		out[name] = sum
	}
	return positive(out)
}

// positive is a list without amounts of 0 and below, which reserve nothing.
func positive(list corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, q := range list {
		if q.Sign() > 0 {
			out[name] = q.DeepCopy()
		}
	}
	return out
}

// priceOf reads a price in USD per hour. The error says that it is no number, below 0, or too large for an [offerings.Price].
func priceOf(usd float64) (offerings.Price, error) {
	nano := math.Round(usd * 1e9)
	if math.IsNaN(nano) || nano < 0 || nano >= float64(offerings.MaxPrice) {
		return 0, errors.New("price: must be at least 0 and below " + offerings.MaxPrice.String() + ", but is " + strconv.FormatFloat(usd, 'g', -1, 64))
	}
	return offerings.Price(nano), nil
}
