package scheduling

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podClass is pods between which nothing that scheduling reads differs.
type podClass struct {
	group    int
	bonds    int     // what ties its pods to others
	among    int     // the set of targets that its pods are among
	requests []int64 // by resource number
	priority int32
	refused  string     // why pods of the class are not planned at all; "" for most
	code     ReasonCode // of what refused says
	pods     []*corev1.Pod
}

// classifier folds pods into classes, and constraints into groups.
type classifier struct {
	table       *resourceTable
	reader      requestReader
	volumes     *volumeIndex
	groups      []*constraint
	signatures  []string // of the groups
	groupIndex  map[string]int
	classes     []*podClass
	classIndex  map[string]int
	unrequested int // pods that ask for neither CPU nor memory
	buffer      []byte
	keys        []string
}

func newClassifier(table *resourceTable) *classifier {
	return &classifier{
		table:      table,
		reader:     requestReader{table: table},
		groupIndex: map[string]int{},
		classIndex: map[string]int{},
	}
}

// class returns the class of a pod of a mould that has the given bonds and is among a
// set of targets. The pod is not entered.
func (c *classifier) class(pod *corev1.Pod, m *mould, bonds, among int) *podClass {
	c.reader.restore(m.requests)
	volumes := c.volumes.of(pod)
	requests := volumes.charge(&c.reader)
	b := volumes.appendSignature(appendSignature(c.buffer[:0], &pod.Spec, &c.keys))
	groupEnd := len(b)
	b = append(b, '|')
	b = binary.AppendVarint(b, int64(m.priority))
	b = binary.AppendVarint(b, int64(bonds))
	b = binary.AppendVarint(b, int64(among))
	b = appendRequests(b, requests)
	refused, code := m.refused, ReasonUnsupported
	if refused == "" {
		refused, code = volumes.refusal, ReasonVolume
	}
	if refused != "" {
		b = appendText(b, refused)
	}
	c.buffer = b
	i, ok := c.classIndex[string(b)]
	if !ok {
		i = len(c.classes)
		c.classIndex[string(b)] = i
		c.classes = append(c.classes, &podClass{
			group:    c.group(b[:groupEnd], &pod.Spec, &volumes),
			bonds:    bonds,
			among:    among,
			requests: slices.Clone(requests),
			priority: m.priority,
			refused:  refused,
			code:     code,
		})
	}
	return c.classes[i]
}

// group returns the number of the group with a signature.
func (c *classifier) group(signature []byte, spec *corev1.PodSpec, volumes *podVolumes) int {
	if g, ok := c.groupIndex[string(signature)]; ok {
		return g
	}
	g := len(c.groups)
	c.groupIndex[string(signature)] = g
	c.signatures = append(c.signatures, string(signature))
	group := newConstraint(spec)
	volumes.constrain(group)
	c.groups = append(c.groups, group)
	return g
}

// sort puts resources, groups, classes and the pods within them into an order that
// the order of the input does not show in. Everything that numbers resources must
// have been read before.
func (c *classifier) sort(moved []int, sets [][]int32) {
	order := make([]int, len(c.groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(c.signatures[a], c.signatures[b]) })
	rank := make([]int, len(order))
	groups := make([]*constraint, len(order))
	signatures := make([]string, len(order))
	for to, from := range order {
		rank[from], groups[to], signatures[to] = to, c.groups[from], c.signatures[from]
	}
	c.groups, c.signatures = groups, signatures
	cpu, hasCPU := c.table.index[corev1.ResourceCPU]
	memory, hasMemory := c.table.index[corev1.ResourceMemory]
	for _, class := range c.classes {
		class.group = rank[class.group]
		requests := c.table.renumbered(class.requests, moved)
		class.requests = requests
		slices.SortFunc(class.pods, comparePods)
		if (!hasCPU || requests[cpu] == 0) && (!hasMemory || requests[memory] == 0) {
			c.unrequested += len(class.pods)
		}
	}
	slices.SortFunc(c.classes, func(a, b *podClass) int {
		return cmp.Or(
			cmp.Compare(b.priority, a.priority),
			slices.Compare(b.requests, a.requests),
			cmp.Compare(a.group, b.group),
			cmp.Compare(a.bonds, b.bonds),
			slices.Compare(sets[a.among], sets[b.among]),
			cmp.Compare(a.refused, b.refused),
		)
	})
}

// comparePods orders pods by namespace and name.
func comparePods(a, b *corev1.Pod) int {
	if a.Namespace != b.Namespace {
		if c := strings.Compare(namespaceOf(a), namespaceOf(b)); c != 0 {
			return c
		}
	}
	return strings.Compare(a.Name, b.Name)
}

// namespaceOf is a pod's namespace, "default" where none is set.
func namespaceOf(pod *corev1.Pod) string {
	if pod.Namespace == "" {
		return metav1.NamespaceDefault
	}
	return pod.Namespace
}

// podName is how plans name a pod: namespace/name.
func podName(pod *corev1.Pod) string { return namespaceOf(pod) + "/" + pod.Name }

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
