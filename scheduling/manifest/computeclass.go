package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/admission"
)

const (
	// instanceLabel begins the labels of Karpenter's provider for Google Cloud that describe a machine.
	instanceLabel = "karpenter.k8s.gcp/instance-"
	// machineFamilyLabel and acceleratorLabel are the labels of GKE for the series of a machine and for its kind of GPU.
	machineFamilyLabel = "cloud.google.com/machine-family"
	acceleratorLabel   = "cloud.google.com/gke-accelerator"
)

// computeClass is a ComputeClass of GKE, as far as it decides which machines are bought.
type computeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Priorities        []classPriority `json:"priorities"`
		WhenUnsatisfiable string          `json:"whenUnsatisfiable"`
		AutoscalingPolicy struct {
			ConsolidationDelayMinutes *int32 `json:"consolidationDelayMinutes"`
			ConsolidationThreshold    any    `json:"consolidationThreshold"`
			GPUConsolidationThreshold any    `json:"gpuConsolidationThreshold"`
		} `json:"autoscalingPolicy"`
		NodePoolConfig struct {
			NodeLabels     map[string]string `json:"nodeLabels"`
			Taints         []corev1.Taint    `json:"taints"`
			ImageType      any               `json:"imageType"`
			ServiceAccount any               `json:"serviceAccount"`
		} `json:"nodePoolConfig"`

		ActiveMigration      any `json:"activeMigration"`
		Description          any `json:"description"`
		NodePoolAutoCreation any `json:"nodePoolAutoCreation"`
		PriorityDefaults     any `json:"priorityDefaults"`
	} `json:"spec"`
	Status any `json:"status"`
}

// classPriority is one of the kinds of machines that a ComputeClass has bought.
type classPriority struct {
	MachineFamily string `json:"machineFamily"`
	MachineType   string `json:"machineType"`
	Spot          bool   `json:"spot"`
	MinCores      int64  `json:"minCores"`
	MinMemoryGb   int64  `json:"minMemoryGb"`
	GPU           *struct {
		Type          string `json:"type"`
		Count         int64  `json:"count"`
		DriverVersion any    `json:"driverVersion"`
	} `json:"gpu"`
	Location struct {
		Zones []string `json:"zones"`
	} `json:"location"`

	// The fields below select machines by objects that are not in the input.

	Nodepools    []string `json:"nodepools"`
	PodFamily    any      `json:"podFamily"`
	Reservations any      `json:"reservations"`
	TPU          any      `json:"tpu"`
	FlexStart    any      `json:"flexStart"`
	Placement    any      `json:"placement"`

	// The fields below change the capacity of nodes or their lifetime.

	MaxPodsPerNode        any `json:"maxPodsPerNode"`
	MaxRunDurationSeconds any `json:"maxRunDurationSeconds"`
	Storage               any `json:"storage"`
}

// ComputeClassPart is the part of a ComputeClass that a NodePool stands for.
type ComputeClassPart struct {
	// Class is the name of the ComputeClass, and Field the path to the part, e.g. "spec.priorities[0]".
	Class string
	Field string
	// Fields are the fields of the part by the label keys of the NodePool's requirements, e.g. machineFamily. There are
	// none for spec.whenUnsatisfiable, because GKE and not the user sets the machines of ScaleUpAnyway.
	Fields map[string]string
}

// classFields are the fields of a priority by the label keys of its selectors.
func classFields() map[string]string {
	return map[string]string{
		offerings.CapacityTypeLabel: "spot", machineFamilyLabel: "machineFamily", corev1.LabelInstanceTypeStable: "machineType",
		offerings.ZoneLabel: "location.zones", instanceLabel + "cpu": "minCores", instanceLabel + "memory": "minMemoryGb",
		acceleratorLabel: "gpu.type", instanceLabel + "gpu-count": "gpu.count",
	}
}

// readComputeClass reads a ComputeClass as a NodePool for each of its priorities, the first with the
// highest weight. Their nodes have the label and the taint of the class, stay until they are empty
// or underutilized, and are of the machines that the priority names; on demand unless it asks for
// spot. With whenUnsatisfiable ScaleUpAnyway there is a last one for machines of series e2.
func readComputeClass(c *collector, o rawObject) {
	class, ok := take[computeClass](c, o, false, nil)
	if !ok {
		return
	}
	var told, unread []string
	var pools []string
	priorities := class.Spec.Priorities
	if class.Spec.WhenUnsatisfiable == "ScaleUpAnyway" {
		priorities = append(slices.Clip(priorities), classPriority{MachineFamily: "e2"})
	}
	for i := range priorities {
		p, at := &priorities[i], fmt.Sprintf("spec.priorities[%d]", i)
		if why := p.elsewhere(); why != "" {
			told = append(told, fmt.Sprintf("%s.%s names nodes that are not in the input, and was left out", at, why))
			continue
		}
		for field, value := range map[string]any{"maxPodsPerNode": p.MaxPodsPerNode, "maxRunDurationSeconds": p.MaxRunDurationSeconds, "storage": p.Storage} {
			if value != nil {
				unread = append(unread, at+"."+field)
			}
		}
		name := class.Name + "-" + strconv.Itoa(i+1)
		pools = append(pools, name)
		c.objects.classParts[name] = ComputeClassPart{Class: class.Name, Field: at, Fields: classFields()}
		if i == len(class.Spec.Priorities) {
			c.objects.classParts[name] = ComputeClassPart{Class: class.Name, Field: "spec.whenUnsatisfiable"}
		}
		c.convert(o.at, "NodePool", karpenterGroup, "v1", map[string]any{
			"metadata": map[string]any{"name": name},
			"spec": map[string]any{
				"weight": max(100-i, 1),
				"template": map[string]any{
					"metadata": map[string]any{"labels": lo.Assign(class.Spec.NodePoolConfig.NodeLabels, map[string]string{admission.ComputeClassLabel: class.Name})},
					"spec": map[string]any{
						"expireAfter":  "Never",
						"requirements": p.selectors(),
						"taints": append(slices.Clip(class.Spec.NodePoolConfig.Taints),
							corev1.Taint{Key: admission.ComputeClassLabel, Value: class.Name, Effect: corev1.TaintEffectNoSchedule}),
					},
				},
				"disruption": class.disruption(),
			},
		})
	}
	if len(unread) > 0 {
		slices.Sort(unread)
		told = append(told, strings.Join(unread, ", ")+lo.Ternary(len(unread) > 1, " are", " is")+" not read")
	}
	if class.Spec.PriorityDefaults != nil {
		told = append(told, "spec.priorityDefaults is not read")
	}
	c.objects.computeClasses[class.Name] = pools
	c.found.note(warned(o.kind, class), "was read as NodePools "+strings.Join(pools, ", "))
	if len(told) > 0 {
		c.found.warn(warned(o.kind, class), strings.Join(told, "; "))
	}
}

// disruption are the fields for when nodes go.
func (class *computeClass) disruption() map[string]any {
	fields := map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized"}
	if delay := class.Spec.AutoscalingPolicy.ConsolidationDelayMinutes; delay != nil {
		fields["consolidateAfter"] = fmt.Sprintf("%dm", *delay)
	}
	return fields
}

// elsewhere names the field by which a priority selects its machines through an object that is not
// in the input; "" if there is none.
func (p *classPriority) elsewhere() string {
	for field, set := range map[string]bool{
		"nodepools": len(p.Nodepools) > 0, "podFamily": p.PodFamily != nil, "reservations": p.Reservations != nil,
		"tpu": p.TPU != nil, "flexStart": p.FlexStart != nil, "placement": p.Placement != nil,
	} {
		if set {
			return field
		}
	}
	return ""
}

// selectors are the requirements of a priority on its machines.
func (p *classPriority) selectors() []requirements.Selector {
	out := []requirements.Selector{oneOf(offerings.CapacityTypeLabel, string(lo.Ternary(p.Spot, offerings.Spot, offerings.OnDemand)))}
	named := func(key string, values ...string) {
		if values = lo.Compact(values); len(values) > 0 {
			out = append(out, oneOf(key, values...))
		}
	}
	named(machineFamilyLabel, p.MachineFamily)
	named(corev1.LabelInstanceTypeStable, p.MachineType)
	named(offerings.ZoneLabel, p.Location.Zones...)
	if p.MinCores > 0 {
		out = append(out, moreThan(instanceLabel+"cpu", strconv.FormatInt(p.MinCores-1, 10)))
	}
	if p.MinMemoryGb > 0 {
		out = append(out, moreThan(instanceLabel+"memory", strconv.FormatInt(p.MinMemoryGb<<10-1, 10)))
	}
	if p.GPU != nil {
		named(acceleratorLabel, p.GPU.Type)
		if p.GPU.Count > 0 {
			named(instanceLabel+"gpu-count", strconv.FormatInt(p.GPU.Count, 10))
		}
	}
	return out
}

// classNodes assigns the nodes of ComputeClasses to their NodePools: the first of their class whose
// requirements the labels of the node meet, as far as it has them. The numbers of cores and GPUs
// come from the node's capacity, because GKE has no labels for them.
func classNodes(o *objects, nodes []*corev1.Node) []*corev1.Node {
	return lo.Map(nodes, func(node *corev1.Node, _ int) *corev1.Node {
		names := o.computeClasses[node.Labels[admission.ComputeClassLabel]]
		if len(names) == 0 || node.Labels[scheduling.NodePoolLabel] != "" {
			return node
		}
		labels := PaidFor(node).Labels
		told := map[string]string{}
		for key, q := range map[string]resource.Quantity{
			instanceLabel + "cpu": node.Status.Capacity[corev1.ResourceCPU], instanceLabel + "gpu-count": node.Status.Capacity["nvidia.com/gpu"],
		} {
			if labels[key] == "" && !q.IsZero() {
				told[key] = strconv.FormatInt(q.Value(), 10)
			}
		}
		maps.Copy(labels, told)
		for _, name := range names {
			pool, ok := lo.Find(o.problem.NodePools, func(p *scheduling.NodePool) bool { return p.Name == name })
			if ok && lo.EveryBy(pool.Spec.Template.Spec.Requirements, func(s requirements.Selector) bool {
				value, stated := labels[requirements.NormalizeKey(s.Key)]
				return !stated || setOf([]requirements.Selector{s}).Get(s.Key).Has(value)
			}) {
				owned := PooledNode(name, node)
				maps.Copy(owned.Labels, told)
				return owned
			}
		}
		return node
	})
}
