package podspec

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plimsoll-go/plimsoll/internal/lifecycle"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// PodClass is pods that no rule of scheduling tells apart.
type PodClass struct {
	Group         int
	TopologyTerms int     // number of the pods' topology terms
	Among         int     // number of the set of targets that select the pods
	Requests      []int64 // by resource number
	Priority      int32
	Refused       string                // why pods of the class are not planned at all; "" for none
	Code          scheduling.ReasonCode // of Refused
	Pods          []*corev1.Pod
}

// Classifier combines pods into classes, and constraints into groups.
type Classifier struct {
	table       *ResourceTable
	Reader      RequestReader
	Volumes     *VolumeIndex
	Groups      []*Constraint
	Signatures  []string // of the groups
	groupIndex  map[string]int
	Classes     []*PodClass
	classIndex  map[string]int
	Unrequested int // pods that request neither CPU nor memory
	buffer      []byte
	keys        []string
}

// NewClassifier returns a classifier without classes that numbers resources by a table.
func NewClassifier(table *ResourceTable) *Classifier {
	return &Classifier{
		table:      table,
		Reader:     RequestReader{Table: table},
		groupIndex: map[string]int{},
		classIndex: map[string]int{},
	}
}

// Class returns the class of a pod with a spec key, topology terms and set of targets, and adds the class if
// necessary. It does not add the pod.
func (c *Classifier) Class(pod *corev1.Pod, m *SpecKey, terms, among int) *PodClass {
	c.Reader.restore(m.requests)
	volumes := c.Volumes.Of(pod)
	requests := volumes.charge(&c.Reader)
	b := volumes.appendSignature(AppendSignature(c.buffer[:0], &pod.Spec, &c.keys))
	groupEnd := len(b)
	b = append(b, '|')
	b = binary.AppendVarint(b, int64(m.priority))
	b = binary.AppendVarint(b, int64(terms))
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
			TopologyTerms: terms,
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

// Sort orders resources, groups, classes and their pods independently of the order of the input. moved is the
// result of [ResourceTable.Sort]; all resources must have been numbered before. sets are the sets of targets by
// number.
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

// PodName is the name of a pod in plans: namespace/name.
func PodName(pod *corev1.Pod) string { return NamespaceOf(pod) + "/" + pod.Name }

// PodKey is the name of a pod with its namespace.
func PodKey(pod *corev1.Pod) types.NamespacedName {
	return types.NamespacedName{Namespace: NamespaceOf(pod), Name: pod.Name}
}

// KeyOf returns the key of a namespaced object, with "default" for an empty namespace.
func KeyOf(n types.NamespacedName) types.NamespacedName {
	return types.NamespacedName{Namespace: OrDefault(n.Namespace), Name: n.Name}
}

// refusal says why a pod is not planned at all; "" for none.
func refusal(pod *corev1.Pod) string {
	switch {
	case len(pod.Spec.SchedulingGates) > 0:
		return "scheduling gate " + pod.Spec.SchedulingGates[0].Name + " is still set"
	case len(pod.Spec.ResourceClaims) > 0:
		return "resource claim " + pod.Spec.ResourceClaims[0].Name + " is not modelled"
	}
	return ""
}

// Sum returns the sum of counts.
func Sum(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// SpecKey stands for pods with equal specs as far as scheduling reads them, without name, labels and volumes.
// Pods of one key usually end in one class.
type SpecKey struct {
	Pod      *corev1.Pod // the first one
	requests []int64     // by number of the readings' table, without volumes
	named    []int32     // resources that the spec names
	priority int32
	// refused says why the pods are not planned at all, volumes aside; "" for none.
	refused string // why pods of the pod spec key are not planned at all, volumes aside
	// Single says that each pod of the key must be classified by itself, because its volumes, its workload or
	// the cluster's default spread constraints may differ.
	Single bool
}

// Readings is the specs of the pods to place. It is immutable once it is complete.
type Readings struct {
	Table       *ResourceTable
	PodSpecKeys []*SpecKey // those that no pod has are nil
	Of          []int32    // by pod of the problem: its key; −1 for pods that are not to be placed
}

// Resources returns a new table in which the resources that the pods name are marked as asked.
func (r *Readings) Resources() *ResourceTable {
	t := r.Table.Clone()
	for _, m := range r.PodSpecKeys {
		if m == nil {
			continue
		}
		for _, d := range m.named {
			t.Asked[d] = true
		}
	}
	return t
}

// SpecReader reads the specs of pods, each pod for itself. Several readers may read parts of one problem
// concurrently.
type SpecReader struct {
	Table       *ResourceTable
	Reader      RequestReader
	PodSpecKeys []*SpecKey
	Index       map[string]int32
	preferences bool // preferred terms count
	spread      bool // default spread constraints may apply
	share       bool // the policy has a WorkloadShare
	Buffer      []byte
	Keys        []string
}

// NewSpecReader returns a reader that has not read any pod.
func NewSpecReader(p *scheduling.Problem, s *scheduling.Policy) *SpecReader {
	t := NewResourceTable()
	return &SpecReader{
		Table: t, Reader: RequestReader{Table: t}, Index: map[string]int32{},
		preferences: s.Preferences != scheduling.PreferencesIgnore, spread: len(p.DefaultSpread) > 0,
		share: s.WorkloadShare > 0,
	}
}

// Read returns the number of a pod's key, or −1 for a pod that is not to be placed.
func (m *SpecReader) Read(pod *corev1.Pod) int32 {
	if !Pending(pod) {
		return -1
	}
	requests := m.Reader.Read(&pod.Spec)
	single := m.share || UsesClaims(pod) || m.spread && len(pod.Spec.TopologySpreadConstraints) == 0
	b := AppendSignature(m.Buffer[:0], &pod.Spec, &m.Keys)
	b = append(b, '|')
	priority := PriorityOf(pod)
	b = binary.AppendVarint(b, int64(priority))
	// Without trailing zeros, so that a key does not change with resources that only later pods name.
	b = AppendRequests(b, requests)
	for d, named := range m.Reader.named {
		if named && (d >= len(requests) || requests[d] == 0) {
			b = binary.AppendVarint(append(b, 'n'), int64(d))
		}
	}
	b = append(b, '|')
	if single {
		b = append(b, '!')
	}
	refused := refusal(pod)
	b = AppendText(b, refused)
	b = AppendTopologyTerms(b, pod, pod.Spec.TopologySpreadConstraints, nil, m.preferences)
	m.Buffer = b
	n, ok := m.Index[string(b)]
	if !ok {
		n = int32(len(m.PodSpecKeys))
		m.Index[string(b)] = n
		x := &SpecKey{Pod: pod, requests: slices.Clone(requests), priority: priority, refused: refused, Single: single}
		for d, named := range m.Reader.named {
			if named {
				x.named = append(x.named, int32(d))
			}
		}
		m.PodSpecKeys = append(m.PodSpecKeys, x)
	}
	return n
}

// AppendRequests appends a vector without its trailing zeros.
func AppendRequests(b []byte, requests []int64) []byte {
	last := len(requests)
	for last > 0 && requests[last-1] == 0 {
		last--
	}
	b = binary.AppendVarint(b, int64(last))
	for _, n := range requests[:last] {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// Pending reports whether a pod is to be placed: it is not bound, not ended, not being deleted, and no
// DaemonSet's.
func Pending(pod *corev1.Pod) bool {
	return pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !lifecycle.Ended(pod) && !lifecycle.OfDaemonSet(pod)
}

// TakesOfLimits reports whether a node counts towards the limits of its pool. It does until it is being
// deleted, because a node that is only marked for removal may exist for long.
func TakesOfLimits(node *corev1.Node) bool { return node.DeletionTimestamp == nil }

// Going reports whether a node is being removed, so that it receives no pods.
func Going(node *corev1.Node) bool {
	return node.DeletionTimestamp != nil || slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == scheduling.DisruptedTaint || t.Key == "ToBeDeletedByClusterAutoscaler"
	})
}
