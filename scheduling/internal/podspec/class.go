package podspec

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// PodClass is pods between which nothing that scheduling reads differs.
type PodClass struct {
	Group         int
	TopologyTerms int     // what ties its pods to others
	Among         int     // the set of targets that its pods are among
	Requests      []int64 // by resource number
	Priority      int32
	Refused       string                // why pods of the class are not planned at all; "" for most
	Code          scheduling.ReasonCode // of what refused says
	Pods          []*corev1.Pod
}

// Classifier folds pods into classes, and constraints into groups.
type Classifier struct {
	table       *ResourceTable
	Reader      RequestReader
	Volumes     *VolumeIndex
	Groups      []*Constraint
	Signatures  []string // of the groups
	groupIndex  map[string]int
	Classes     []*PodClass
	classIndex  map[string]int
	Unrequested int // pods that ask for neither CPU nor memory
	buffer      []byte
	keys        []string
}

// NewClassifier returns a classifier without classes, which numbers resources by a table.
func NewClassifier(table *ResourceTable) *Classifier {
	return &Classifier{
		table:      table,
		Reader:     RequestReader{Table: table},
		groupIndex: map[string]int{},
		classIndex: map[string]int{},
	}
}

// Class returns the class of a pod with a spec key that has the given topology terms and is among a
// set of targets. The pod is not entered.
func (c *Classifier) Class(pod *corev1.Pod, m *SpecKey, bonds, among int) *PodClass {
	c.Reader.restore(m.requests)
	volumes := c.Volumes.Of(pod)
	requests := volumes.charge(&c.Reader)
	b := volumes.appendSignature(AppendSignature(c.buffer[:0], &pod.Spec, &c.keys))
	groupEnd := len(b)
	b = append(b, '|')
	b = binary.AppendVarint(b, int64(m.priority))
	b = binary.AppendVarint(b, int64(bonds))
	b = binary.AppendVarint(b, int64(among))
	b = AppendRequests(b, requests)
	refused, code := m.refused, scheduling.ReasonUnsupported
	if refused == "" {
		refused, code = volumes.refusal, scheduling.ReasonVolume
	}
	if refused != "" {
		b = AppendText(b, refused)
	}
	c.buffer = b
	i, ok := c.classIndex[string(b)]
	if !ok {
		i = len(c.Classes)
		c.classIndex[string(b)] = i
		c.Classes = append(c.Classes, &PodClass{
			Group:         c.group(b[:groupEnd], &pod.Spec, &volumes),
			TopologyTerms: bonds,
			Among:         among,
			Requests:      slices.Clone(requests),
			Priority:      m.priority,
			Refused:       refused,
			Code:          code,
		})
	}
	return c.Classes[i]
}

// group returns the number of the group with a signature.
func (c *Classifier) group(signature []byte, spec *corev1.PodSpec, volumes *PodVolumes) int {
	if g, ok := c.groupIndex[string(signature)]; ok {
		return g
	}
	g := len(c.Groups)
	c.groupIndex[string(signature)] = g
	c.Signatures = append(c.Signatures, string(signature))
	group := NewConstraint(spec)
	volumes.Constrain(group)
	c.Groups = append(c.Groups, group)
	return g
}

// Sort puts resources, groups, classes and the pods within them into an order that
// the order of the input does not show in. Everything that numbers resources must
// have been read before.
func (c *Classifier) Sort(moved []int, sets [][]int32) {
	order := make([]int, len(c.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.Signatures[a], c.Signatures[b]) })
	rank := make([]int, len(order))
	groups := make([]*Constraint, len(order))
	signatures := make([]string, len(order))
	for to, from := range order {
		rank[from], groups[to], signatures[to] = to, c.Groups[from], c.Signatures[from]
	}
	c.Groups, c.Signatures = groups, signatures
	cpu, hasCPU := c.table.Index[corev1.ResourceCPU]
	memory, hasMemory := c.table.Index[corev1.ResourceMemory]
	for _, class := range c.Classes {
		class.Group = rank[class.Group]
		requests := c.table.Renumbered(class.Requests, moved)
		class.Requests = requests
		slices.SortFunc(class.Pods, ComparePods)
		if (!hasCPU || requests[cpu] == 0) && (!hasMemory || requests[memory] == 0) {
			c.Unrequested += len(class.Pods)
		}
	}
	slices.SortFunc(c.Classes, func(a, b *PodClass) int {
		return cmp.Or(
			cmp.Compare(b.Priority, a.Priority),
			slices.Compare(b.Requests, a.Requests),
			cmp.Compare(a.Group, b.Group),
			cmp.Compare(a.TopologyTerms, b.TopologyTerms),
			slices.Compare(sets[a.Among], sets[b.Among]),
			cmp.Compare(a.Refused, b.Refused),
		)
	})
}

// ComparePods orders pods by namespace and name.
func ComparePods(a, b *corev1.Pod) int {
	if a.Namespace != b.Namespace {
		if c := strings.Compare(NamespaceOf(a), NamespaceOf(b)); c != 0 {
			return c
		}
	}
	return strings.Compare(a.Name, b.Name)
}

// NamespaceOf is a pod's namespace, "default" where none is set.
func NamespaceOf(pod *corev1.Pod) string { return OrDefault(pod.Namespace) }

// PodName is how plans name a pod: namespace/name.
func PodName(pod *corev1.Pod) string { return NamespaceOf(pod) + "/" + pod.Name }

// refusal says why a pod is not planned at all, or "".
func refusal(pod *corev1.Pod) string {
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		return "scheduling gate " + pod.Spec.SchedulingGates[0].Name + " is still set"
	case len(pod.Spec.ResourceClaims) > 0:
		return "resource claim " + pod.Spec.ResourceClaims[0].Name + " is not modelled"
	}
	return ""
}

// Sum adds counts up.
func Sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}
