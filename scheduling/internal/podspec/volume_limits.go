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

// The number of volumes of a driver that a node can attach is a resource. It has the name under which nodes
// state it.
const attachPrefix = corev1.ResourceAttachableVolumesPrefix + "csi-"

// NoAttachLimit is the capacity of machines without an attach limit.
const NoAttachLimit = 1 << 40

// SharedPart is the default of [VolumeChoice.Part].
const SharedPart = 4

// AttachResource is the resource that volumes of a driver use.
func AttachResource(driver string) corev1.ResourceName {
	return corev1.ResourceName(attachPrefix + driver)
}

// AttachDriver is the inverse of [AttachResource]; "" for other resources.
func AttachDriver(name corev1.ResourceName) string {
	driver, ok := strings.CutPrefix(string(name), attachPrefix)
	if !ok {
		return ""
	}
	return driver
}

// readLimits finds the drivers with attach limits, and the claims that are charged to nodes.
//
// A volume uses one attachment of a node, however many of its pods are there. The volume of one pod is charged
// to the pod. Where several pods share a volume, it is not known which of them are on one node. So each node is
// charged for it once, whether the pods come or not, and the pods are not charged. This would leave no room
// where many volumes are shared, so only the volumes with the most pods are treated this way; for each other
// one, every pod is charged.
func (x *VolumeIndex) readLimits(p *scheduling.Problem, users []*corev1.Pod) {
	counts := map[*Claim]int{}
	drivers := map[string]bool{}
	for _, pod := range users {
		if x.exclusiveTaken(pod) {
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

// smallestLimits returns the smallest attach limit of any node or instance type, for each driver that has one.
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

// Stated returns the attach limit of a driver in the CSINode of a node.
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

// charge adds the attachments of the volumes to the requests that were read last.
func (v *PodVolumes) charge(r *RequestReader) []int64 {
	for _, c := range v.attached {
		d := r.number(AttachResource(c.Driver))
		r.total[d] = Plus(r.total[d], 1)
	}
	return r.total
}

// LimitShape sets the attach limits in the room of a machine to buy, less the volumes charged in advance.
// states is the capacity of its instance type.
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

// Attachments are the volumes of an existing node or a node in flight.
type Attachments struct {
	Volumes map[string]bool
	// Full are the drivers of which the node cannot attach all shared volumes that might come. It is not
	// charged for these, and admits no new one.
	Full map[string]bool
}

// UsableOn reports whether the volume of the claim can be used on a node with a name and labels.
func (c *Claim) UsableOn(name string, nodeLabels map[string]string) bool {
	for _, p := range c.Places {
		if !slices.ContainsFunc(p.Terms, func(t Term) bool { return t.MatchesNode(name, nodeLabels) }) {
			return false
		}
	}
	return true
}

// FullDriver returns a full driver of which pods of a group would need a further volume; "" for none.
func (a *Attachments) FullDriver(c *Constraint) string {
	for _, s := range c.shared {
		if a.Full[s.Driver] && !a.Volumes[s.Volume] {
			return s.Driver
		}
	}
	return ""
}

// A class without a provisioner, e.g. for local disks, binds claims to existing free volumes. Each can be bound
// once, so a node holds as many pods as it can reach free volumes. A volume that several nodes can reach counts
// for each of them.

// StaticPrefix begins the name that stands for the driver of a class without a provisioner.
const StaticPrefix = "storage class "

// IsStatic reports whether the class has no provisioner.
func IsStatic(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// FreeVolumes returns the volumes of a class that are not reserved for a claim, in order of names.
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

// readStatic reads the places of the free volumes that the claim could be bound to.
func (x *VolumeIndex) readStatic(c *Claim, object *corev1.PersistentVolumeClaim, class string) {
	if v := x.reserved[types.NamespacedName{Namespace: OrDefault(object.Namespace), Name: object.Name}]; v != nil {
		x.ReadVolume(c, v)
		return
	}
	signature := appendClaimShape(AppendText(nil, class), &object.Spec)
	found, known := x.freeByShape[string(signature)]
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
		x.freeByShape[string(signature)] = found
	}
	c.Driver = StaticPrefix + class
	if !found.some {
		c.fail("no volume of storage class "+class+" is free for "+c.Text(), "", waitForVolume)
	}
	if !found.anywhere {
		c.Places = append(c.Places, found.place)
	}
}

// freePlaces is where the free volumes are that suit claims of one shape.
type freePlaces struct {
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

// appendClaimShape appends the fields of a claim that decide which free volumes suit it.
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

// SuitsClaim reports whether a free volume has the size, modes and labels that a claim requests.
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
