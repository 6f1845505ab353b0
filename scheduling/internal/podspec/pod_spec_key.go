package podspec

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// SpecKey is what pods are made of that were made alike: all that scheduling reads of a
// pod but its name, its labels and its volumes. Pods of one pod spec key mostly end in one
// class.
type SpecKey struct {
	Pod      *corev1.Pod // the first of them
	requests []int64     // by number of the readings' table, volumes aside
	named    []int32     // the resources that they name
	priority int32
	refused  string // why pods of the pod spec key are not planned at all, volumes aside
	// single says that each pod of the pod spec key has to be looked at by itself: its volumes,
	// its workload or the cluster's default constraints may make it different.
	Single bool
}

// Readings is what was read of the pods to be placed. It does not change any more once
// it is complete.
type Readings struct {
	Table       *ResourceTable
	PodSpecKeys []*SpecKey // those that no pod has are nil
	Of          []int32    // by pod of the problem, its pod spec key; -1 for pods that are not to be placed
}

// Resources is a table of its own for those that the pods name.
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

// SpecReader reads pods, each for itself. Several moulders may read parts of the same
// problem at the same time.
type SpecReader struct {
	Table       *ResourceTable
	Reader      RequestReader
	PodSpecKeys []*SpecKey
	Index       map[string]int32
	wishes      bool // preferences count
	spread      bool // pods without spread constraints may get some
	share       bool // pods of one workload may not all be on one machine
	Buffer      []byte
	Keys        []string
}

// NewSpecReader returns a reader of the pods of a problem that has read none.
func NewSpecReader(p *scheduling.Problem, s *scheduling.Policy) *SpecReader {
	t := NewResourceTable()
	return &SpecReader{
		Table: t, Reader: RequestReader{Table: t}, Index: map[string]int32{},
		wishes: s.Preferences != scheduling.PreferencesIgnore, spread: len(p.DefaultSpread) > 0,
		share: s.WorkloadShare > 0,
	}
}

// Read returns the number of a pod's pod spec key, or -1 for a pod that is not to be placed.
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
	// Trailing zeros go, so that a key does not change with resources that only later
	// pods bring.
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
	b = AppendTopologyTerms(b, pod, pod.Spec.TopologySpreadConstraints, nil, m.wishes)
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
