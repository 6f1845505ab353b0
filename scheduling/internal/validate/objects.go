package validate

import (
	"slices"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// VolumeTerms leads to the terms of a volume's node affinity.
const VolumeTerms = "nodeAffinity.required.nodeSelectorTerms"

// storage checks what tells where pods with volumes may run.
func (c *Checker) storage(p *scheduling.Problem) {
	c.names = NewNameSet(len(p.Claims))
	for i, claim := range p.Claims {
		switch {
		case !c.Enter("claims", i, claim == nil):
		case claim.Name == "":
			c.Add("", "is missing", "metadata.name")
		default:
			c.At.Namespace, c.At.Name = podspec.OrDefault(claim.Namespace), claim.Name
			c.once()
			c.accessModes(claim.Spec.AccessModes)
		}
	}
	c.names = NewNameSet(len(p.Volumes))
	for i, v := range p.Volumes {
		if c.Enter("volumes", i, v == nil) && c.named(&v.ObjectMeta) && v.Spec.NodeAffinity != nil {
			c.volumeAffinity(v.Spec.NodeAffinity.Required)
		}
	}
	c.names = NewNameSet(len(p.StorageClasses))
	for i, class := range p.StorageClasses {
		if c.Enter("storageclasses", i, class == nil) && c.named(&class.ObjectMeta) {
			c.storageClass(class)
		}
	}
	c.names = NewNameSet(len(p.CSINodes))
	for i, n := range p.CSINodes {
		if c.Enter("csinodes", i, n == nil) && c.named(&n.ObjectMeta) {
			c.csiDrivers(n.Spec.Drivers)
		}
	}
}

func (c *Checker) accessModes(modes []corev1.PersistentVolumeAccessMode) {
	for i, mode := range modes {
		path := "spec.accessModes[" + strconv.Itoa(i) + "]"
		switch mode {
		case corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany:
		case corev1.ReadWriteOncePod:
			if len(modes) > 1 {
				c.Add(string(mode), "must stand alone", path)
			}
		default:
			c.Add(string(mode), "must be one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod", path)
		}
	}
}

func (c *Checker) volumeAffinity(required *corev1.NodeSelector) {
	if required == nil {
		return
	}
	c.spec = "spec"
	if len(required.NodeSelectorTerms) == 0 {
		c.Add("", "needs at least one term", c.spec+"."+VolumeTerms)
	}
	for i := range required.NodeSelectorTerms {
		c.nodeTerm(&required.NodeSelectorTerms[i], trail{list: VolumeTerms, index: i})
	}
}

func (c *Checker) storageClass(class *storagev1.StorageClass) {
	if mode := class.VolumeBindingMode; mode != nil && *mode != storagev1.VolumeBindingImmediate && *mode != storagev1.VolumeBindingWaitForFirstConsumer {
		c.Add(string(*mode), "must be Immediate or WaitForFirstConsumer", "volumeBindingMode")
	}
	for i := range class.AllowedTopologies {
		for j := range class.AllowedTopologies[i].MatchLabelExpressions {
			e := &class.AllowedTopologies[i].MatchLabelExpressions[j]
			path := "allowedTopologies[" + strconv.Itoa(i) + "].matchLabelExpressions[" + strconv.Itoa(j) + "]"
			if !LabelKey(e.Key) {
				c.Add(e.Key, NotALabelKey, path+".key")
			}
			if len(e.Values) == 0 {
				c.Add("", "needs at least one value", path+".values")
			}
			for k, v := range e.Values {
				if !LabelValue(v) {
					c.Add(v, NotALabelValue, path+".values["+strconv.Itoa(k)+"]")
				}
			}
		}
	}
}

func (c *Checker) csiDrivers(drivers []storagev1.CSINodeDriver) {
	for i := range drivers {
		d := &drivers[i]
		path := "spec.drivers[" + strconv.Itoa(i) + "]"
		switch {
		case d.Name == "":
			c.Add("", "is missing", path+".name")
		case slices.ContainsFunc(drivers[:i], func(o storagev1.CSINodeDriver) bool { return o.Name == d.Name }):
			c.Add(d.Name, "is there more than once", path+".name")
		}
		if d.Allocatable != nil && d.Allocatable.Count != nil && *d.Allocatable.Count < 0 {
			c.Add(strconv.Itoa(int(*d.Allocatable.Count)), "is negative", path+".allocatable.count")
		}
	}
}

// surroundings checks what tells which pods belong together: namespaces, Services and
// controllers, and the spread constraints of pods that state none.
func (c *Checker) surroundings(p *scheduling.Problem) {
	listed(c, "namespaces", p.Namespaces, func(o *corev1.Namespace) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "services", p.Services, func(o *corev1.Service) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "replicationcontrollers", p.Owners.ReplicationControllers, func(o *corev1.ReplicationController) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "replicasets", p.Owners.ReplicaSets, func(o *appsv1.ReplicaSet) *metav1.ObjectMeta { return &o.ObjectMeta })
	listed(c, "statefulsets", p.Owners.StatefulSets, func(o *appsv1.StatefulSet) *metav1.ObjectMeta { return &o.ObjectMeta })
	for i := range p.DefaultSpread {
		s := &p.DefaultSpread[i]
		c.At = Position{List: "defaultSpread", Index: i}
		if s.MaxSkew < 1 {
			c.Add(strconv.Itoa(int(s.MaxSkew)), "must be at least 1", "maxSkew")
		}
		switch {
		case s.TopologyKey == "":
			c.Add("", "is missing", "topologyKey")
		case !LabelKey(s.TopologyKey):
			c.Add(s.TopologyKey, NotALabelKey, "topologyKey")
		}
		if s.WhenUnsatisfiable != corev1.DoNotSchedule && s.WhenUnsatisfiable != corev1.ScheduleAnyway {
			c.Add(string(s.WhenUnsatisfiable), "must be DoNotSchedule or ScheduleAnyway", "whenUnsatisfiable")
		}
	}
}

// listed checks that each object of a list is there, has a name, and is there once.
func listed[T any](c *Checker, list string, objects []*T, meta func(*T) *metav1.ObjectMeta) {
	c.names = NewNameSet(len(objects))
	for i, o := range objects {
		if c.Enter(list, i, o == nil) {
			c.named(meta(o))
		}
	}
}
