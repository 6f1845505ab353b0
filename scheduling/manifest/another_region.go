package manifest

import (
	"slices"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// InAnotherRegion turns the snapshot into one of the same pods in another region, before it has a catalog:
// there are no nodes, NodeClaims and volumes, running pods become pending, claims are unbound, and
// NodePools, storage classes and the subnets of node classes name neither zones nor regions. Zones
// that pods require stay. Objects that were read are replaced by changed copies.
func (s *Snapshot) InAnotherRegion() {
	p := &s.Problem
	for _, pod := range lo.Compact(p.Running) {
		owner, _ := controllerOf(pod)
		if lifecycle.Leaving(pod) || owner.kind == "DaemonSet" || owner.kind == "Node" {
			continue
		}
		waits := *pod
		waits.Spec.NodeName, waits.Status = "", corev1.PodStatus{}
		p.Pods = append(p.Pods, &waits)
	}
	p.Pods = lo.Compact(p.Pods)
	slices.SortFunc(p.Pods, byName)
	p.Running, p.Nodes, p.Volumes, p.CSINodes, s.NodeClaims = nil, nil, nil, nil, nil
	replaceEach(p.Claims, func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName, c.Status = "", corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	})
	replaceEach(p.StorageClasses, func(c *storagev1.StorageClass) { c.AllowedTopologies = nil })
	for i, pool := range p.NodePools {
		if pool == nil {
			continue
		}
		p.NodePools[i] = pool.DeepCopy()
		template := &p.NodePools[i].Spec.Template
		template.Spec.Requirements = slices.DeleteFunc(template.Spec.Requirements, func(r requirements.Selector) bool { return isPlace(r.Key) })
		for key := range template.Metadata.Labels {
			if isPlace(key) {
				delete(template.Metadata.Labels, key)
			}
		}
	}
	classes := map[scheduling.NodeClassRef]nodeClass{}
	for ref, class := range s.classes {
		switch own := class.(type) {
		case *ec2.NodeClass:
			anywhere := *own
			anywhere.Status.Subnets = nil
			class = &anywhere
		case *ec2.AutoNodeClass:
			anywhere := *own
			anywhere.Status.Subnets = nil
			class = &anywhere
		}
		classes[ref] = class
	}
	s.classes = classes
}

// isPlace reports whether a label says where a machine is.
func isPlace(key string) bool {
	return slices.Contains([]string{offerings.ZoneLabel, corev1.LabelTopologyRegion, "topology.k8s.aws/zone-id", "topology.k8s.gcp/zone-id"}, requirements.NormalizeKey(key))
}

// replaceEach replaces the objects of a list by changed copies.
func replaceEach[T any](list []*T, change func(*T)) {
	for i, old := range list {
		if old == nil {
			continue
		}
		changed := *old
		change(&changed)
		list[i] = &changed
	}
}
