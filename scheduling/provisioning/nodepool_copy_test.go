package provisioning

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/scheduling"
)

// fill sets every field that a value can reach, so that a forgotten one shows.
func fill(v reflect.Value) {
	switch v.Interface().(type) {
	case resource.Quantity:
		v.Set(reflect.ValueOf(resource.MustParse("3Gi")))
		return
	case metav1.Time:
		v.Set(reflect.ValueOf(metav1.Time{Time: time.Unix(1_700_000_000, 0)}))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(elem)
		v.SetMapIndex(key, elem)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(7)
	default:
		if v.CanInt() {
			v.SetInt(7)
		}
	}
}

// shared reports the path of memory that two values of one type have in common.
func shared(a, b reflect.Value, path string) string {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return ""
		}
		if a.Pointer() == b.Pointer() {
			return path
		}
		return shared(a.Elem(), b.Elem(), path)
	case reflect.Struct:
		if _, ok := a.Interface().(metav1.Time); ok {
			return "" // points to its location, which nobody changes
		}
		for i := range a.NumField() {
			if !a.Type().Field(i).IsExported() {
				continue
			}
			if p := shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); p != "" {
				return p
			}
		}
	case reflect.Slice:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			return path
		}
		for i := range a.Len() {
			if p := shared(a.Index(i), b.Index(i), path+"[]"); p != "" {
				return p
			}
		}
	case reflect.Map:
		if a.Len() > 0 && a.Pointer() == b.Pointer() {
			return path
		}
	}
	return ""
}

func TestNodePoolDeepCopy(t *testing.T) {
	p := &scheduling.NodePool{}
	fill(reflect.ValueOf(p).Elem())
	c := p.DeepCopy()
	require.Equal(t, p, c)
	assert.Empty(t, shared(reflect.ValueOf(p), reflect.ValueOf(c), "pool"))

	assert.Nil(t, (*scheduling.NodePool)(nil).DeepCopy())
	assert.Equal(t, &scheduling.NodePool{}, (&scheduling.NodePool{}).DeepCopy())
}
