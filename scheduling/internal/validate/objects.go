package validate

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/faults"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// VolumeTerms is the path of the terms of a volume's node affinity.
const VolumeTerms = "nodeAffinity.required.nodeSelectorTerms"

// storage checks the objects that decide where pods with volumes may run.
func (c *Checker) storage(p *scheduling.Problem) {
	c.names = map[types.NamespacedName]int{}
	for i, claim := range p.Claims {
		if c.Enter("claims", i, claim == nil) && c.named(podspec.OrDefault(claim.Namespace), claim.Name) {
			c.accessModes(claim.Spec.AccessModes)
		}
	}
	Listed(c, "volumes", p.Volumes, func(v *corev1.PersistentVolume) {
		if v.Spec.NodeAffinity != nil {
			c.volumeAffinity(v.Spec.NodeAffinity.Required)
		}
	})
	Listed(c, "storageclasses", p.StorageClasses, c.storageClass)
	Listed(c, "csinodes", p.CSINodes, func(n *storagev1.CSINode) { c.csiDrivers(n.Spec.Drivers) })
}

func (c *Checker) accessModes(modes []corev1.PersistentVolumeAccessMode) {
	for i, mode := range modes {
		path := "spec.accessModes[" + strconv.Itoa(i) + "]"
		switch mode {
		case corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany:
		case corev1.ReadWriteOncePod:
			if len(modes) > 1 {
				c.Faults.Add(string(mode), "must stand alone", path)
			}
		default:
			c.Faults.Add(string(mode), "must be one of ReadWriteOnce, ReadOnlyMany, ReadWriteMany, ReadWriteOncePod", path)
		}
	}
}

func (c *Checker) volumeAffinity(required *corev1.NodeSelector) {
	if required == nil {
		return
	}
	spec := podSpecChecker{faults: &c.Faults, path: "spec"}
	if len(required.NodeSelectorTerms) == 0 {
		c.Faults.Add("", "needs at least one term", spec.path+"."+VolumeTerms)
	}
	for i := range required.NodeSelectorTerms {
		spec.nodeTerm(&required.NodeSelectorTerms[i], specPath{list: VolumeTerms, index: i})
	}
}

func (c *Checker) storageClass(class *storagev1.StorageClass) {
	if mode := class.VolumeBindingMode; mode != nil && *mode != storagev1.VolumeBindingImmediate && *mode != storagev1.VolumeBindingWaitForFirstConsumer {
		c.Faults.Add(string(*mode), "must be Immediate or WaitForFirstConsumer", "volumeBindingMode")
	}
	for i := range class.AllowedTopologies {
		for j := range class.AllowedTopologies[i].MatchLabelExpressions {
			e := &class.AllowedTopologies[i].MatchLabelExpressions[j]
			path := "allowedTopologies[" + strconv.Itoa(i) + "].matchLabelExpressions[" + strconv.Itoa(j) + "]"
			if !LabelKey(e.Key) {
				c.Faults.Add(e.Key, NotALabelKey, path+".key")
			}
			if len(e.Values) == 0 {
				c.Faults.Add("", "needs at least one value", path+".values")
			}
			for k, v := range e.Values {
				if !LabelValue(v) {
					c.Faults.Add(v, NotALabelValue, path+".values["+strconv.Itoa(k)+"]")
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
			c.Faults.Add("", "is missing", path+".name")
		case slices.ContainsFunc(drivers[:i], func(o storagev1.CSINodeDriver) bool { return o.Name == d.Name }):
			c.Faults.Add(d.Name, "is there more than once", path+".name")
		}
		if d.Allocatable != nil && d.Allocatable.Count != nil && *d.Allocatable.Count < 0 {
			c.Faults.Add(strconv.Itoa(int(*d.Allocatable.Count)), "is negative", path+".allocatable.count")
		}
	}
}

// groupingObjects checks the objects that decide which pods belong together, namespaces, Services and
// controllers, and the default spread constraints.
func (c *Checker) groupingObjects(p *scheduling.Problem) {
	Listed(c, "namespaces", p.Namespaces, nil)
	Listed(c, "services", p.Services, nil)
	Listed(c, "replicationcontrollers", p.Owners.ReplicationControllers, nil)
	Listed(c, "replicasets", p.Owners.ReplicaSets, nil)
	Listed(c, "statefulsets", p.Owners.StatefulSets, nil)
	Listed(c, "spotpolicies", p.SpotPolicies, func(policy *scheduling.SpotPolicy) { spotPolicy(&c.Faults, &policy.Spec) })
	for i := range p.DefaultSpread {
		c.MoveTo(Position{List: "defaultSpread", Index: i})
		spreadFaults(&p.DefaultSpread[i], c.Faults.Add)
	}
}

// spotPolicy checks the selector and the bounds of a SpotPolicy.
func spotPolicy(f *faults.Collector, s *scheduling.SpotPolicySpec) {
	if s.PodSelector == nil {
		f.Add("", "is missing; {} selects all pods", "spec.podSelector")
	} else {
		podSelectorFaults(f, s.PodSelector, "spec.podSelector")
	}
	for i, name := range s.Namespaces {
		if len(validation.IsDNS1123Label(name)) > 0 {
			f.Add(name, "is no name of a namespace", strict.Element("spec.namespaces", i))
		}
	}
	switch p := s.MaxSpotPercent; {
	case p == nil && s.MinOnDemand == 0:
		f.Add("", "is missing, and so is minOnDemand: the policy bounds nothing", "spec.maxSpotPercent")
	case p != nil && (*p < 0 || *p > 100):
		f.Add(strconv.Itoa(int(*p)), "must lie between 0 and 100", "spec.maxSpotPercent")
	}
	if s.MinOnDemand < 0 {
		f.Add(strconv.Itoa(int(s.MinOnDemand)), "is negative", "spec.minOnDemand")
	}
}
