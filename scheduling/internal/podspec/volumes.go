package podspec

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// VolumeIndex answers questions about the volumes of pods. A nil index has no volumes; it stands for problems
// in which no pod to place uses a claim.
//
// The rules are those of kube-scheduler's plugins VolumeBinding, NodeVolumeLimits and VolumeRestrictions. Where
// kube-scheduler waits for a controller to create the claim of an ephemeral volume, the index reads the
// volume's template.
type VolumeIndex struct {
	Claims  map[types.NamespacedName]*corev1.PersistentVolumeClaim
	Volumes map[string]*corev1.PersistentVolume
	Classes map[string]*storagev1.StorageClass
	nodes   map[string]*storagev1.CSINode
	// Standard is the default class.
	Standard *storagev1.StorageClass
	known    map[types.NamespacedName]*Claim // claims read so far
	// templated are the claims of ephemeral volumes that do not exist yet.
	templated map[types.NamespacedName]*Claim
	Places    map[string]*Place // by text
	// reserved are volumes reserved for claims, free the other volumes of a class without a provisioner,
	// freeByShape the places of free volumes by shape of claim, and reach the terms of single volumes.
	reserved    map[types.NamespacedName]*corev1.PersistentVolume
	free        map[string][]*corev1.PersistentVolume
	freeByShape map[string]freePlaces
	reach       map[string][]Term
	given       map[string]bool // volumes reserved by choice
	Limited     []string        // drivers of pending pods' volumes with an attach limit, sorted
	Shared      []*Claim        // claims charged to nodes, in order of names
	choice      *VolumeChoice
}

// PodVolumes is the requirements of one pod's volumes.
type PodVolumes struct {
	refusal  string   // why the pod cannot be placed; "" for none
	Places   []*Place // where its volumes can be used, sorted by text
	attached []*Claim // claims charged to the pod
	shared   []*Claim // claims charged to nodes
	sharing  int      // length of the part of the signature that shared makes
}

// NewVolumeIndex reads the claims of the pods to place, under a choice.
func NewVolumeIndex(p *scheduling.Problem, running []*corev1.Pod, choice *VolumeChoice) *VolumeIndex {
	if !slices.ContainsFunc(p.Pods, func(pod *corev1.Pod) bool { return UsesClaims(pod) && Pending(pod) }) {
		return nil
	}
	x := &VolumeIndex{
		choice:  choice,
		Claims:  make(map[types.NamespacedName]*corev1.PersistentVolumeClaim, len(p.Claims)),
		Volumes: make(map[string]*corev1.PersistentVolume, len(p.Volumes)),
		Classes: make(map[string]*storagev1.StorageClass, len(p.StorageClasses)),
		nodes:   make(map[string]*storagev1.CSINode, len(p.CSINodes)),
		known:   map[types.NamespacedName]*Claim{}, templated: map[types.NamespacedName]*Claim{},
		Places: map[string]*Place{}, reserved: map[types.NamespacedName]*corev1.PersistentVolume{},
		free: map[string][]*corev1.PersistentVolume{}, freeByShape: map[string]freePlaces{}, reach: map[string][]Term{},
		given: map[string]bool{},
	}
	for _, c := range p.Claims {
		x.Claims[types.NamespacedName{Namespace: OrDefault(c.Namespace), Name: c.Name}] = c
	}
	for _, v := range p.Volumes {
		x.Volumes[v.Name] = v
		if ref := v.Spec.ClaimRef; ref != nil {
			x.reserved[types.NamespacedName{Namespace: OrDefault(ref.Namespace), Name: ref.Name}] = v
		}
	}
	x.applyChoice()
	for _, c := range p.StorageClasses {
		x.Classes[c.Name] = c
		if isDefault(c) && (x.Standard == nil || newerClass(c, x.Standard)) {
			x.Standard = c
		}
	}
	for _, n := range p.CSINodes {
		x.nodes[n.Name] = n
	}
	users := x.Users(p.Pods)
	x.assignExclusive(users, running)
	x.readLimits(p, users)
	return x
}

// Users returns the pods to place that use claims, by descending priority and then by name, which is the order
// of binding. It leaves out pods that are refused, e.g. for a fault of a claim.
func (x *VolumeIndex) Users(pods []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range pods {
		if !UsesClaims(pod) || !Pending(pod) || refusal(pod) != "" {
			continue
		}
		if !slices.ContainsFunc(x.ClaimsOf(pod), func(c *Claim) bool { return c.Fault != "" }) {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(PriorityOf(b), PriorityOf(a)), ComparePods(a, b))
	})
	return out
}

// Of returns the requirements of a pod's volumes.
func (x *VolumeIndex) Of(pod *corev1.Pod) PodVolumes {
	if x == nil || !UsesClaims(pod) {
		return PodVolumes{}
	}
	var v PodVolumes
	claims := x.ClaimsOf(pod)
	for _, c := range claims {
		if c.Fault != "" {
			return PodVolumes{refusal: c.Fault}
		}
	}
	for _, c := range claims {
		if c.Holder != nil && c.Holder != pod {
			return PodVolumes{refusal: c.heldText()}
		}
		v.Places = append(v.Places, c.Places...)
		if _, limited := slices.BinarySearch(x.Limited, c.Driver); !limited {
			continue
		}
		if c.shared {
			v.shared = append(v.shared, c)
		} else {
			v.attached = append(v.attached, c)
		}
	}
	slices.SortFunc(v.Places, func(a, b *Place) int { return strings.Compare(a.text, b.text) })
	v.Places = slices.Compact(v.Places)
	slices.SortFunc(v.shared, func(a, b *Claim) int { return strings.Compare(a.Name, b.Name) })
	return v
}

// ClaimsOf lists the claims of a pod's volumes, each once.
func (x *VolumeIndex) ClaimsOf(pod *corev1.Pod) []*Claim {
	var out []*Claim
	for i := range pod.Spec.Volumes {
		if c := x.ClaimOf(pod, &pod.Spec.Volumes[i]); c != nil && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// ClaimOf returns the claim of one volume of a pod; nil for a volume without one, e.g. an emptyDir.
func (x *VolumeIndex) ClaimOf(pod *corev1.Pod, v *corev1.Volume) *Claim {
	switch {
	case v.PersistentVolumeClaim != nil:
		return x.claim(types.NamespacedName{Namespace: NamespaceOf(pod), Name: v.PersistentVolumeClaim.ClaimName})
	case v.Ephemeral != nil:
		return x.ephemeral(pod, v)
	default:
		return nil
	}
}

// UsesClaims reports whether a pod has a volume with a PersistentVolumeClaim.
func UsesClaims(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// appendSignature appends a signature of the places, without names of claims: pods whose volumes can be used in
// the same places are in one class.
func (v *PodVolumes) appendSignature(b []byte) []byte {
	for _, p := range v.Places {
		b = AppendText(append(b, 'w'), p.text)
	}
	own := len(b)
	for _, c := range v.shared {
		b = AppendText(append(b, 'c'), c.Name)
	}
	v.sharing = len(b) - own
	return b
}

// Constrain adds the places of the volumes to a constraint.
func (v *PodVolumes) Constrain(c *Constraint) {
	for _, p := range v.Places {
		c.Volumes = append(c.Volumes, p.Terms)
	}
	c.shared, c.Sharing = v.shared, v.sharing
}

// PriorityOf is the priority of a pod; 0 for none.
func PriorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// OrDefault is a namespace; "default" for "".
func OrDefault(namespace string) string { return cmp.Or(namespace, corev1.NamespaceDefault) }

// VolumeChoice is the decisions about volumes that are made before pods are placed. nil decides nothing.
type VolumeChoice struct {
	// Passed are the pods that yield ReadWriteOncePod claims to other pods, because they found no place with
	// them.
	Passed map[string]bool
	// Zones are, by claim that several pods wait for, the zone in which its volume will be created.
	Zones map[string]string
	// Given are, by claim that several pods wait for, the existing free volume that it gets.
	Given map[string]string
	// Part is the divisor of the smallest attach limit that gives the number of shared volumes charged in
	// advance. 0 means [SharedPart].
	Part int64
}

// Clone returns an independent copy.
func (v *VolumeChoice) Clone() *VolumeChoice {
	if v == nil {
		v = &VolumeChoice{}
	}
	out := &VolumeChoice{Passed: map[string]bool{}, Zones: map[string]string{}, Given: map[string]string{}, Part: v.Part}
	maps.Copy(out.Passed, v.Passed)
	maps.Copy(out.Zones, v.Zones)
	maps.Copy(out.Given, v.Given)
	return out
}

// Lets reports whether the pod yields its ReadWriteOncePod claims.
func (v *VolumeChoice) Lets(pod *corev1.Pod) bool { return v != nil && v.Passed[PodName(pod)] }

// shared is Part with its default.
func (v *VolumeChoice) shared() int64 {
	if v == nil || v.Part == 0 {
		return SharedPart
	}
	return v.Part
}

// Settles reports whether the choice decides where a volume is or will be created.
func (v *VolumeChoice) Settles() bool { return v != nil && len(v.Zones)+len(v.Given) > 0 }

// applyChoice reserves the chosen volumes for their claims.
func (x *VolumeIndex) applyChoice() {
	if x.choice == nil {
		return
	}
	for claim, volume := range x.choice.Given {
		namespace, name, _ := strings.Cut(claim, "/")
		x.reserved[types.NamespacedName{Namespace: namespace, Name: name}] = x.Volumes[volume]
		x.given[volume] = true
	}
}

// narrowToZone restricts the places of a claim to the chosen zone.
func (x *VolumeIndex) narrowToZone(c *Claim) {
	if x.choice == nil || x.choice.Zones[c.Name] == "" {
		return
	}
	zone := NewExpression(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{x.choice.Zones[c.Name]})
	c.Places = append(c.Places, x.Place([]Term{{Labels: []Expression{zone}}}))
}

// Zonal reports whether the volume that a class creates for a claim can be used in one zone only: by the
// topology keys of the driver on some node, by the allowed topologies of the class, or because it is a known
// zonal disk.
func (x *VolumeIndex) Zonal(c *Claim) bool {
	if c.Class == nil || IsStatic(c.Class) {
		return false
	}
	isZone := func(key string) bool { return requirements.NormalizeKey(key) == corev1.LabelTopologyZone }
	stated := false
	for _, node := range x.nodes {
		for i := range node.Spec.Drivers {
			d := &node.Spec.Drivers[i]
			if d.Name != c.Driver || len(d.TopologyKeys) == 0 {
				continue
			}
			if slices.ContainsFunc(d.TopologyKeys, isZone) {
				return true
			}
			stated = true
		}
	}
	if stated {
		return false
	}
	for i := range c.Class.AllowedTopologies {
		for _, e := range c.Class.AllowedTopologies[i].MatchLabelExpressions {
			if isZone(e.Key) {
				return true
			}
		}
	}
	return slices.Contains([]string{EbsDriver, GceDriver, azureDriver, cinderDriver}, c.Driver)
}
