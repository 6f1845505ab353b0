package reading

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A leaf is a field that is no struct, by the way to it from the pod.
type leaf struct {
	name  string
	reach func(pod reflect.Value) reflect.Value
}

// leaves lists the fields below a type. To reach one, pointers, slices and maps on the way
// are made to hold one element.
func leaves(t reflect.Type, name string, reach func(reflect.Value) reflect.Value) []leaf {
	switch {
	case t == reflect.TypeFor[metav1.Time](), t == reflect.TypeFor[resource.Quantity]():
		return []leaf{{name, reach}}
	case t.Kind() == reflect.Struct:
		var out []leaf
		for i := range t.NumField() {
			f := t.Field(i)
			if t == reflect.TypeFor[corev1.PersistentVolumeClaimTemplate]() && f.Name == "ObjectMeta" {
				continue // the same as the pod's, and the way to it is long
			}
			out = append(out, leaves(f.Type, name+"."+f.Name, func(v reflect.Value) reflect.Value { return reach(v).Field(i) })...)
		}
		return out
	case t.Kind() == reflect.Pointer:
		return leaves(t.Elem(), name, func(v reflect.Value) reflect.Value {
			p := reach(v)
			if p.IsNil() {
				p.Set(reflect.New(t.Elem()))
			}
			return p.Elem()
		})
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return leaves(t.Elem(), name, func(v reflect.Value) reflect.Value {
			s := reach(v)
			if s.Len() == 0 {
				s.Set(reflect.MakeSlice(t, 1, 1))
			}
			return s.Index(0)
		})
	}
	return []leaf{{name, reach}}
}

// fill gives a field another value than the zero value.
func fill(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[metav1.Time]():
		v.Set(reflect.ValueOf(metav1.Unix(1e9, 0)))
	case v.Type() == reflect.TypeFor[resource.Quantity]():
		v.Set(reflect.ValueOf(resource.MustParse("7")))
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(7)
	case v.Kind() == reflect.Slice:
		v.SetBytes([]byte("x"))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	}
}

// Every field that a pod can have changes the sum: none is passed over.
func TestEveryFieldIsRead(t *testing.T) {
	all := leaves(reflect.TypeFor[corev1.Pod](), "pod", func(v reflect.Value) reflect.Value { return v })
	assert.Greater(t, len(all), 500)
	seed := New().seed
	sum := func(p *corev1.Pod) uint64 {
		r := &Reader{seed: seed}
		r.Pods([]*corev1.Pod{p})
		return r.Sum()
	}
	for _, l := range all {
		pod := &corev1.Pod{}
		field := l.reach(reflect.ValueOf(pod).Elem())
		without := sum(pod)
		fill(field)
		if !assert.NotEqual(t, without, sum(pod), l.name) {
			t.Logf("%v", field)
		}
	}
}

// Maps count the same in any order, and their keys and values count.
func TestMaps(t *testing.T) {
	pod := func(labels map[string]string, requests corev1.ResourceList) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests}}}},
		}
	}
	seed := New().seed
	sum := func(p *corev1.Pod) uint64 {
		r := &Reader{seed: seed}
		r.Pods([]*corev1.Pod{p})
		return r.Sum()
	}
	ab := map[string]string{"a": "1", "b": "2", "c": "3"}
	small := corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1Gi")}
	want := sum(pod(ab, small))
	for range 20 {
		assert.Equal(t, want, sum(pod(map[string]string{"c": "3", "b": "2", "a": "1"}, small.DeepCopy())))
	}
	for _, other := range []*corev1.Pod{
		pod(map[string]string{"a": "2", "b": "1", "c": "3"}, small),
		pod(map[string]string{"a": "1", "b": "2"}, small),
		pod(ab, corev1.ResourceList{"cpu": resource.MustParse("101m"), "memory": resource.MustParse("1Gi")}),
		pod(ab, corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("1025Mi")}),
	} {
		assert.NotEqual(t, want, sum(other))
	}
}

func TestPodsFollowEachOther(t *testing.T) {
	a, b := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "b", CreationTimestamp: metav1.NewTime(time.Unix(1, 0))}}
	r := New()
	one, two := &Reader{seed: r.seed}, &Reader{seed: r.seed}
	one.Pods([]*corev1.Pod{a, b})
	two.Pods([]*corev1.Pod{a})
	two.Pods([]*corev1.Pod{b})
	assert.Equal(t, one.Sum(), two.Sum())
}
