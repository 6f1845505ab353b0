package karpenter

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/offerings"
)

// shelf is a catalog in Karpenter's types, and the way back.
type shelf struct {
	types []*cloudprovider.InstanceType
	// sold is the offering that each of Karpenter's stands for.
	sold map[*cloudprovider.Offering]offerings.Offering
}

// translate turns a catalog into the instance types that a cloud provider would return.
func translate(c *instancetypes.Catalog, keys labelKeys, unavailable *offerings.Unavailable, now time.Time) shelf {
	s := shelf{sold: map[*cloudprovider.Offering]offerings.Offering{}}
	for t := range c.All() {
		out := &cloudprovider.InstanceType{
			Name:     t.Name,
			Capacity: t.Capacity.DeepCopy(),
			Overhead: &cloudprovider.InstanceTypeOverhead{
				KubeReserved:      t.Overhead.KubeReserved.DeepCopy(),
				SystemReserved:    t.Overhead.SystemReserved.DeepCopy(),
				EvictionThreshold: t.Overhead.EvictionThreshold.DeepCopy(),
			},
		}
		for _, o := range t.Offerings {
			of := offering(t, o)
			of.Available = o.Launchable() && !unavailable.Has(o.Key(t.Name), now)
			out.Offerings = append(out.Offerings, of)
			s.sold[of] = o
		}
		out.Requirements = requirements(t, out.Offerings, keys)
		_ = out.Allocatable() // providers keep types with this worked out already
		s.types = append(s.types, out)
	}
	return s
}

// offering translates one. Its requirements are the labels that it puts on nodes.
func offering(t *instancetypes.InstanceType, o offerings.Offering) *cloudprovider.Offering {
	out := &cloudprovider.Offering{
		Requirements:        scheduling.NewLabelRequirements(o.NodeLabels()),
		Price:               o.Price.USD(),
		ReservationCapacity: int(o.ReservationCount / max(o.UsePerNode(), 1)),
	}
	if !o.Counted() {
		out.Requirements.Add(scheduling.NewRequirement(offerings.ReservationIDLabel, corev1.NodeSelectorOpDoesNotExist))
	}
	// Karpenter documents that overrides replace amounts, but its code adds them. Overrides
	// must therefore be differences, which added give the documented amounts.
	if len(o.Capacity) > 0 {
		out.CapacityOverride = difference(t.CapacityOf(o), t.Capacity, o.Capacity)
	}
	if len(o.Overhead) > 0 {
		out.OverheadOverride = &cloudprovider.InstanceTypeOverhead{KubeReserved: difference(o.Overhead, t.Overhead.Total(), o.Overhead)}
	}
	return out
}

// difference is a − b over the resources of the list keys.
func difference(a, b, keys corev1.ResourceList) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name := range keys {
		q := a[name].DeepCopy()
		q.Sub(b[name])
		out[name] = q
	}
	return out
}

// requirements returns the labels that the nodes of a type may carry: its own, and those of
// its available offerings. Keys of other types must be DoesNotExist, as providers do,
// because otherwise a pool that requires a GPU would accept every machine.
func requirements(t *instancetypes.InstanceType, ofs cloudprovider.Offerings, keys labelKeys) scheduling.Requirements {
	out := scheduling.NewLabelRequirements(t.Labels)
	values := map[string]sets.Set[string]{}
	for _, of := range ofs.Available() {
		for key, r := range of.Requirements {
			if values[key] == nil {
				values[key] = sets.New[string]()
			}
			values[key].Insert(r.Values()...)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys.offerings)) {
		if _, own := t.Labels[key]; own && values[key].Len() == 0 {
			continue
		}
		out[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, sets.List(values[key])...)
	}
	for key := range keys.types {
		if !out.Has(key) {
			out[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist)
		}
	}
	return out
}

// cheapest is the cheapest offering that a node claim allows and that holds its requests,
// daemons included. Equal prices are decided by name and zone.
func cheapest(options []*cloudprovider.InstanceType, allowed scheduling.Requirements, requests corev1.ResourceList) (*cloudprovider.InstanceType, *cloudprovider.Offering) {
	var bestType *cloudprovider.InstanceType
	var best *cloudprovider.Offering
	for _, t := range options {
		for _, group := range t.AllocatableOfferingsList() {
			if !resources.Fits(requests, group.Allocatable) {
				continue
			}
			for _, of := range group.Offerings.Available().Compatible(allowed) {
				if best == nil || of.Price < best.Price || of.Price == best.Price && before(t, of, bestType, best) {
					bestType, best = t, of
				}
			}
		}
	}
	return bestType, best
}

func before(t *cloudprovider.InstanceType, of *cloudprovider.Offering, u *cloudprovider.InstanceType, og *cloudprovider.Offering) bool {
	if t.Name != u.Name {
		return t.Name < u.Name
	}
	if of.Zone() != og.Zone() {
		return of.Zone() < og.Zone()
	}
	return of.Requirements.Get(karpv1.CapacityTypeLabelKey).Any() < og.Requirements.Get(karpv1.CapacityTypeLabelKey).Any()
}

// labelKeys are the keys that a catalog's types and offerings carry.
type labelKeys struct{ types, offerings sets.Set[string] }

func keysOf(catalogs ...*instancetypes.Catalog) labelKeys {
	k := labelKeys{types: sets.New[string](), offerings: sets.New[string](offerings.ReservationIDLabel)}
	for _, catalog := range catalogs {
		for t := range catalog.All() {
			for key := range t.Labels {
				k.types.Insert(key)
			}
			for i := range t.Offerings {
				for key := range t.Offerings[i].NodeLabels() {
					k.offerings.Insert(key)
				}
			}
		}
	}
	return k
}

// register tells Karpenter which labels its cloud provider knows, as providers do when
// their package is loaded. Pods may select on them although no NodePool names them.
// Karpenter keeps them in global variables without a lock, so that no problem with further labels
// may be loaded while another one is being solved.
func register(k labelKeys) {
	if cloudprovider.ReservationIDLabel != offerings.ReservationIDLabel {
		cloudprovider.ReservationIDLabel = offerings.ReservationIDLabel
		cloudprovider.ReservedCapacityLabels.Insert(offerings.ReservationIDLabel)
		// Cloud providers register the zone label of their storage drivers, so this one must, too.
		for _, key := range []string{"topology.ebs.csi.aws.com/zone", "topology.gke.io/zone", "topology.disk.csi.azure.com/zone"} {
			karpv1.NormalizedLabels[key] = corev1.LabelTopologyZone
		}
	}
	for key := range k.types.Union(k.offerings) {
		if !karpv1.WellKnownLabels.Has(key) {
			karpv1.WellKnownLabels.Insert(key)
		}
	}
}

// provider is a cloud provider that lists the given instance types and launches nothing.
type provider map[string][]*cloudprovider.InstanceType // by NodePool

var errNothingRuns = errors.New("this cloud launches nothing")

func (provider) Create(context.Context, *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	return nil, errNothingRuns
}
func (provider) Delete(context.Context, *karpv1.NodeClaim) error { return errNothingRuns }
func (provider) Get(context.Context, string) (*karpv1.NodeClaim, error) {
	return nil, errNothingRuns
}
func (provider) List(context.Context) ([]*karpv1.NodeClaim, error) { return nil, nil }
func (p provider) GetInstanceTypes(_ context.Context, pool *karpv1.NodePool) ([]*cloudprovider.InstanceType, error) {
	return p[pool.Name], nil
}
func (provider) IsDrifted(context.Context, *karpv1.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", nil
}
func (provider) RepairPolicies() []cloudprovider.RepairPolicy { return nil }
func (provider) Name() string                                 { return "catalog" }
func (provider) GetSupportedNodeClasses() []status.Object     { return nil }
