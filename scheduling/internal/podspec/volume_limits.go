package podspec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// How many further volumes of a driver a machine takes is a resource like others. It
// goes by the name under which nodes state it.
const attachPrefix = corev1.ResourceAttachableVolumesPrefix + "csi-"

// NoAttachLimit is the room of machines that nobody limits.
const NoAttachLimit = 1 << 40

// SharedPart is the share of the smallest limit of a driver that volumes of several
// pods may take up in advance, unless that is chosen otherwise.
const SharedPart = 4

// AttachResource is the resource that volumes of a driver take up.
func AttachResource(driver string) corev1.ResourceName {
	return corev1.ResourceName(attachPrefix + driver)
}

// AttachDriver is the inverse of attachResource; "" for other resources.
func AttachDriver(name corev1.ResourceName) string {
	driver, ok := strings.CutPrefix(string(name), attachPrefix)
	if !ok {
		return ""
	}
	return driver
}

// readLimits finds the drivers that limit anything, and which claims nodes are
// charged for.
//
// A volume takes up one attachment of a node however many of its pods use it. A
// volume of one pod to be placed is charged to the pod. Where several share one, it is
// not known which of them meet; so each node is charged for it once, whether they come
// or not, and the pods are not. Since that would leave no room where many volumes are
// shared, only the most popular ones are treated so; of others each pod is charged.
func (x *VolumeIndex) readLimits(p *scheduling.Problem, users []*corev1.Pod) {
	counts := map[*Claim]int{}
	drivers := map[string]bool{}
	for _, pod := range users {
		if x.deprived(pod) {
			continue
		}
		for _, c := range x.ClaimsOf(pod) {
			if c.Driver != "" {
				counts[c]++
				drivers[c.Driver] = true
			}
		}
	}
	smallest := x.smallestLimits(p, drivers)
	x.Limited = slices.Sorted(maps.Keys(smallest))
	var several []*Claim
	for c, n := range counts {
		if _, limited := smallest[c.Driver]; limited && n > 1 {
			several = append(several, c)
		}
	}
	slices.SortFunc(several, func(a, b *Claim) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a.Name, b.Name))
	})
	taken := map[string]int64{}
	for _, c := range several {
		if taken[c.Driver] < smallest[c.Driver]/x.choice.shared() {
			taken[c.Driver]++
			c.shared = true
			x.Shared = append(x.Shared, c)
		} else {
			c.Charged = true
		}
	}
	slices.SortFunc(x.Shared, func(a, b *Claim) int { return strings.Compare(a.Name, b.Name) })
}

// smallestLimits are, of the given drivers, those that some node or instance type
// limits, with the least limit.
func (x *VolumeIndex) smallestLimits(p *scheduling.Problem, drivers map[string]bool) map[string]int64 {
	out := map[string]int64{}
	if len(drivers) == 0 {
		return out
	}
	for driver := range drivers {
		if strings.HasPrefix(driver, StaticPrefix) {
			out[driver] = 0
		}
	}
	note := func(driver string, n int64) {
		if least, known := out[driver]; drivers[driver] && (!known || n < least) {
			out[driver] = max(0, n)
		}
	}
	for _, node := range p.Nodes {
		for driver := range drivers {
			if n, ok := x.Stated(node.Name, driver); ok && !Going(node) {
				note(driver, n)
			}
		}
	}
	read := map[*instancetypes.Catalog]bool{nil: true}
	look := func(catalog *instancetypes.Catalog) {
		if read[catalog] {
			return
		}
		read[catalog] = true
		for it := range catalog.All() {
			for driver := range drivers {
				name := AttachResource(driver)
				if q, ok := it.Capacity[name]; ok {
					note(driver, Amount(name, q))
				}
				for i := range it.Offerings {
					if q, ok := it.Offerings[i].Capacity[name]; ok {
						note(driver, Amount(name, q))
					}
				}
			}
		}
	}
	look(p.Catalog)
	for _, catalog := range p.PoolCatalogs {
		look(catalog)
	}
	return out
}

// Stated is how many volumes of a driver a node takes, as its CSINode says.
func (x *VolumeIndex) Stated(node, driver string) (int64, bool) {
	csi := x.nodes[node]
	if csi == nil {
		return 0, false
	}
	for i := range csi.Spec.Drivers {
		if d := &csi.Spec.Drivers[i]; d.Name == driver && d.Allocatable != nil && d.Allocatable.Count != nil {
			return int64(*d.Allocatable.Count), true
		}
	}
	return 0, false
}

// charge adds what the volumes take up to a pod's requests, which were read last.
func (v *PodVolumes) charge(r *RequestReader) []int64 {
	for _, c := range v.attached {
		d := r.number(AttachResource(c.Driver))
		r.total[d] = Plus(r.total[d], 1)
	}
	return r.total
}

// LimitShape puts into the room of a machine that is bought how many volumes it takes.
func (x *VolumeIndex) LimitShape(room []int64, table *ResourceTable, states corev1.ResourceList) {
	if x == nil {
		return
	}
	for _, driver := range x.Limited {
		d, asked := table.Index[AttachResource(driver)]
		if !asked {
			continue
		}
		if _, stated := states[table.Names[d]]; !stated {
			room[d] = NoAttachLimit
			continue
		}
		for _, c := range x.Shared {
			if c.Driver == driver {
				room[d] = max(0, room[d]-1)
			}
		}
	}
}

// Attachments are the volumes of a node that runs or is in flight.
type Attachments struct {
	Volumes map[string]bool
	// full are the drivers of which the node could not take all shared volumes that
	// might come, so that it is not charged for them and takes none.
	Full map[string]bool
}

// UsableOn reports whether the volume of the claim can be used on a node of a name and some labels.
func (c *Claim) UsableOn(name string, nodeLabels map[string]string) bool {
	for _, p := range c.Places {
		if !slices.ContainsFunc(p.Terms, func(t Term) bool { return t.MatchesNode(name, nodeLabels) }) {
			return false
		}
	}
	return true
}

// TurnsAway returns a driver of which a full node would have to take a further volume
// for the pods of a group; "" for none.
func (a *Attachments) TurnsAway(c *Constraint) string {
	for _, s := range c.shared {
		if a.Full[s.Driver] && !a.Volumes[s.Volume] {
			return s.Driver
		}
	}
	return ""
}

// A class whose volumes nobody makes, as those of disks that are built into nodes,
// gives claims the volumes that are there and free. Each can be given once, so a node
// holds as many pods as it can reach free volumes. Volumes that several nodes can
// reach count for each of these.

// StaticPrefix begins what stands for the driver of such a class.
const StaticPrefix = "storage class "

// IsStatic reports whether nobody makes volumes of the class.
func IsStatic(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// FreeVolumes are the volumes of a class that are not spoken for, in name order.
func (x *VolumeIndex) FreeVolumes(class string) []*corev1.PersistentVolume {
	if list, ok := x.free[class]; ok {
		return list
	}
	var out []*corev1.PersistentVolume
	for _, name := range slices.Sorted(maps.Keys(x.Volumes)) {
		v := x.Volumes[name]
		if v.Spec.ClaimRef != nil || x.given[v.Name] || v.DeletionTimestamp != nil || v.Status.Phase != "" && v.Status.Phase != corev1.VolumeAvailable {
			continue
		}
		of := v.Spec.StorageClassName
		if beta, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			of = beta
		}
		if of == class {
			out = append(out, v)
		}
	}
	x.free[class] = out
	return out
}

// readStatic reads where volumes are that the claim could get.
func (x *VolumeIndex) readStatic(c *Claim, object *corev1.PersistentVolumeClaim, class string) {
	if v := x.promised[types.NamespacedName{Namespace: OrDefault(object.Namespace), Name: object.Name}]; v != nil {
		x.ReadVolume(c, v)
		return
	}
	signature := appendClaimShape(AppendText(nil, class), &object.Spec)
	found, known := x.offered[string(signature)]
	if !known {
		for _, v := range x.FreeVolumes(class) {
			if SuitsClaim(v, object) {
				found.some = true
				found.anywhere = found.anywhere || Everywhere(v)
				if !found.anywhere {
					found.terms = append(found.terms, AffinityTerms(v.Spec.NodeAffinity.Required)...)
				}
			}
		}
		if !found.anywhere {
			found.place = x.Place(found.terms)
		}
		x.offered[string(signature)] = found
	}
	c.Driver = StaticPrefix + class
	if !found.some {
		c.fail("no volume of storage class "+class+" is free for "+c.Text(), "", waitForVolume)
	}
	if !found.anywhere {
		c.Places = append(c.Places, found.place)
	}
}

// freeOffer is where the free volumes are that suit claims of one shape.
type freeOffer struct {
	some, anywhere bool
	terms          []Term
	place          *Place
}

// FreeOn counts the free volumes of a class that a node can reach.
func (x *VolumeIndex) FreeOn(class, node string, has map[string]string) int64 {
	count := int64(0)
	for _, v := range x.FreeVolumes(class) {
		if x.Reaches(v, node, has) {
			count++
		}
	}
	return count
}

// Reaches reports whether a node can reach a volume.
func (x *VolumeIndex) Reaches(v *corev1.PersistentVolume, node string, has map[string]string) bool {
	if Everywhere(v) {
		return true
	}
	terms, known := x.reach[v.Name]
	if !known {
		terms = AffinityTerms(v.Spec.NodeAffinity.Required)
		x.reach[v.Name] = terms
	}
	return slices.ContainsFunc(terms, func(t Term) bool { return t.MatchesNode(node, has) })
}

// Everywhere reports whether every node can reach a volume.
func Everywhere(v *corev1.PersistentVolume) bool {
	return v.Spec.NodeAffinity == nil || v.Spec.NodeAffinity.Required == nil
}

// appendClaimShape appends what decides which free volumes suit a claim.
func appendClaimShape(b []byte, spec *corev1.PersistentVolumeClaimSpec) []byte {
	size := spec.Resources.Requests[corev1.ResourceStorage]
	b = AppendText(b, size.String())
	for _, mode := range spec.AccessModes {
		b = AppendText(b, string(mode))
	}
	if spec.VolumeMode != nil {
		b = AppendText(append(b, 'm'), string(*spec.VolumeMode))
	}
	if spec.VolumeAttributesClassName != nil {
		b = AppendText(append(b, 'a'), *spec.VolumeAttributesClassName)
	}
	if spec.Selector != nil {
		b = AppendText(append(b, 's'), metav1.FormatLabelSelector(spec.Selector))
	}
	return b
}

// SuitsClaim reports whether a free volume has what a claim asks for.
func SuitsClaim(v *corev1.PersistentVolume, object *corev1.PersistentVolumeClaim) bool {
	have, want := v.Spec.Capacity[corev1.ResourceStorage], object.Spec.Resources.Requests[corev1.ResourceStorage]
	if have.Cmp(want) < 0 || volumeMode(v.Spec.VolumeMode) != volumeMode(object.Spec.VolumeMode) ||
		deref(v.Spec.VolumeAttributesClassName) != deref(object.Spec.VolumeAttributesClassName) {
		return false
	}
	for _, mode := range object.Spec.AccessModes {
		if !slices.Contains(v.Spec.AccessModes, mode) {
			return false
		}
	}
	if object.Spec.Selector == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(object.Spec.Selector)
	return err == nil && selector.Matches(labels.Set(v.Labels))
}

func volumeMode(mode *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if mode == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *mode
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
