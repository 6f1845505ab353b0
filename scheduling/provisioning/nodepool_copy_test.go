package provisioning

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plimsoll-go/plimsoll/internal/filled"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

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
	p := filled.New[scheduling.NodePool]()
	c := p.DeepCopy()
	require.Equal(t, p, c)
	assert.Empty(t, shared(reflect.ValueOf(p), reflect.ValueOf(c), "pool"))

	assert.Nil(t, (*scheduling.NodePool)(nil).DeepCopy())
	assert.Equal(t, &scheduling.NodePool{}, (&scheduling.NodePool{}).DeepCopy())
}
