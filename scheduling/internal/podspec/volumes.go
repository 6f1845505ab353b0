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

// VolumeIndex answers what the volumes of pods ask of their nodes. It is nil, which
// asks for nothing, where no pod to be placed uses a claim.
//
// The rules are those of kube-scheduler's plugins VolumeBinding, NodeVolumeLimits and
// VolumeRestrictions. Where kube-scheduler waits for a controller that would create
// the claim of an ephemeral volume, the volume's template speaks for it.
type VolumeIndex struct {
	Claims  map[types.NamespacedName]*corev1.PersistentVolumeClaim
	Volumes map[string]*corev1.PersistentVolume
	Classes map[string]*storagev1.StorageClass
	nodes   map[string]*storagev1.CSINode
	// standard is the class of claims that name none: the newest of the default ones.
	Standard *storagev1.StorageClass
	known    map[types.NamespacedName]*Claim // those that were read
	// templated are claims of ephemeral volumes that are still to be made.
	templated map[types.NamespacedName]*Claim
	Places    map[string]*Place // by text
	// promised are volumes set aside for claims, free those of a class that are not,
	// offered what suits claims of one shape, and reach where single volumes are.
	promised map[types.NamespacedName]*corev1.PersistentVolume
	free     map[string][]*corev1.PersistentVolume
	offered  map[string]freeOffer
	reach    map[string][]Term
	given    map[string]bool // volumes that were chosen for claims
	Limited  []string        // drivers of pending pods' volumes that some machine limits, sorted
	Shared   []*Claim        // those charged to nodes, in name order
	choice   *VolumeChoice
}

// PodVolumes is what the volumes of one pod ask for.
type PodVolumes struct {
	refusal  string   // why the pod cannot be placed at all; "" for most
	Places   []*Place // where its volumes can be used, in the order of their texts
	attached []*Claim // claims that take up one of the node's attachments
	shared   []*Claim // claims that do, and that nodes are charged for in advance
	sharing  int      // length of what the signature says about those
}

// NewVolumeIndex reads the claims of the pods to be placed, under a choice.
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
		Places: map[string]*Place{}, promised: map[types.NamespacedName]*corev1.PersistentVolume{},
		free: map[string][]*corev1.PersistentVolume{}, offered: map[string]freeOffer{}, reach: map[string][]Term{},
		given: map[string]bool{},
	}
	for _, c := range p.Claims {
		x.Claims[types.NamespacedName{Namespace: OrDefault(c.Namespace), Name: c.Name}] = c
	}
	for _, v := range p.Volumes {
		x.Volumes[v.Name] = v
		if ref := v.Spec.ClaimRef; ref != nil {
			x.promised[types.NamespacedName{Namespace: OrDefault(ref.Namespace), Name: ref.Name}] = v
		}
	}
	x.give()
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
	x.setAside(users, running)
	x.readLimits(p, users)
	return x
}

// Users returns the pods to be placed that use claims, the most urgent first, then by
// name, which is the order in which they are bound. Pods that are refused for a fault
// of a claim are left out.
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

// Of returns what the volumes of a pod to be placed ask for.
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
		v := &pod.Spec.Volumes[i]
		var c *Claim
		switch {
		case v.PersistentVolumeClaim != nil:
			c = x.claim(types.NamespacedName{Namespace: NamespaceOf(pod), Name: v.PersistentVolumeClaim.ClaimName})
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

// UsesClaims reports whether a pod has volumes that are claimed.
func UsesClaims(pod *corev1.Pod) bool {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			return true
		}
	}
	return false
}

// appendSignature appends what of the volumes concerns the node: pods whose volumes
// may be used in the same places fall into one class, whatever their claims are called.
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

// Constrain adds to a constraint what the volumes ask of the node.
func (v *PodVolumes) Constrain(c *Constraint) {
	for _, p := range v.Places {
		c.Volumes = append(c.Volumes, p.Terms)
	}
	c.shared, c.Sharing = v.shared, v.sharing
}

// PriorityOf is the priority of a pod, 0 where it states none.
func PriorityOf(pod *corev1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// OrDefault is a namespace, "default" for "".
func OrDefault(namespace string) string { return cmp.Or(namespace, corev1.NamespaceDefault) }

// VolumeChoice is what has to be decided about volumes before pods are placed. nil
// decides nothing.
type VolumeChoice struct {
	// passed are pods that let others have the claims which one pod at a time may use:
	// they had them in vain.
	Passed map[string]bool
	// zones are, by claim, where volumes will be made that several pods wait for.
	Zones map[string]string
	// given are, by claim, the volumes that are there and free which claims get that
	// several pods wait for.
	Given map[string]string
	// part is the share of the smallest attach limit that shared volumes may take up in
	// advance: one in so many. 0 is sharedPart.
	Part int64
}

// Clone returns a choice that can change without changing v.
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

// Lets reports whether the pod lets others have what it could have.
func (v *VolumeChoice) Lets(pod *corev1.Pod) bool { return v != nil && v.Passed[PodName(pod)] }

// shared is the share of a limit that shared volumes may take up in advance.
func (v *VolumeChoice) shared() int64 {
	if v == nil || v.Part == 0 {
		return SharedPart
	}
	return v.Part
}

// Settles reports whether it says where volumes are or will be made.
func (v *VolumeChoice) Settles() bool { return v != nil && len(v.Zones)+len(v.Given) > 0 }

// give promises claims the volumes that were chosen for them.
func (x *VolumeIndex) give() {
	if x.choice == nil {
		return
	}
	for claim, volume := range x.choice.Given {
		namespace, name, _ := strings.Cut(claim, "/")
		x.promised[types.NamespacedName{Namespace: namespace, Name: name}] = x.Volumes[volume]
		x.given[volume] = true
	}
}

// narrow narrows the places of a claim to the zone that was chosen for it.
func (x *VolumeIndex) narrow(c *Claim) {
	if x.choice == nil || x.choice.Zones[c.Name] == "" {
		return
	}
	zone := NewExpression(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, []string{x.choice.Zones[c.Name]})
	c.Places = append(c.Places, x.Place([]Term{{Labels: []Expression{zone}}}))
}

// Zonal reports whether the volume that a class makes for a claim can be used in one
// zone only: the node says so whose driver it is, or the class, or it is the kind of
// disk that is known for it.
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
