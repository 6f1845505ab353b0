package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// storage is the problem's claims, volumes and classes, looked up by name.
type storage struct {
	claims  map[string]*corev1.PersistentVolumeClaim // by namespace/name
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
	// fallback is the class of claims that name none when they are made; "" for none.
	fallback string
	// limits are how many volumes of a driver a node takes, by node and driver.
	limits map[string]map[string]int
	// all are the volumes, drivers the CSINodes of the problem, as listed.
	all     []*corev1.PersistentVolume
	drivers []*storagev1.CSINode
}

func readStorage(p *scheduling.Problem) *storage {
	s := &storage{
		all: p.Volumes, drivers: p.CSINodes,
		claims:  indexed(p.Claims, func(c *corev1.PersistentVolumeClaim) string { return ObjectName(c) }),
		volumes: indexed(p.Volumes, func(v *corev1.PersistentVolume) string { return v.Name }),
		classes: indexed(p.StorageClasses, func(c *storagev1.StorageClass) string { return c.Name }),
		limits:  make(map[string]map[string]int),
	}
	// The newest of the classes that are marked as the default.
	var marked *storagev1.StorageClass
	for _, c := range s.classes {
		if c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" && c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true" {
			continue
		}
		if marked == nil || cmp.Or(marked.CreationTimestamp.Compare(c.CreationTimestamp.Time), strings.Compare(c.Name, marked.Name)) < 0 {
			marked, s.fallback = c, c.Name
		}
	}
	for _, n := range p.CSINodes {
		if n == nil {
			continue
		}
		s.limits[n.Name] = make(map[string]int)
		for _, d := range n.Spec.Drivers {
			if d.Allocatable != nil && d.Allocatable.Count != nil {
				s.limits[n.Name][d.Name] = int(*d.Allocatable.Count)
			}
		}
	}
	return s
}

func indexed[T any](list []*T, name func(*T) string) map[string]*T {
	out := make(map[string]*T)
	for _, o := range list {
		if o != nil {
			out[name(o)] = o
		}
	}
	return out
}

// Mount is a volume of a pod that comes by way of a claim.
type Mount struct {
	Claim string // namespace/name
	// broken says why no pod can use the claim now; "" if one can.
	broken string
	// allows is the condition of the volume on the node's labels; nil for none.
	allows Selector
	// zones are the zones and regions that the volume's own labels name, by key.
	zones map[string][]string
	// driver attaches the volume, id tells it from other volumes of the driver; "" for volumes that are not attached.
	driver, id string
	// Exclusive is set for a claim that one pod at a time may use.
	Exclusive bool
	// Zonal is set for a claim whose volume is still to be made, in one zone.
	Zonal bool
	// Offers are the existing volumes of which the claim gets one, for a class that makes none.
	Offers []*corev1.PersistentVolume
}

// mountsOf reads the claims of a pod, in the order of its volumes.
func (s *storage) mountsOf(pod *corev1.Pod) []Mount {
	var mounts []Mount
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			name := NamespaceOf(pod) + "/" + v.PersistentVolumeClaim.ClaimName
			m := Mount{Claim: name, broken: "does not exist"}
			if c := s.claims[name]; c != nil {
				m = s.mountOf(name, c)
				m.Exclusive = slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod)
			}
			mounts = append(mounts, m)
		case v.Ephemeral != nil:
			mounts = append(mounts, s.ephemeral(pod, v))
		}
	}
	return mounts
}

// ephemeral returns the mount of a generic ephemeral volume. Its claim has the names of pod and volume, and a
// controller makes it once the pod is there.
func (s *storage) ephemeral(pod *corev1.Pod, v *corev1.Volume) Mount {
	name := NamespaceOf(pod) + "/" + pod.Name + "-" + v.Name
	if c := s.claims[name]; c != nil {
		ref := metav1.GetControllerOfNoCopy(c)
		if ref == nil || ref.Kind != "Pod" || ref.Name != pod.Name {
			m := s.mountOf(name, c)
			m.broken, m.driver = "is owned by another object", ""
			return m
		}
		// Objects that no API server has seen have no UIDs yet. The claim of a pod that is gone goes, too.
		if pod.UID != scheduling.SuccessorUID && (ref.UID == pod.UID || ref.UID == "" || pod.UID == "") {
			return s.mountOf(name, c)
		}
	}
	c := &corev1.PersistentVolumeClaim{}
	if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
		c.Annotations, c.Spec = t.Annotations, t.Spec
	}
	if c.Spec.StorageClassName == nil && s.fallback != "" {
		c.Spec.StorageClassName = &s.fallback
	}
	return s.mountOf(name, c)
}

// mountOf reads a claim: it has its volume, or a class whose volumes wait for the
// first pod that uses them.
func (s *storage) mountOf(name string, c *corev1.PersistentVolumeClaim) Mount {
	class := s.classes[classOf(c)]
	m := Mount{Claim: name}
	if v := s.volumes[c.Spec.VolumeName]; v != nil {
		m.driver, m.id = driverOf(v)
	} else if class != nil {
		m.driver, m.id = successor(class.Provisioner), "claim "+name // it will be made
	}
	_, bound := c.Annotations["pv.kubernetes.io/bind-completed"]
	switch {
	case c.DeletionTimestamp != nil:
		m.broken = "is being deleted"
	case c.Status.Phase == corev1.ClaimLost:
		m.broken = "has lost its volume"
	case c.Spec.VolumeName != "" && (bound || c.Status.Phase == corev1.ClaimBound):
		s.boundMount(&m, c.Spec.VolumeName)
	case c.Spec.VolumeName != "":
		m.broken = fmt.Sprintf("is not bound to its volume %s yet", c.Spec.VolumeName)
	case classOf(c) == "":
		m.broken = "has neither a volume nor a storage class"
	case class == nil:
		m.broken = fmt.Sprintf("has the storage class %s, which does not exist", classOf(c))
	case ValueOr(class.VolumeBindingMode, "") != storagev1.VolumeBindingWaitForFirstConsumer:
		m.broken = "is waiting for its volume"
	case nobodyMakes(class):
		s.standingMount(&m, c)
	default:
		m.allows, m.Zonal = allowed(class.AllowedTopologies), s.madeInOneZone(class)
	}
	return m
}

func (s *storage) boundMount(m *Mount, name string) {
	v := s.volumes[name]
	if v == nil || v.DeletionTimestamp != nil {
		m.broken = fmt.Sprintf("is bound to the volume %s, which is missing or being deleted", name)
		return
	}
	m.allows, m.zones = ReachOf(v), make(map[string][]string)
	for _, key := range zoneLabels() {
		if value, ok := v.Labels[key]; ok {
			m.zones[key] = strings.Split(value, "__")
		}
	}
}

// ReachOf are the nodes that reach a volume; nil is all.
func ReachOf(v *corev1.PersistentVolume) Selector {
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		return alternatives(nil, a.Required.NodeSelectorTerms)
	}
	return nil
}

// nobodyMakes reports whether volumes of the class must exist already. A claim of the class gets a free one when the
// first of its pods binds; its other pods must reach that.
func nobodyMakes(class *storagev1.StorageClass) bool {
	return class.Provisioner == "" || class.Provisioner == "kubernetes.io/no-provisioner"
}

// standingMount reads a claim of such a class: its pods must reach one of the free volumes.
func (s *storage) standingMount(m *Mount, c *corev1.PersistentVolumeClaim) {
	for _, v := range s.all {
		if v == nil || v.DeletionTimestamp != nil {
			continue
		}
		if ref := v.Spec.ClaimRef; ref != nil && cmp.Or(ref.Namespace, metav1.NamespaceDefault)+"/"+ref.Name == m.Claim {
			m.Offers = []*corev1.PersistentVolume{v} // it waits for the claim
			break
		}
		if v.Spec.ClaimRef == nil && cmp.Or(v.Status.Phase, corev1.VolumeAvailable) == corev1.VolumeAvailable && offered(v, c) {
			m.Offers = append(m.Offers, v)
		}
	}
	if len(m.Offers) == 0 {
		m.broken = "finds no free volume of storage class " + classOf(c)
		return
	}
	m.allows = Selector{}
	for _, v := range m.Offers {
		reach := ReachOf(v)
		if reach == nil {
			m.allows = nil // this one is reached from everywhere
			return
		}
		m.allows = append(m.allows, reach...)
	}
}

// offered reports whether the volume satisfies the claim: class, size, modes and labels.
func offered(v *corev1.PersistentVolume, c *corev1.PersistentVolumeClaim) bool {
	class := v.Spec.StorageClassName
	if old, ok := v.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		class = old
	}
	size := v.Spec.Capacity[corev1.ResourceStorage]
	asked, err := metav1.LabelSelectorAsSelector(c.Spec.Selector)
	return class == classOf(c) && size.Cmp(c.Spec.Resources.Requests[corev1.ResourceStorage]) >= 0 &&
		ValueOr(v.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) == ValueOr(c.Spec.VolumeMode, corev1.PersistentVolumeFilesystem) &&
		ValueOr(v.Spec.VolumeAttributesClassName, "") == ValueOr(c.Spec.VolumeAttributesClassName, "") &&
		!slices.ContainsFunc(c.Spec.AccessModes, func(mode corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(v.Spec.AccessModes, mode) }) &&
		err == nil && (c.Spec.Selector == nil || asked.Matches(labels.Set(v.Labels)))
}

// ValueOr returns the value of the pointer, or the default for nil.
func ValueOr[T any](value *T, otherwise T) T {
	if value == nil {
		return otherwise
	}
	return *value
}

// classOf is the storage class of a claim; its annotation of old comes first.
func classOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	return ValueOr(c.Spec.StorageClassName, "")
}

// allowed returns the condition on nodes where a class makes volumes: none without terms, otherwise one term whose
// expressions all hold. A term without expressions matches no node.
func allowed(terms []corev1.TopologySelectorTerm) Selector {
	if len(terms) == 0 {
		return nil
	}
	sel := Selector{}
	for _, t := range terms {
		var exprs []Expression
		for _, e := range t.MatchLabelExpressions {
			exprs = append(exprs, Expression{Key: e.Key, op: corev1.NodeSelectorOpIn, values: e.Values})
		}
		if len(exprs) > 0 {
			sel = append(sel, term{Exprs: exprs})
		}
	}
	return sel
}

// driverOf returns the driver that attaches a volume, and the volume's name for it; "" for none. The in-tree volume
// plugins that Kubernetes has migrated have the drivers that replace them.
func driverOf(v *corev1.PersistentVolume) (driver, id string) {
	switch s := &v.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		return s.CSI.Driver, cmp.Or(s.CSI.VolumeHandle, "volume "+v.Name)
	case s.AWSElasticBlockStore != nil:
		return "ebs.csi.aws.com", "volume " + v.Name
	case s.GCEPersistentDisk != nil:
		return "pd.csi.storage.gke.io", "volume " + v.Name
	case s.AzureDisk != nil:
		return "disk.csi.azure.com", "volume " + v.Name
	}
	return "", ""
}

// successor is the driver that does the work of a provisioner.
func successor(provisioner string) string {
	return cmp.Or(map[string]string{
		"kubernetes.io/aws-ebs":    "ebs.csi.aws.com",
		"kubernetes.io/gce-pd":     "pd.csi.storage.gke.io",
		"kubernetes.io/azure-disk": "disk.csi.azure.com",
	}[provisioner], provisioner)
}

// madeInOneZone reports whether volumes of a class can be used in the zone only in which
// they are made: a node says so of its driver, or else the class, or the driver is that
// of a cloud's disks.
func (s *storage) madeInOneZone(class *storagev1.StorageClass) bool {
	driver := successor(class.Provisioner)
	isZone := func(key string) bool { return requirements.NormalizeKey(key) == corev1.LabelTopologyZone }
	var stated []string
	for _, n := range s.drivers {
		if n == nil {
			continue
		}
		for _, d := range n.Spec.Drivers {
			if d.Name == driver {
				stated = append(stated, d.TopologyKeys...)
			}
		}
	}
	if len(stated) > 0 {
		return slices.ContainsFunc(stated, isZone)
	}
	return slices.ContainsFunc(class.AllowedTopologies, func(t corev1.TopologySelectorTerm) bool {
		return slices.ContainsFunc(t.MatchLabelExpressions, func(e corev1.TopologySelectorLabelRequirement) bool { return isZone(e.Key) })
	}) || slices.Contains([]string{"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org"}, driver)
}
