package scheduling

import (
	"encoding/binary"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// mould is what pods are made of that were made alike: all that scheduling reads of a
// pod but its name, its labels and its volumes. Pods of one mould mostly end in one
// class.
type mould struct {
	pod      *corev1.Pod // the first of them
	requests []int64     // by number of the readings' table, volumes aside
	named    []int32     // the resources that they name
	priority int32
	refused  string // why pods of the mould are not planned at all, volumes aside
	// single says that each pod of the mould has to be looked at by itself: its volumes,
	// its workload or the cluster's default constraints may make it different.
	single bool
}

// readings is what was read of the pods to be placed. It does not change any more once
// it is complete.
type readings struct {
	table  *resourceTable
	moulds []*mould // those that no pod has are nil
	of     []int32  // by pod of the problem, its mould; -1 for pods that are not to be placed
}

// resources is a table of its own for those that the pods name.
func (r *readings) resources() *resourceTable {
	t := r.table.clone()
	for _, m := range r.moulds {
		if m == nil {
			continue
		}
		for _, d := range m.named {
			t.asked[d] = true
		}
	}
	return t
}

// moulder reads pods, each for itself. Several moulders may read parts of the same
// problem at the same time.
type moulder struct {
	table  *resourceTable
	reader requestReader
	moulds []*mould
	index  map[string]int32
	wishes bool // preferences count
	spread bool // pods without spread constraints may get some
	share  bool // pods of one workload may not all be on one machine
	buffer []byte
	keys   []string
}

func newMoulder(p *Problem, s *Policy) *moulder {
	t := newResourceTable()
	return &moulder{
		table: t, reader: requestReader{table: t}, index: map[string]int32{},
		wishes: s.Preferences != PreferencesIgnore, spread: len(p.DefaultSpread) > 0,
		share: s.WorkloadShare > 0,
	}
}

// read returns the number of a pod's mould, or -1 for a pod that is not to be placed.
func (m *moulder) read(pod *corev1.Pod) int32 {
	if !pending(pod) {
		return -1
	}
	requests := m.reader.read(&pod.Spec)
	single := m.share || usesClaims(pod) || m.spread && len(pod.Spec.TopologySpreadConstraints) == 0
	b := appendSignature(m.buffer[:0], &pod.Spec, &m.keys)
	b = append(b, '|')
	priority := priorityOf(pod)
	b = binary.AppendVarint(b, int64(priority))
	// Trailing zeros go, so that a key does not change with resources that only later
	// pods bring.
	b = appendRequests(b, requests)
	for d, named := range m.reader.named {
		if named && (d >= len(requests) || requests[d] == 0) {
			b = binary.AppendVarint(append(b, 'n'), int64(d))
		}
	}
	b = append(b, '|')
	if single {
		b = append(b, '!')
	}
	refused := refusal(pod)
	b = appendText(b, refused)
	b = appendBonds(b, pod, pod.Spec.TopologySpreadConstraints, nil, m.wishes)
	m.buffer = b
	n, ok := m.index[string(b)]
	if !ok {
		n = int32(len(m.moulds))
		m.index[string(b)] = n
		x := &mould{pod: pod, requests: slices.Clone(requests), priority: priority, refused: refused, single: single}
		for d, named := range m.reader.named {
			if named {
				x.named = append(x.named, int32(d))
			}
		}
		m.moulds = append(m.moulds, x)
	}
	return n
}

// appendRequests appends a vector without its trailing zeros.
func appendRequests(b []byte, requests []int64) []byte {
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

// join completes readings from those of several moulders, whose pods follow each other.
// The first one's numbers stand.
func (r *readings) join(parts []*checker, none *moulder) *readings {
	all, at := none, 0
	for _, part := range parts {
		m := part.moulder
		if m == nil {
			continue
		}
		if at == 0 {
			all, at = m, part.pods
			continue
		}
		numbers := make([]int32, len(m.moulds))
		for i, x := range m.moulds {
			numbers[i] = all.read(x.pod)
		}
		of := r.of[at : at+part.pods]
		for i, n := range of {
			if n >= 0 {
				of[i] = numbers[n]
			}
		}
		at += part.pods
	}
	r.table, r.moulds = all.table, all.moulds
	return r
}
