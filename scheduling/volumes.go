package scheduling

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// volumeIndex answers what the volumes of pods ask of their nodes. It is nil, which
// asks for nothing, where no pod to be placed uses a claim.
//
// The rules are those of kube-scheduler's plugins VolumeBinding, NodeVolumeLimits and
// VolumeRestrictions. Where kube-scheduler waits for a controller that would create
// the claim of an ephemeral volume, the volume's template speaks for it.
type volumeIndex struct {
	claims  map[objectKey]*corev1.PersistentVolumeClaim
	volumes map[string]*corev1.PersistentVolume
	classes map[string]*storagev1.StorageClass
	nodes   map[string]*storagev1.CSINode
	// standard is the class of claims that name none: the newest of the default ones.
	standard *storagev1.StorageClass
	known    map[objectKey]*claim // those that were read
	places   map[string]*place    // by text
	// promised are volumes set aside for claims, free those of a class that are not,
	// offered what suits claims of one shape, and reach where single volumes are.
	promised map[objectKey]*corev1.PersistentVolume
	free     map[string][]*corev1.PersistentVolume
	offered  map[string]freeOffer
	reach    map[string][]term
	given    map[string]bool // volumes that were chosen for claims
	limited  []string        // drivers of pending pods' volumes that some machine limits, sorted
	shared   []*claim        // those charged to nodes, in name order
	choice   *volumeChoice
}

// podVolumes is what the volumes of one pod ask for.
type podVolumes struct {
	refusal  string   // why the pod cannot be placed at all; "" for most
	places   []*place // where its volumes can be used, in the order of their texts
	attached []*claim // claims that take up one of the node's attachments
	shared   []*claim // claims that do, and that nodes are charged for in advance
	sharing  int      // length of what the signature says about those
}

// newVolumeIndex reads the claims of the pods to be placed, under a choice.
func newVolumeIndex(p *Problem, running []*corev1.Pod, choice *volumeChoice) *volumeIndex {
	if !slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool { return usesClaims(pod) && pending(pod) }) {
		return nil
	}
	x := &volumeIndex{
		choice:  choice,
		claims:  make(map[objectKey]*corev1.PersistentVolumeClaim, len(p.Claims)),
		volumes: make(map[string]*corev1.PersistentVolume, len(p.Volumes)),
		classes: make(map[string]*storagev1.StorageClass, len(p.StorageClasses)),
		nodes:   make(map[string]*storagev1.CSINode, len(p.CSINodes)),
		known:   map[objectKey]*claim{},
		places:  map[string]*place{}, promised: map[objectKey]*corev1.PersistentVolume{},
		free: map[string][]*corev1.PersistentVolume{}, offered: map[string]freeOffer{}, reach: map[string][]term{},
		given: map[string]bool{},
	}
	for _, c := range p.Claims {
		x.claims[objectKey{orDefault(c.Namespace), c.Name}] = c
	}
	for _, v := range p.Volumes {
		x.volumes[v.Name] = v
		if ref := v.Spec.ClaimRef; ref != nil {
			x.promised[objectKey{orDefault(ref.Namespace), ref.Name}] = v
		}
	}
	x.give()
	for _, c := range p.StorageClasses {
		x.classes[c.Name] = c
		if isDefault(c) && (x.standard == nil || newerClass(c, x.standard)) {
			x.standard = c
		}
	}
	for _, n := range p.CSINodes {
		x.nodes[n.Name] = n
	}
	users := x.users(p.Pods)
	x.setAside(users, running)
	x.readLimits(p, users)
	return x
}

// users returns the pods to be placed that use claims, the most urgent first, then by
// name, which is the order in which they are bound. Pods that are refused for a fault
// of a claim are left out.
func (x *volumeIndex) users(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if !usesClaims(pod) || !pending(pod) || refusal(pod) != "" {
			continue
		}
		if !slices.ContainsFunc(x.claimsOf(pod), func(c *claim) bool { return c.fault != "" }) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(priorityOf(b), priorityOf(a)), comparePods(a, b))
	})
	return out
}

// of returns what the volumes of a pod to be placed ask for.
func (x *volumeIndex) of(pod *corev1.Pod) podVolumes {
	if x == nil || !usesClaims(pod) {
		return podVolumes{}
	}
	var v podVolumes
	claims := x.claimsOf(pod)
	for _, c := range claims {
		if c.fault != "" {
			return podVolumes{refusal: c.fault}
		}
	}
	for _, c := range claims {
		if c.holder != nil && c.holder != pod {
			return podVolumes{refusal: c.heldText()}
		}
		v.places = append(v.places, c.places...)
		if _, limited := slices.BinarySearch(x.limited, c.driver); !limited {
			continue
		}
		if c.shared {
			v.shared = append(v.shared, c)
		} else {
			v.attached = append(v.attached, c)
		}
	}
	slices.SortFunc(v.places, func(a, b *place) int { return strings.Compare(a.text, b.text) })
	v.places = slices.Compact(v.places)
	slices.SortFunc(v.shared, func(a, b *claim) int { return strings.Compare(a.name, b.name) })
	return v
}

// claimsOf lists the claims of a pod's volumes, each once.
func (x *volumeIndex) claimsOf(pod *corev1.Pod) []*claim {
	var out []*claim
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		var c *claim
		switch {
		case v.PersistentVolumeClaim != nil:
			c = x.claim(objectKey{namespaceOf(pod), v.PersistentVolumeClaim.ClaimName})
		case v.Ephemeral != nil:
			c = x.ephemeral(pod, v)
		default:
			continue
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// usesClaims reports whether a pod has volumes that are claimed.
func usesClaims(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// appendSignature appends what of the volumes concerns the node: pods whose volumes
// may be used in the same places fall into one class, whatever their claims are called.
func (v *podVolumes) appendSignature(b []byte) []byte {
	for _, p := range v.places {
		b = appendText(append(b, 'w'), p.text)
	}
	own := len(b)
	for _, c := range v.shared {
		b = appendText(append(b, 'c'), c.name)
	}
	v.sharing = len(b) - own
	return b
}

// constrain adds to a constraint what the volumes ask of the node.
func (v *podVolumes) constrain(c *constraint) {
	for _, p := range v.places {
		c.volumes = append(c.volumes, p.terms)
	}
	c.shared, c.sharing = v.shared, v.sharing
}

func priorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

func orDefault(namespace string) string { return cmp.Or(namespace, corev1.NamespaceDefault) }
