package reading

import (
	"hash/maphash"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reader sums up what it reads. The bytes of strings are hashed and the values of
// quantities computed, so that nothing is passed over; maps count the same in any order.
// The zero value is not usable; see [New].
type Reader struct {
	seed maphash.Seed
	sum  uint64
}

// New is a reader that has read nothing.
func New() *Reader { return &Reader{seed: maphash.MakeSeed()} }

// Sum is a checksum of everything read so far. It differs from process to process.
func (r *Reader) Sum() uint64 { return r.sum }

// Pods reads every field of the pods.
func (r *Reader) Pods(pods []*corev1.Pod) {
	for _, p := range pods {
		r.strings(p.Kind, p.APIVersion)
		r.meta(&p.ObjectMeta)
		r.spec(&p.Spec)
		r.status(&p.Status)
	}
}

func (r *Reader) word(x uint64) { r.sum = r.sum*0x9e3779b97f4a7c15 + x }

func (r *Reader) strings(list ...string) {
	for _, s := range list {
		r.word(maphash.String(r.seed, s))
	}
}

func (r *Reader) bools(list ...bool) {
	var bits uint64
	for _, b := range list {
		if bits <<= 1; b {
			bits++
		}
	}
	r.word(bits)
}

// labels adds up the pairs of a map, in whatever order they come.
func (r *Reader) labels(m map[string]string) {
	var sum uint64
	for k, v := range m {
		sum += maphash.String(r.seed, k)*31 ^ maphash.String(r.seed, v)
	}
	r.word(sum)
}

// amounts adds up the resources of a list, in whatever order they come.
func (r *Reader) amounts(list corev1.ResourceList) {
	var sum uint64
	for name, q := range list {
		n := q.Value()
		if name == corev1.ResourceCPU {
			n = q.MilliValue()
		}
		sum += maphash.String(r.seed, string(name))*31 ^ uint64(n)*0x2545f4914f6cdd1d
	}
	r.word(sum)
}

func (r *Reader) time(t *metav1.Time) {
	if t == nil {
		r.word(1)
		return
	}
	r.word(uint64(t.UnixNano()))
}

// number reads a number that may be missing.
func number[T ~int32 | ~int64](r *Reader, n *T) {
	if n == nil {
		r.word(1)
		return
	}
	r.word(2 + uint64(*n))
}

// flag reads a bool that may be missing.
func flag(r *Reader, b *bool) {
	if b == nil {
		r.word(1)
		return
	}
	r.bools(true, *b)
}

// text reads a string that may be missing.
func text[T ~string](r *Reader, s *T) {
	if s == nil {
		r.word(1)
		return
	}
	r.strings(string(*s))
}

// marshaler is what the API has for every type, made without reflection.
type marshaler[T any] interface {
	*T
	Marshal() ([]byte, error)
}

// rare reads an object that few pods have, all of it.
func rare[T any, P marshaler[T]](r *Reader, object P) {
	if object == nil {
		r.word(1)
		return
	}
	text, err := object.Marshal()
	if err != nil {
		r.word(2) // an object that cannot be written has been read nevertheless
	}
	r.word(maphash.Bytes(r.seed, text))
}

// rares reads objects that few pods have.
func rares[T any, P marshaler[T]](r *Reader, list []T) {
	r.word(uint64(len(list)))
	for i := range list {
		rare(r, P(&list[i]))
	}
}
