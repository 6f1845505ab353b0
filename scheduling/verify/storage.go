package verify

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// users are the running pods that use a claim, by its name.
	users map[string]map[string]bool
}

func (w *world) readStorage() {
	s := storage{
		claims:  make(map[string]*corev1.PersistentVolumeClaim),
		volumes: make(map[string]*corev1.PersistentVolume),
		classes: make(map[string]*storagev1.StorageClass),
		limits:  make(map[string]map[string]int),
		users:   make(map[string]map[string]bool),
	}
	for _, c := range w.problem.Claims {
		if c != nil {
			s.claims[cmp.Or(c.Namespace, metav1.NamespaceDefault)+"/"+c.Name] = c
		}
	}
	for _, v := range w.problem.Volumes {
		if v != nil {
			s.volumes[v.Name] = v
		}
	}
	for _, c := range w.problem.StorageClasses {
		if c != nil {
			s.classes[c.Name] = c
		}
	}
	s.fallback = fallbackClass(w.problem.StorageClasses)
	for _, n := range w.problem.CSINodes {
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
	w.storage = s
}

// use notes that a running pod uses its claims.
func (s *storage) use(pod *corev1.Pod) {
	for claim := range claimsOf(pod) {
		if s.users[claim] == nil {
			s.users[claim] = make(map[string]bool)
		}
		s.users[claim][podName(pod)] = true
	}
}

// release forgets that a running pod uses its claims.
func (s *storage) release(pod *corev1.Pod) {
	for claim := range claimsOf(pod) {
		delete(s.users[claim], podName(pod))
		if len(s.users[claim]) == 0 {
			delete(s.users, claim)
		}
	}
}

// occupant is the first, by name, of the running pods that use a claim.
func (s *storage) occupant(claim string) (pod string, used bool) {
	for name := range s.users[claim] {
		if !used || name < pod {
			pod, used = name, true
		}
	}
	return pod, used
}

// claimsOf are the names of the claims that a pod names.
func claimsOf(pod *corev1.Pod) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range pod.Spec.Volumes {
			c := pod.Spec.Volumes[i].PersistentVolumeClaim
			if c != nil && !yield(namespaceOf(pod)+"/"+c.ClaimName) {
				return
			}
		}
	}
}

// fallbackClass is the newest of the classes that are marked as the default.
func fallbackClass(classes []*storagev1.StorageClass) string {
	marked := slices.DeleteFunc(slices.Clone(classes), func(c *storagev1.StorageClass) bool {
		return c == nil || c.Annotations["storageclass.kubernetes.io/is-default-class"] != "true" &&
			c.Annotations["storageclass.beta.kubernetes.io/is-default-class"] != "true"
	})
	if len(marked) == 0 {
		return ""
	}
	return slices.MinFunc(marked, func(a, b *storagev1.StorageClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), strings.Compare(a.Name, b.Name))
	}).Name
}

// mount is a volume of a pod that comes by way of a claim.
type mount struct {
	claim string // namespace/name
	// broken says why nobody can use the claim now; "" if somebody can.
	broken string
	// allows is what the volume asks of the node's labels; nil is nothing.
	allows selector
	// zones are the zones and regions that the volume's own labels name, by key.
	zones map[string][]string
	// driver attaches it, id tells it from others of the driver; "" if nothing is attached.
	driver, id string
	// exclusive is set for a claim that one pod at a time may use.
	exclusive bool
	// zonal is set for a claim whose volume is still to be made, in one zone.
	zonal bool
	// offers are the volumes of which a claim is to get one that nobody makes.
	offers []*corev1.PersistentVolume
}

// mountsOf reads the claims of a pod, in the order of its volumes.
func (w *world) mountsOf(pod *corev1.Pod) []mount {
	var mounts []mount
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		switch {
		case v.PersistentVolumeClaim != nil:
			name := namespaceOf(pod) + "/" + v.PersistentVolumeClaim.ClaimName
			c := w.storage.claims[name]
			if c == nil {
				mounts = append(mounts, mount{claim: name, broken: "does not exist"})
				continue
			}
			m := w.mountOf(name, c)
			m.exclusive = slices.Contains(c.Spec.AccessModes, corev1.ReadWriteOncePod)
			mounts = append(mounts, m)
		case v.Ephemeral != nil:
			mounts = append(mounts, w.ephemeral(pod, v))
		}
	}
	return mounts
}

// ephemeral is the mount of a volume that lives as long as its pod: its claim bears the
// names of both, and is made by a controller once the pod is there.
func (w *world) ephemeral(pod *corev1.Pod, v *corev1.Volume) mount {
	name := namespaceOf(pod) + "/" + pod.Name + "-" + v.Name
	if c := w.storage.claims[name]; c != nil {
		m := w.mountOf(name, c)
		if !madeFor(c, pod) {
			m.broken, m.driver = "belongs to somebody else", ""
		}
		return m
	}
	c := &corev1.PersistentVolumeClaim{}
	if t := v.Ephemeral.VolumeClaimTemplate; t != nil {
		c.Annotations, c.Spec = t.Annotations, t.Spec
	}
	if c.Spec.StorageClassName == nil && w.storage.fallback != "" {
		c.Spec.StorageClassName = &w.storage.fallback
	}
	return w.mountOf(name, c)
}

// madeFor reports whether the pod controls the claim. Objects that no API server has
// seen have no UIDs yet.
func madeFor(c *corev1.PersistentVolumeClaim, pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(c)
	return ref != nil && ref.Kind == "Pod" && ref.Name == pod.Name && (ref.UID == pod.UID || ref.UID == "" || pod.UID == "")
}

// mountOf reads a claim: it has its volume, or a class whose volumes wait for the
// first pod that uses them.
func (w *world) mountOf(name string, c *corev1.PersistentVolumeClaim) mount {
	m := mount{claim: name}
	m.driver, m.id = w.attachment(name, c)
	_, bound := c.Annotations["pv.kubernetes.io/bind-completed"]
	switch {
	case c.DeletionTimestamp != nil:
		m.broken = "is being deleted"
	case c.Status.Phase == corev1.ClaimLost:
		m.broken = "has lost its volume"
	case c.Spec.VolumeName != "" && (bound || c.Status.Phase == corev1.ClaimBound):
		w.boundMount(&m, c.Spec.VolumeName)
	case c.Spec.VolumeName != "":
		m.broken = fmt.Sprintf("is not bound to its volume %s yet", c.Spec.VolumeName)
	default:
		w.unboundMount(&m, c, classOf(c))
	}
	return m
}

func (w *world) boundMount(m *mount, name string) {
	v := w.storage.volumes[name]
	if v == nil || v.DeletionTimestamp != nil {
		m.broken = fmt.Sprintf("is bound to the volume %s, which is not there or is being deleted", name)
		return
	}
	if a := v.Spec.NodeAffinity; a != nil && a.Required != nil {
		m.allows = alternatives(nil, a.Required.NodeSelectorTerms)
	}
	for _, key := range zoneLabels() {
		if value, ok := v.Labels[key]; ok {
			if m.zones == nil {
				m.zones = make(map[string][]string)
			}
			m.zones[key] = strings.Split(value, "__")
		}
	}
}

func (w *world) unboundMount(m *mount, claim *corev1.PersistentVolumeClaim, class string) {
	c := w.storage.classes[class]
	switch {
	case class == "":
		m.broken = "has neither a volume nor a storage class"
	case c == nil:
		m.broken = fmt.Sprintf("has the storage class %s, which does not exist", class)
	case c.VolumeBindingMode == nil || *c.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		m.broken = "waits for its volume"
	case nobodyMakes(c):
		w.standingMount(m, claim, class)
	default:
		m.allows = allowed(c.AllowedTopologies)
		m.zonal = w.madeInOneZone(class)
	}
}

// attachment is what attaches the volume of a claim, and the volume's name there. What
// is not there yet will be made by the class.
func (w *world) attachment(name string, c *corev1.PersistentVolumeClaim) (driver, id string) {
	if v := w.storage.volumes[c.Spec.VolumeName]; v != nil {
		return driverOf(v)
	}
	if class := w.storage.classes[classOf(c)]; class != nil {
		return successor(class.Provisioner), "claim " + name
	}
	return "", ""
}

// classOf is the storage class of a claim; its annotation of old comes first.
func classOf(c *corev1.PersistentVolumeClaim) string {
	if class, ok := c.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return class
	}
	if c.Spec.StorageClassName != nil {
		return *c.Spec.StorageClassName
	}
	return ""
}

// allowed are the places where a class makes volumes: anywhere without terms, else
// where all expressions of one term hold. A term without any matches nothing.
func allowed(terms []corev1.TopologySelectorTerm) selector {
	if len(terms) == 0 {
		return nil
	}
	sel := selector{}
	for _, t := range terms {
		var exprs []expression
		for _, e := range t.MatchLabelExpressions {
			exprs = append(exprs, expression{key: e.Key, op: corev1.NodeSelectorOpIn, values: e.Values})
		}
		if len(exprs) > 0 {
			sel = append(sel, term{exprs: exprs})
		}
	}
	return sel
}

// driverOf is what attaches a volume, and the volume's name there. Volumes of the kinds
// that used to be built into Kubernetes are attached by the drivers that replace them.
func driverOf(v *corev1.PersistentVolume) (driver, id string) {
	switch s := &v.Spec.PersistentVolumeSource; {
	case s.CSI != nil:
		return s.CSI.Driver, cmp.Or(s.CSI.VolumeHandle, "volume "+v.Name)
	case s.AWSElasticBlockStore != nil:
		return successor("kubernetes.io/aws-ebs"), "volume " + v.Name
	case s.GCEPersistentDisk != nil:
		return successor("kubernetes.io/gce-pd"), "volume " + v.Name
	case s.AzureDisk != nil:
		return successor("kubernetes.io/azure-disk"), "volume " + v.Name
	}
	return "", ""
}

// successor is the driver that does the work of a provisioner.
func successor(provisioner string) string {
	switch provisioner {
	case "kubernetes.io/aws-ebs":
		return "ebs.csi.aws.com"
	case "kubernetes.io/gce-pd":
		return "pd.csi.storage.gke.io"
	case "kubernetes.io/azure-disk":
		return "disk.csi.azure.com"
	}
	return provisioner
}

// zoneLabels are the labels by which a volume may say where it is.
func zoneLabels() []string {
	return []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion}
}
