package instancetypes

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NodeSettings are the settings of a node class that change the capacity of nodes or the zones of
// their launches. The zero value changes nothing in the catalog. The packages below this one derive
// settings from the node classes of their cloud.
type NodeSettings struct {
	Kubelet Kubelet
	// Pods is how many pods a node admits where the kubelet's maxPods is not set; 0 is
	// the catalog's figure.
	Pods int64
	// MostPods is how many pods a node admits at most, whatever the kubelet or the catalog says;
	// 0 is no bound.
	MostPods int64
	// MemoryFollowsPods says that the memory in kube-reserved is computed by [KubeReserved] for the
	// pods that the kubelet admits, where their number differs from the catalog's. Without it the
	// catalog's figure stays, however many pods the kubelet admits.
	MemoryFollowsPods bool
	// VolumeBytes is the size of the volume that pods write to; 0 is the catalog's
	// figure.
	VolumeBytes int64
	// LocalDisks is the label that tells the size of a type's local disks in units of
	// 10^9 bytes, where they are joined and take the place of the volume; "" leaves
	// local disks alone.
	LocalDisks string
	// LocalDisksIfLarger has local disks take the place of the volume only where they hold more.
	LocalDisksIfLarger bool
	// LabelKeys, if not nil, returns the key under which nodes carry a label of the type, by the
	// key that the catalog has. It must not return one key for two.
	LabelKeys func(key string) string
	// Labels are on every node, in place of the type's labels of the same keys.
	Labels map[string]string
	// Devices are extended resources that types have besides, by the name of the type.
	// Amounts that the catalog states stay.
	Devices map[string]corev1.ResourceList
	// Launches, if not nil, keeps the offerings that may be launched. Other offerings become
	// unavailable: they still have the price of running nodes.
	Launches Filter
}

// WithNodeSettings returns the catalog of nodes with these settings; c itself if they change
// none. They override an offering's own amount of a resource. The error reports the faults of the
// settings of the kubelet; see [Kubelet.Validate].
//
// The rules are those by which Karpenter's AWS provider computes instance types
// (pkg/providers/instancetype/types.go):
//
//   - pods: maxPods, or else the catalog's number (the one of the network interfaces),
//     and never more than podsPerCore × cores or MostPods;
//   - kube-reserved: the amounts of kubeReserved, or else the catalog's figures; see
//     MemoryFollowsPods;
//   - system-reserved: the amounts of systemReserved;
//   - ephemeral-storage: the joined local disks of a type that has some, or else the
//     volume;
//   - eviction threshold: the amounts of evictionHard, or else the catalog's figures, of which the
//     one of ephemeral-storage is a tenth, rounded up, of a size that changes.
func (c *Catalog) WithNodeSettings(s NodeSettings) (*Catalog, error) {
	if err := s.Kubelet.Validate(); err != nil {
		return nil, err
	}
	types, changed := make([]*InstanceType, 0, c.Len()), false
	for old := range c.All() {
		t := s.apply(old)
		types, changed = append(types, t), changed || t != old
	}
	if !changed {
		return c, nil
	}
	return c.derive(types), nil
}

// apply returns a type with the settings: the old one if they do not change it.
func (s *NodeSettings) apply(old *InstanceType) *InstanceType {
	t := *old
	t.Capacity, t.Overhead = old.Capacity.DeepCopy(), old.Overhead.DeepCopy()
	for name, q := range s.Devices[t.Name] {
		if _, stated := t.Capacity[name]; !stated {
			t.Capacity[name] = q
		}
	}
	s.setPods(&t)
	s.setStorage(&t)
	reserved := &t.Overhead
	reserved.KubeReserved = merged(reserved.KubeReserved, quantities(s.Kubelet.KubeReserved))
	reserved.SystemReserved = merged(reserved.SystemReserved, quantities(s.Kubelet.SystemReserved))
	for signal, name := range map[string]corev1.ResourceName{memoryAvailable: corev1.ResourceMemory, nodefsAvailable: corev1.ResourceEphemeralStorage} {
		if value, ok := s.Kubelet.EvictionHard[signal]; ok {
			if q, err := threshold(value, t.Capacity[name]); err == nil { // it was validated
				reserved.EvictionThreshold = merged(reserved.EvictionThreshold, corev1.ResourceList{name: q})
			}
		}
	}
	if s.LabelKeys != nil || len(s.Labels) > 0 {
		t.Labels = make(map[string]string, len(old.Labels)+len(s.Labels))
		for key, value := range old.Labels {
			if s.LabelKeys != nil {
				key = s.LabelKeys(key)
			}
			t.Labels[key] = value
		}
		maps.Copy(t.Labels, s.Labels)
	}
	if !s.setOfferings(&t, old) && maps.Equal(t.Labels, old.Labels) {
		return old
	}
	return &t
}

func (s *NodeSettings) setPods(t *InstanceType) {
	stated, ok := t.Capacity[corev1.ResourcePods]
	before := stated.Value()
	pods := before
	switch n, set := s.Kubelet.maxPods(); {
	case set:
		pods, ok = n, true
	case s.Pods > 0:
		pods, ok = s.Pods, true
	}
	if perCore := int64(s.Kubelet.PodsPerCore); perCore > 0 {
		most := MaxPods(math.MaxInt32, 0, perCore, t.Capacity.Cpu().Value())
		if !ok || most < pods {
			pods, ok = most, true
		}
	}
	if s.MostPods > 0 && (!ok || s.MostPods < pods) {
		pods, ok = s.MostPods, true
	}
	if !ok || pods == before {
		return
	}
	t.Capacity[corev1.ResourcePods] = *resource.NewQuantity(pods, resource.DecimalSI)
	if s.MemoryFollowsPods {
		memory := KubeReserved(0, t.Capacity.Memory().Value(), pods)[corev1.ResourceMemory]
		t.Overhead.KubeReserved = merged(t.Overhead.KubeReserved, corev1.ResourceList{corev1.ResourceMemory: memory})
	}
}

func (s *NodeSettings) setStorage(t *InstanceType) {
	before := t.Capacity[corev1.ResourceEphemeralStorage]
	bytes := s.VolumeBytes
	if disks, err := strconv.ParseInt(t.Labels[s.LocalDisks], 10, 64); err == nil && disks > 0 && (!s.LocalDisksIfLarger || EphemeralStorage(disks, 0) > bytes) {
		bytes = EphemeralStorage(disks, 0)
	}
	if bytes == 0 || bytes == before.Value() {
		return
	}
	t.Capacity[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(bytes, resource.BinarySI)
	if _, ok := t.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage]; ok {
		t.Overhead.EvictionThreshold[corev1.ResourceEphemeralStorage] = EvictionThreshold(bytes)[corev1.ResourceEphemeralStorage]
	}
}

// setOfferings marks the offerings that may not be launched, and removes their own amounts of
// resources that have changed. It reports whether an offering or a resource has changed.
func (s *NodeSettings) setOfferings(t, old *InstanceType) (changed bool) {
	capacity := changes(old.Capacity, t.Capacity)
	overhead := changes(old.Overhead.Total(), t.Overhead.Total())
	changed = len(capacity)+len(overhead) > 0
	t.Offerings = slices.Clone(old.Offerings)
	for i := range t.Offerings {
		o := &t.Offerings[i]
		o.Capacity, o.Overhead = without(o.Capacity, capacity), without(o.Overhead, overhead)
		if s.Launches != nil && !o.Unavailable && !s.Launches(t, *o) {
			o.Unavailable, changed = true, true
		}
	}
	return changed
}

// changes returns the resources of which there is another amount than before.
func changes(before, after corev1.ResourceList) (names []corev1.ResourceName) {
	for name, q := range after {
		if old, ok := before[name]; !ok || old.Cmp(q) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// without returns a list less the named resources. It does not change the list.
func without(list corev1.ResourceList, names []corev1.ResourceName) corev1.ResourceList {
	if len(list) == 0 || len(names) == 0 {
		return list
	}
	list = maps.Clone(list)
	maps.DeleteFunc(list, func(name corev1.ResourceName, _ resource.Quantity) bool { return slices.Contains(names, name) })
	return list
}

// Kubelet holds the settings of a kubelet that change the allocatable of its node, in the form of
// an EC2NodeClass's spec.kubelet. The zero value has no settings. Soft eviction thresholds are not
// included, because they do not change the allocatable.
//
// Where Karpenter takes expressions (feature gate NodeClassCEL), a text that is no
// number or quantity is one. Expressions are not evaluated and count as not set; see
// [Kubelet.Expressions].
type Kubelet struct {
	// MaxPods is how many pods the node admits.
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore bounds the number of pods by that of virtual cores; 0 does not.
	PodsPerCore int32 `json:"podsPerCore,omitempty"`
	// KubeReserved and SystemReserved are quantities of cpu, memory and ephemeral-storage. They
	// replace the catalog's figures. Process ids (pid) may be reserved as well and are ignored.
	KubeReserved   map[string]string `json:"kubeReserved,omitempty"`
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// EvictionHard holds thresholds by signal, as quantities or percentages of the
	// capacity; 100% is none. memory.available and nodefs.available count.
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
}

// Signals of eviction that lower the allocatable.
const (
	memoryAvailable = "memory.available"
	nodefsAvailable = "nodefs.available"
)

// Validate reports all faults of the settings, as [CatalogFault] values whose fields are paths below the
// settings, e.g. "kubeReserved.cpu".
func (k *Kubelet) Validate() error {
	var fs faults
	report := func(field, value, problem string) {
		fs.add(&CatalogFault{Field: field, Value: value, Problem: problem})
	}
	if n, ok := k.maxPods(); ok && n < 0 {
		report("maxPods", strconv.FormatInt(n, 10), "is negative")
	}
	if k.PodsPerCore < 0 {
		report("podsPerCore", strconv.Itoa(int(k.PodsPerCore)), "is negative")
	}
	for _, r := range k.reserved() {
		for _, name := range slices.Sorted(maps.Keys(r.list)) {
			if !slices.Contains([]string{"cpu", "memory", "ephemeral-storage", "pid"}, name) {
				report(r.field+"."+name, r.list[name], "is none of cpu, memory, ephemeral-storage and pid")
			}
		}
		checkResources(quantities(r.list), report, r.field)
	}
	for _, signal := range slices.Sorted(maps.Keys(k.EvictionHard)) {
		value := k.EvictionHard[signal]
		if q, err := threshold(value, resource.Quantity{}); err != nil || quantityProblem(corev1.ResourceMemory, q) != "" {
			report("evictionHard["+signal+"]", value, `is neither a quantity such as "500Mi" nor a percentage`)
		}
	}
	return fs.err()
}

// ValidateAt is [Kubelet.Validate] of settings at a path, e.g. "spec.kubelet", with which the
// fields of its faults begin.
func (k *Kubelet) ValidateAt(path string) error {
	err := k.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var out []error
	for _, e := range joined.Unwrap() {
		var fault *CatalogFault
		if errors.As(e, &fault) {
			moved := *fault
			moved.Field = path + "." + moved.Field
			e = &moved
		}
		out = append(out, e)
	}
	return errors.Join(out...)
}

// Expressions returns the paths of the settings that are expressions, sorted: the capacity of nodes
// may differ from the planned one there.
func (k *Kubelet) Expressions() []string {
	var out []string
	if k.MaxPods != nil && k.MaxPods.Type == intstr.String {
		out = append(out, "maxPods")
	}
	for _, r := range k.reserved() {
		for name, value := range r.list {
			if _, err := parseQuantity(value); err != nil {
				out = append(out, r.field+"."+name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// reserved is the reservation in one field.
type reserved struct {
	field string
	list  map[string]string
}

func (k *Kubelet) reserved() []reserved {
	return []reserved{{"kubeReserved", k.KubeReserved}, {"systemReserved", k.SystemReserved}}
}

func (k *Kubelet) maxPods() (int64, bool) {
	if k.MaxPods == nil || k.MaxPods.Type == intstr.String {
		return 0, false
	}
	return int64(k.MaxPods.IntVal), true
}

// quantities returns the amounts of a list, without expressions and process ids.
func quantities(list map[string]string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, value := range list {
		if q, err := parseQuantity(value); err == nil && name != "pid" {
			out[corev1.ResourceName(name)] = q
		}
	}
	return out
}

// threshold returns how much of a capacity a threshold of eviction keeps free:
// percentages are rounded up, and 100 % switches the threshold off.
func threshold(value string, capacity resource.Quantity) (resource.Quantity, error) {
	share, ok := strings.CutSuffix(value, "%")
	if !ok {
		return parseQuantity(value)
	}
	percent, err := strconv.ParseFloat(share, 64)
	if err != nil || math.IsNaN(percent) || percent < 0 || percent > 100 {
		return resource.Quantity{}, fmt.Errorf("%q is no percentage", value)
	}
	if percent == 100 {
		percent = 0
	}
	return *resource.NewQuantity(int64(math.Ceil(capacity.AsApproximateFloat64()/100*percent)), resource.BinarySI), nil
}
