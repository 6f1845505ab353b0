package provisioning

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
	"github.com/plimsoll-go/plimsoll/scheduling/internal/podspec"
)

// waiting has the pending pods in the order of their names, with the specs read from them. Its lists are replaced, not
// changed.
type waiting struct {
	pods       []*corev1.Pod
	of         []int32 // by pod, its pod spec key
	specReader *podspec.SpecReader
	counts     []int // by pod spec key, how many pods have it
	shared     bool  // with a fork: reader and counts have to be copied before they change
}

// sparePerSpec is the number of pod spec keys without a pod that are kept for each key with pods, beyond the least
// number.
const (
	sparePerSpec = 3
	spareLeast   = 1_000
)

func newWaiting(s *scheduling.Policy, p *scheduling.Problem, pods []*corev1.Pod) waiting {
	w := waiting{specReader: podspec.NewSpecReader(p, s)}
	w.pods = slices.SortedFunc(slices.Values(pods), podspec.ComparePods)
	w.read()
	return w
}

// read reads all pods again.
func (w *waiting) read() {
	w.of = make([]int32, len(w.pods))
	w.counts = nil
	for i, pod := range w.pods {
		w.of[i] = w.enter(pod)
	}
}

// enter reads a pod and counts it.
func (w *waiting) enter(pod *corev1.Pod) int32 {
	n := w.specReader.Read(pod)
	if n < 0 {
		return n
	}
	for len(w.counts) < len(w.specReader.PodSpecKeys) {
		w.counts = append(w.counts, 0)
	}
	w.counts[n]++
	return n
}

func (w *waiting) find(key types.NamespacedName) (int, bool) {
	return slices.BinarySearchFunc(w.pods, key, func(pod *corev1.Pod, key types.NamespacedName) int { return compare(podspec.PodKey(pod), key) })
}

// change removes and adds pods, both sorted by name, no pod in both lists.
func (w *waiting) change(put []*corev1.Pod, taken []types.NamespacedName) {
	if len(put) == 0 && len(taken) == 0 {
		return
	}
	if w.shared {
		w.specReader, w.counts, w.shared = clone(w.specReader), slices.Clone(w.counts), false
	}
	pods, of := make([]*corev1.Pod, 0, len(w.pods)+len(put)), make([]int32, 0, len(w.pods)+len(put))
	from := 0
	for len(put) > 0 || len(taken) > 0 {
		next, comes := types.NamespacedName{}, len(put) > 0
		if comes {
			next = podspec.PodKey(put[0])
		}
		if len(taken) > 0 && (!comes || compare(taken[0], next) < 0) {
			next, comes, taken = taken[0], false, taken[1:]
		}
		at, found := w.find(next)
		pods, of = append(pods, w.pods[from:at]...), append(of, w.of[from:at]...)
		if from = at; found {
			if n := w.of[at]; n >= 0 {
				w.counts[n]--
			}
			from++
		}
		if comes {
			pods, of = append(pods, put[0]), append(of, w.enter(put[0]))
			put = put[1:]
		}
	}
	w.pods, w.of = append(pods, w.pods[from:]...), append(of, w.of[from:]...)
	used := 0
	for _, n := range w.counts {
		used += min(n, 1)
	}
	if len(w.counts) > spareLeast+(1+sparePerSpec)*used {
		w.specReader = freshReader(w.specReader)
		w.read()
	}
}

// readings returns the readings of the pending pods.
func (w *waiting) readings() *podspec.Readings {
	r := &podspec.Readings{Table: w.specReader.Table, PodSpecKeys: make([]*podspec.SpecKey, len(w.counts)), Of: w.of}
	for i, n := range w.counts {
		if n > 0 {
			r.PodSpecKeys[i] = w.specReader.PodSpecKeys[i]
		}
	}
	return r
}

// fork returns a copy. Both copy shared lists before they change them.
func (w *waiting) fork() waiting {
	w.shared = true
	return *w
}

// freshReader returns an empty reader with the settings of m.
func freshReader(m *podspec.SpecReader) *podspec.SpecReader {
	c := *m
	c.Table, c.Index, c.PodSpecKeys, c.Buffer, c.Keys = podspec.NewResourceTable(), map[string]int32{}, nil, nil, nil
	c.Reader = podspec.RequestReader{Table: c.Table}
	return &c
}

// clone is a reader that has read the same specs.
func clone(m *podspec.SpecReader) *podspec.SpecReader {
	c := freshReader(m)
	for i, name := range m.Table.Names {
		if i > 0 { // the first is there
			c.Table.Number(name)
		}
	}
	c.PodSpecKeys = slices.Clone(m.PodSpecKeys)
	for key, n := range m.Index {
		c.Index[key] = n
	}
	return c
}
