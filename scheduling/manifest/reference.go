package manifest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/plimsoll-go/plimsoll/scheduling/manifest/internal/documents"
)

// reference names an object for people: "Deployment shop/web", "NodePool general".
func reference(kind string, obj metav1.Object) string {
	return kind + " " + qualified(obj)
}

// qualified is an object's name, with its namespace if it has one.
func qualified(obj metav1.Object) string {
	if ns := obj.GetNamespace(); ns != "" {
		return ns + "/" + obj.GetName()
	}
	return obj.GetName()
}

// warned names an object as warnings of a plan do: namespace/name, or kind/name for
// objects without a namespace.
func warned(kind string, obj metav1.Object) string {
	if obj.GetNamespace() == "" {
		return kind + "/" + obj.GetName()
	}
	return qualified(obj)
}

// refOf names an object that could not be decoded, as well as can be.
func refOf(o rawObject) string {
	meta := peek(o)
	meta.Name = cmp.Or(meta.Name, meta.GenerateName)
	if meta.Name == "" {
		return o.kind
	}
	return reference(o.kind, &meta)
}

// peek reads the names of an object that cannot be decoded, or of an unknown kind.
func peek(o rawObject) metav1.ObjectMeta {
	var named struct {
		Metadata struct {
			Namespace    any `json:"namespace"`
			Name         any `json:"name"`
			GenerateName any `json:"generateName"`
		} `json:"metadata"`
	}
	if err := kjson.Unmarshal(o.json, &named); err != nil {
		return metav1.ObjectMeta{}
	}
	text := func(v any) string {
		if v == nil {
			return ""
		}
		return documents.Shorten(fmt.Sprint(v))
	}
	m := named.Metadata
	return metav1.ObjectMeta{Namespace: text(m.Namespace), Name: text(m.Name), GenerateName: text(m.GenerateName)}
}

// quote puts a value of the input into quotes; "" stays "".
func quote(s string) string {
	if s == "" {
		return ""
	}
	return strconv.Quote(documents.Shorten(s))
}

// byName orders objects by namespace and name.
func byName[T interface {
	GetNamespace() string
	GetName() string
}](a, b T) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}
