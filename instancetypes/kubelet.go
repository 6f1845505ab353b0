package instancetypes

import (
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

// Kubelet holds the settings of a kubelet that decide what its node has for pods, in
// the form of an EC2NodeClass's spec.kubelet. The zero value sets nothing. Soft
// eviction thresholds are not among them: they take nothing off what pods may request.
//
// Where Karpenter takes expressions (feature gate NodeClassCEL), a text that is no
// number or quantity is one. Expressions are not evaluated and count as not set; see
// [Kubelet.Expressions].
type Kubelet struct {
	// MaxPods is how many pods the node admits.
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`
	// PodsPerCore bounds the number of pods by that of virtual cores; 0 does not.
	PodsPerCore int32 `json:"podsPerCore,omitempty"`
	// KubeReserved and SystemReserved are quantities of cpu, memory and
	// ephemeral-storage. What they set takes the place of the catalog's figure. Process
	// ids (pid) may be reserved as well and do not matter.
	KubeReserved   map[string]string `json:"kubeReserved,omitempty"`
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// EvictionHard holds thresholds by signal, as quantities or percentages of the
	// capacity; 100% is none. memory.available and nodefs.available count.
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
}

// Signals of eviction that take something off what pods may request.
const (
	memoryAvailable = "memory.available"
	nodefsAvailable = "nodefs.available"
)

// Validate reports everything that is wrong with the settings, as [Fault] values whose
// fields are paths below the settings, such as "kubeReserved.cpu".
func (k *Kubelet) Validate() error {
	var fs faults
	report := func(field, value, problem string) { fs.add(&Fault{Field: field, Value: value, Problem: problem}) }
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

// Expressions returns the paths of the settings that are expressions, sorted: what
// nodes hold in truth may be another figure than the one that is planned with.
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

// reserved is what one field sets aside.
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
